import { useMemo, useRef } from 'react'
import { Button } from '../../parts/Button.tsx'
import { useNow } from '../../parts/time/clock.ts'
import { useKeys } from '../../parts/keys.ts'
import { useListKeys } from '../../parts/list-keys.ts'
import { FilterBox } from '../rows/FilterBox.tsx'
import { UpdateRowsButton } from '../../parts/rows/UpdateRowsButton.tsx'
import { useFrozenRows } from '../../parts/rows/use-frozen-rows.ts'
import rows from '../rows/Rows.module.css'
import { attemptsIn, filterJobs, sortJobs, type JobSort } from '../jobs/sort-jobs.ts'
import { attemptKey, attemptRows } from './attempt-rows.ts'
import { TableHead } from './TableHead.tsx'
import { TableRow } from './TableRow.tsx'
import { useJobTable } from '../jobs/use-job-table.ts'
import { countStyle, useRowWindow } from '../rows/use-row-window.ts'
import { useNewestJob, useSelectionInPlace } from '../rows/use-job-rows.ts'
import { useStableSelect, type ViewProps } from '../view.ts'

interface Props extends ViewProps {
  filter: string
  onFilter: (filter: string) => void
  sort: JobSort
  onSort: (sort: JobSort) => void
}

/** Every job of the build with all its attempts. It says all that the graph shows, for readers who do not see it. */
export function TableView({ table, selectedJob, onSelect, filter, onFilter, sort, onSort }: Props) {
  useJobTable(table)
  useListKeys()
  const select = useStableSelect(onSelect)
  const nowMs = useNow()
  const input = useRef<HTMLInputElement>(null)
  useKeys([{ keys: '/', label: 'Filter jobs', run: () => input.current?.focus() }])

  const all = table.newestJobs()
  const sortTime = sort.column === 'duration' || sort.column === 'wait' ? nowMs : 0
  const found = useMemo(
    () => sortJobs(filterJobs(all, filter, attemptsIn(table)), sort, sortTime),
    [all, filter, sort, sortTime, table],
  )
  const attempts = useMemo(() => found.flatMap((job) => attemptRows(table, job)), [found, table])
  const request = `${sort.column} ${sort.isDescending} ${filter}`
  const list = useFrozenRows(attempts, request, useNewestJob(table))
  const view = useRowWindow(list.rows.length)
  const { first, last, setScroller, setSpacer } = view
  const selected = selectedJob === null ? null : attemptKey(table, selectedJob)
  useSelectionInPlace(list.rows, selected, view)

  return (
    <div className={rows.view}>
      <FilterBox input={input} filter={filter} onFilter={onFilter} shown={found.length} total={all.length} />
      <div
        className={rows.scroller}
        ref={setScroller}
        role="table"
        aria-label="Jobs"
        aria-rowcount={list.rows.length + 1}
        {...list.handlers}
      >
        <TableHead sort={sort} onSort={onSort} />
        <div className={rows.spacer} ref={setSpacer} style={countStyle(list.rows.length)} role="rowgroup">
          {list.rows.slice(first, last).map(({ key, job }, at) => (
            <TableRow
              key={key}
              table={table}
              job={job}
              attempts={table.attemptsOf(job.id).length}
              at={first + at}
              isSelected={key === selected}
              onSelect={select}
            />
          ))}
        </div>
        {found.length === 0 && (
          <p className={rows.empty}>
            {all.length === 0 ? 'This build has no jobs.' : 'No job matches the filter. '}
            {filter !== '' && <Button onClick={() => onFilter('')}>Clear filter</Button>}
          </p>
        )}
      </div>
      {list.isOutdated && <UpdateRowsButton onUpdate={list.update} />}
    </div>
  )
}
