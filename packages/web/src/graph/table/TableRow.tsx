import { memo } from 'react'
import { Duration } from '../../parts/time/Time.tsx'
import type { JobTable } from '../jobs/job-table.ts'
import type { Job } from '../jobs/job.ts'
import { StateMark } from '../rows/StateMark.tsx'
import rows from '../rows/Rows.module.css'
import { describePredecessors } from '../jobs/step-labels.ts'
import styles from './Table.module.css'
import { rowStyle } from '../rows/use-row-window.ts'
import { selectOnClick } from '../view.ts'

interface Props {
  table: JobTable
  job: Job
  /** How many the job has had. */
  attempts: number
  at: number
  isSelected: boolean
  onSelect: (jobId: string) => void
}

export const TableRow = memo(({ table, job, attempts, at, isSelected, onSelect }: Props) => {
  const after = describePredecessors(table, job.stepId)
  return (
    <div
      role="row"
      aria-rowindex={at + 2}
      className={`${rows.row} ${styles.cells} ${styles.row}`}
      style={rowStyle(at)}
      data-selected={isSelected || undefined}
      data-earlier={job.attempt + 1 < attempts || undefined}
      data-list-row
    >
      <span role="cell" className={styles.state}>
        <StateMark look={job.look} />
      </span>
      <span role="cell" className={styles.name}>
        <a
          href={`#${job.id}`}
          className="row-link truncated"
          title={job.name}
          aria-label={attempts > 1 ? `${job.name}, attempt ${job.attempt + 1} of ${attempts}` : undefined}
          aria-current={isSelected || undefined}
          onClick={selectOnClick(() => onSelect(job.id))}
        >
          {job.name}
        </a>
        {attempts > 1 && <span className={styles.attempt}>attempt {job.attempt + 1}</span>}
      </span>
      <span role="cell" className={`truncated muted ${styles.wide}`}>
        {job.note}
      </span>
      <span role="cell" className={`truncated muted ${styles.widest}`} title={after}>
        {after}
      </span>
      <span role="cell" className={rows.number}>
        <Duration from={job.startedMs} to={job.finishedMs} />
      </span>
      <span role="cell" className={`${rows.number} ${styles.wide}`}>
        <Duration from={job.runnableMs} to={job.startedMs ?? job.finishedMs} />
      </span>
      <span role="cell" className={`truncated muted ${styles.wide}`} title={job.agent ?? undefined}>
        {job.agent}
      </span>
    </div>
  )
})
