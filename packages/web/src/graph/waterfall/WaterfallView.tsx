import { useEffect, useMemo, useRef, useState } from 'react'
import { IconButton } from '../../parts/Button.tsx'
import { useNow } from '../../parts/time/clock.ts'
import { useKeys } from '../../parts/keys.ts'
import { useListKeys } from '../../parts/list-keys.ts'
import { FilterBox } from '../rows/FilterBox.tsx'
import { UpdateRowsButton } from '../../parts/rows/UpdateRowsButton.tsx'
import { useFrozenRows } from '../../parts/rows/use-frozen-rows.ts'
import { findFolds, FoldedTime, type Fold } from './folded-time.ts'
import { extentOf, sortByStart } from './job-spans.ts'
import { Minimap } from './Minimap.tsx'
import rows from '../rows/Rows.module.css'
import { attemptsIn, failedFirst, filterJobs, sortJobs } from '../jobs/sort-jobs.ts'
import { Timescale } from './timescale.ts'
import type { Job } from '../jobs/job.ts'
import { useJobTable } from '../jobs/use-job-table.ts'
import { countStyle, cssVariables, useRowWindow } from '../rows/use-row-window.ts'
import { toJobRow, useNewestJob, useSelectionInPlace } from '../rows/use-job-rows.ts'
import { useStableSelect, type ViewProps } from '../view.ts'
import styles from './Waterfall.module.css'
import { WaterfallAxis, WaterfallGrid } from './WaterfallAxis.tsx'
import { WaterfallLegend } from './WaterfallLegend.tsx'
import { WaterfallRow } from './WaterfallRow.tsx'

interface Props extends ViewProps {
  filter: string
  onFilter: (filter: string) => void
}

/** When each job waited, started and ran. */
export function WaterfallView({ table, selectedJob, onSelect, filter, onFilter }: Props) {
  useJobTable(table)
  useListKeys()
  const select = useStableSelect(onSelect)
  const nowMs = useNow()
  const [isFailedFirst, setIsFailedFirst] = useState(false)
  const [timescale] = useState(() => new Timescale())
  const input = useRef<HTMLInputElement>(null)

  const all = table.newestJobs()
  const found = useMemo(() => {
    const matching = filterJobs(all, filter, attemptsIn(table))
    return isFailedFirst ? sortJobs(matching, failedFirst, 0) : sortByStart(matching)
  }, [all, filter, isFailedFirst, table])
  const attempts = useMemo(() => found.flatMap(({ id }) => table.attemptsOf(id)), [found, table])
  const allAttempts = useMemo(() => all.flatMap(({ id }) => table.attemptsOf(id)), [all, table])
  const extent = useMemo(() => extentOf(allAttempts, nowMs), [allAttempts, nowMs])
  const time = useFoldedTime(allAttempts, extent)
  const lengthMs = time.at(extent.endMs)
  const sorted = useMemo(() => found.map(toJobRow), [found])
  const list = useFrozenRows(sorted, `${filter} ${isFailedFirst}`, useNewestJob(table))
  const view = useRowWindow(list.rows.length)
  const { first, last, scroller, setScroller, setSpacer } = view
  const selected = selectedJob === null ? null : (table.job(selectedJob)?.firstAttemptId ?? null)
  useSelectionInPlace(list.rows, selected, view)

  useEffect(() => (scroller === null ? undefined : timescale.attach(scroller)), [scroller, timescale])
  useEffect(() => timescale.setLength(lengthMs), [timescale, lengthMs])
  useKeys([
    { keys: '/', label: 'Filter jobs', run: () => input.current?.focus() },
    { keys: '0', label: 'Fit the waterfall', run: () => timescale.fit() },
    { keys: '+', label: 'Zoom in', run: () => timescale.zoomBy(1.5) },
    { keys: '-', label: 'Zoom out', run: () => timescale.zoomBy(1 / 1.5) },
  ])

  if (all.length === 0) return <p className={rows.empty}>This build has no jobs.</p>
  return (
    <div className={rows.view}>
      <FilterBox input={input} filter={filter} onFilter={onFilter} shown={found.length} total={all.length}>
        <WaterfallLegend
          attempts={attempts}
          folds={time.folds}
          isFailedFirst={isFailedFirst}
          onFailedFirst={setIsFailedFirst}
        />
        <span className={styles.zoom}>
          <IconButton label="Zoom in" icon="zoom-in" onClick={() => timescale.zoomBy(1.5)} />
          <IconButton label="Zoom out" icon="zoom-out" onClick={() => timescale.zoomBy(1 / 1.5)} />
          <IconButton label="Fit" icon="maximize" onClick={() => timescale.fit()} />
        </span>
      </FilterBox>
      <div className={styles.body}>
        <Minimap jobs={found} time={time} lengthMs={lengthMs} timescale={timescale} />
        <div
          className={`${rows.scroller} ${styles.scroller}`}
          ref={setScroller}
          role="group"
          aria-label="Waterfall of jobs, by time"
          style={cssVariables({ '--length': lengthMs, '--now': lengthMs })}
          {...list.handlers}
        >
          <WaterfallAxis timescale={timescale} time={time} />
          <ul
            className={`${rows.spacer} ${styles.spacer}`}
            ref={setSpacer}
            style={countStyle(list.rows.length)}
          >
            <WaterfallGrid timescale={timescale} time={time} />
            {list.rows.slice(first, last).map(({ key, job }, at) => (
              <WaterfallRow
                key={key}
                table={table}
                job={job}
                time={time}
                at={first + at}
                isSelected={key === selected}
                onSelect={select}
              />
            ))}
            {extent.isLive && <li className={styles.edge} aria-hidden="true" />}
          </ul>
          {found.length === 0 && <p className={rows.empty}>No job matches the filter.</p>}
        </div>
      </div>
      {list.isOutdated && <UpdateRowsButton onUpdate={list.update} />}
    </div>
  )
}

/** Stays the same object while the places of moments do, so that a second that passes renders no row again. */
function useFoldedTime(
  jobs: readonly Job[],
  { startMs, endMs }: { startMs: number; endMs: number },
): FoldedTime {
  const folds = useMemo(() => findFolds(jobs, { startMs, endMs }), [jobs, startMs, endMs])
  const shape = JSON.stringify([startMs, folds.length === 0 ? startMs : endMs, folds])
  return useMemo(() => {
    const [from, to, folds] = JSON.parse(shape) as [number, number, Fold[]]
    return new FoldedTime({ startMs: from, endMs: to }, folds)
  }, [shape])
}
