import { useCallback, useMemo, useState, type ReactNode } from 'react'
import type { Bucket } from '../jobs/buckets.ts'
import { useListKeys } from '../../parts/list-keys.ts'
import { UpdateRowsButton } from '../../parts/rows/UpdateRowsButton.tsx'
import { useFrozenRows } from '../../parts/rows/use-frozen-rows.ts'
import type { JobTable } from '../jobs/job-table.ts'
import type { Job } from '../jobs/job.ts'
import rows from '../rows/Rows.module.css'
import { SummaryHeading, SummaryJob } from './SummaryRow.tsx'
import { summaryRows, type SummaryRow } from './summary-rows.ts'
import { useJobTable } from '../jobs/use-job-table.ts'
import { countStyle, useRowWindow } from '../rows/use-row-window.ts'
import { useSelectionInPlace } from '../rows/use-job-rows.ts'
import { useStableSelect, type ViewProps } from '../view.ts'

interface Props extends ViewProps {
  /** What the reader can do about a blocked job. */
  actionFor?: (job: Job) => ReactNode
  /** By the ids of failed jobs. */
  failingTexts?: ReadonlyMap<string, string>
}

/** What needs a reader first: failures, then blocks, then what runs and waits. Passed jobs are folded. */
export function SummaryView({ table, selectedJob, onSelect, actionFor, failingTexts }: Props) {
  useJobTable(table)
  useListKeys()
  const select = useStableSelect(onSelect)
  const [toggled, setToggled] = useState<ReadonlySet<Bucket>>(new Set())
  const toggle = (bucket: Bucket) =>
    setToggled(
      (now) => new Set(now.has(bucket) ? [...now].filter((each) => each !== bucket) : [...now, bucket]),
    )

  const groups = table.groups()
  const refresh = useCallback(
    (row: SummaryRow): SummaryRow => {
      const job = row.kind === 'job' ? table.newestOf(row.key) : undefined
      return job === undefined ? row : { key: row.key, kind: 'job', job }
    },
    [table],
  )
  const sorted = useMemo(() => summaryRows(groups, toggled), [groups, toggled])
  const list = useFrozenRows(sorted, [...toggled].join(), refresh)
  const view = useRowWindow(list.rows.length)
  const { first, last, setScroller, setSpacer } = view
  const selected = selectedJob === null ? null : (table.job(selectedJob)?.firstAttemptId ?? null)
  useSelectionInPlace(list.rows, selected, view)

  if (groups.total === 0) return <p className={rows.empty}>This build has no jobs.</p>
  return (
    <div className={rows.view}>
      <div className={rows.scroller} ref={setScroller} {...list.handlers}>
        <div
          className={rows.spacer}
          ref={setSpacer}
          style={countStyle(list.rows.length)}
          role="list"
          aria-label="Jobs"
        >
          {list.rows.slice(first, last).map((row, at) => {
            const position = { at: first + at, total: list.rows.length }
            return row.kind === 'group' ? (
              <SummaryHeading key={row.key} row={row} {...position} onToggle={toggle} />
            ) : (
              <SummaryJob
                key={row.key}
                job={row.job}
                {...position}
                isSelected={row.key === selected}
                onSelect={select}
                group={groupName(table, row.job)}
                failingText={failingTexts?.get(row.job.id)}
                action={row.job.isUnblockable ? actionFor?.(row.job) : undefined}
              />
            )
          })}
        </div>
      </div>
      {list.isOutdated && <UpdateRowsButton onUpdate={list.update} />}
    </div>
  )
}

function groupName(table: JobTable, { stepId }: Job): string | null {
  const groupId = table.step(stepId)?.group_id ?? null
  return groupId === null ? null : table.stepName(groupId)
}
