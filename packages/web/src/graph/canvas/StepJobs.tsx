import { useEffect, useMemo, useState } from 'react'
import { IconButton } from '../../parts/Button.tsx'
import { useKeys } from '../../parts/keys.ts'
import { describeCounts } from '../jobs/buckets.ts'
import { JobStrip } from './JobStrip.tsx'
import type { JobTable } from '../jobs/job-table.ts'
import { StateMark } from '../rows/StateMark.tsx'
import rows from '../rows/Rows.module.css'
import { failedFirst, sortJobs } from '../jobs/sort-jobs.ts'
import styles from './StepJobs.module.css'
import { useStepSummary } from '../jobs/use-job-table.ts'
import { countStyle, rowStyle, useRowWindow } from '../rows/use-row-window.ts'
import { useFrozenRows } from '../../parts/rows/use-frozen-rows.ts'
import { toJobRow, useNewestJob } from '../rows/use-job-rows.ts'
import { selectOnClick, type ViewProps } from '../view.ts'

interface Props extends ViewProps {
  table: JobTable
  stepId: string
  onClose: () => void
}

/** The jobs of a parallel step, failed ones first. */
export function StepJobs({ table, stepId, selectedJob, onSelect, onClose }: Props) {
  const { counts, jobs } = useStepSummary(table, stepId)
  const sorted = useMemo(() => sortJobs(jobs, failedFirst, 0).map(toJobRow), [jobs])
  const list = useFrozenRows(sorted, stepId, useNewestJob(table))
  const { first, last, setScroller, setSpacer } = useRowWindow(list.rows.length)
  useKeys([{ keys: 'Escape', label: 'Close the list of jobs', run: onClose }])
  const [heading, setHeading] = useState<HTMLElement | null>(null)
  useEffect(() => heading?.focus(), [heading])

  return (
    <section className={styles.panel} aria-label={`Jobs of ${table.stepName(stepId)}`}>
      <header className={styles.header}>
        <h2 className={`truncated ${styles.title}`} ref={setHeading} tabIndex={-1}>
          {table.stepName(stepId)}
        </h2>
        <IconButton label="Close" icon="x" onClick={onClose} />
        <p className={styles.counts}>{describeCounts(counts)}</p>
      </header>
      <JobStrip jobs={jobs} onSelect={onSelect} />
      <div className={rows.scroller} ref={setScroller} {...list.handlers}>
        <ul className={rows.spacer} ref={setSpacer} style={countStyle(list.rows.length)}>
          {list.rows.slice(first, last).map(({ key, job }, at) => (
            <li key={key} className={rows.row} style={rowStyle(first + at)}>
              <a
                href={`#${job.id}`}
                className={`${rows.job} ${styles.job}`}
                aria-current={job.id === selectedJob || undefined}
                onClick={selectOnClick(() => onSelect(job.id))}
              >
                <StateMark look={job.look} />
                <span className="truncated" title={job.name}>
                  {job.name}
                </span>
                <span className="truncated muted">{job.note}</span>
              </a>
            </li>
          ))}
        </ul>
      </div>
    </section>
  )
}
