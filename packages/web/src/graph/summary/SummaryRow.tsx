import { memo, type ReactNode } from 'react'
import { Icon } from '../../parts/Icon.tsx'
import { Duration } from '../../parts/time/Time.tsx'
import { BUCKET_NAMES, BUCKET_TONES, type Bucket } from '../jobs/buckets.ts'
import type { Job } from '../jobs/job.ts'
import { toneClass } from '../../parts/state-badge/StateBadge.tsx'
import { StateMark } from '../rows/StateMark.tsx'
import rows from '../rows/Rows.module.css'
import { titleOf } from '../../parts/state-badge/states.ts'
import type { SummaryRow } from './summary-rows.ts'
import styles from './SummaryRow.module.css'
import { rowStyle } from '../rows/use-row-window.ts'
import { selectOnClick } from '../view.ts'

interface Position {
  at: number
  total: number
}

interface HeadingProps extends Position {
  row: Extract<SummaryRow, { kind: 'group' }>
  onToggle: (bucket: Bucket) => void
}

export const SummaryHeading = ({ row, at, total, onToggle }: HeadingProps) => (
  <div
    role="listitem"
    aria-setsize={total}
    aria-posinset={at + 1}
    className={rows.row}
    style={rowStyle(at)}
    data-list-row
  >
    <button
      type="button"
      className={`${styles.heading} ${toneClass(BUCKET_TONES[row.bucket])}`}
      aria-expanded={row.isOpen}
      onClick={() => onToggle(row.bucket)}
    >
      <Icon name={row.isOpen ? 'chevron-down' : 'chevron-right'} size={14} />
      <span className={styles.group}>{BUCKET_NAMES[row.bucket]}</span>
      <span className={styles.count}>{row.count.toLocaleString()}</span>
    </button>
  </div>
)

interface JobProps extends Position {
  job: Job
  isSelected: boolean
  onSelect: (jobId: string) => void
  action: ReactNode
  /** The name of the job's group. */
  group: string | null
  /** The row of its log that shows why it failed. */
  failingText: string | undefined
}

export const SummaryJob = memo(
  ({ job, at, total, isSelected, onSelect, action, group, failingText }: JobProps) => (
    <div
      role="listitem"
      aria-setsize={total}
      aria-posinset={at + 1}
      className={rows.row}
      style={rowStyle(at)}
      data-list-row
    >
      <a
        href={`#${job.id}`}
        className={`${rows.job} ${styles.job}`}
        aria-current={isSelected || undefined}
        onClick={selectOnClick(() => onSelect(job.id))}
      >
        <span className={styles.mark}>
          <StateMark look={job.look} hasWord={false} />
        </span>
        <span className="truncated" title={job.name}>
          {group !== null && <span className="muted">{group} › </span>}
          {job.name}
        </span>
        <span className={`truncated muted ${styles.reason}`}>
          {reasonOf(job)}
          {failingText !== undefined && <code title={failingText}> {failingText}</code>}
        </span>
        <span className={rows.number}>{job.attempt > 0 && `attempt ${job.attempt + 1}`}</span>
        <span className={rows.number}>
          {job.startedMs !== null && <Duration from={job.startedMs} to={job.finishedMs} />}
        </span>
      </a>
      {action !== undefined && <span className={styles.action}>{action}</span>}
    </div>
  ),
)

/** The note of a failure, else the word of the state, unless the heading above has just said it. */
const reasonOf = ({ note, look, exitStatus, bucket }: Job): string => {
  if (look.tone === 'failed' || look.tone === 'warn') {
    return note ?? (exitStatus === null ? look.label : `exit ${exitStatus}`)
  }
  const word = titleOf(look)
  return word.toLowerCase() === BUCKET_NAMES[bucket] ? '' : word
}
