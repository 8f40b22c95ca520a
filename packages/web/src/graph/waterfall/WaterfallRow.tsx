import { memo } from 'react'
import { formatDuration } from '../../parts/time/durations.ts'
import type { FoldedTime } from './folded-time.ts'
import { spansOf } from './job-spans.ts'
import type { JobTable } from '../jobs/job-table.ts'
import type { Job } from '../jobs/job.ts'
import { toneClass } from '../../parts/state-badge/StateBadge.tsx'
import { StateMark } from '../rows/StateMark.tsx'
import rows from '../rows/Rows.module.css'
import { titleOf } from '../../parts/state-badge/states.ts'
import { cssVariables, rowStyle } from '../rows/use-row-window.ts'
import { selectOnClick } from '../view.ts'
import styles from './Waterfall.module.css'

interface Props {
  table: JobTable
  job: Job
  time: FoldedTime
  at: number
  isSelected: boolean
  onSelect: (jobId: string) => void
}

/** A job with the bars of all its attempts. */
export const WaterfallRow = memo(({ table, job, time, at, isSelected, onSelect }: Props) => (
  <li className={rows.row} style={rowStyle(at)} data-list-row>
    <a
      href={`#${job.id}`}
      className={styles.row}
      aria-current={isSelected || undefined}
      aria-label={describe(job)}
      onClick={selectOnClick(() => onSelect(job.id))}
    >
      <span className={styles.name}>
        <StateMark look={job.look} hasWord={false} />
        <span className="truncated" title={job.name}>
          {job.name}
        </span>
      </span>
      {table.attemptsOf(job.id).map((attempt) => (
        <Bars key={attempt.id} job={attempt} time={time} />
      ))}
    </a>
  </li>
))

const Bars = ({ job, time }: { job: Job; time: FoldedTime }) => (
  <span className={toneClass(job.look.tone)}>
    {spansOf(job).map(({ kind, fromMs, toMs }) => (
      <span
        key={kind}
        className={styles.bar}
        data-span={kind}
        data-live={toMs === null || undefined}
        style={cssVariables({
          '--from': time.at(fromMs),
          ...(toMs === null ? {} : { '--to': time.at(toMs) }),
        })}
        title={`${job.attempt > 0 ? `Attempt ${job.attempt + 1}, ` : ''}${kind}${toMs === null ? '' : ` ${formatDuration((toMs - fromMs) / 1000)}`}`}
      />
    ))}
  </span>
)

function describe(job: Job): string {
  const parts = spansOf(job).map(({ kind, fromMs, toMs }) =>
    toMs === null ? `${kind} now` : `${kind} ${formatDuration((toMs - fromMs) / 1000)}`,
  )
  return `${job.name}: ${[titleOf(job.look), ...parts].join(', ')}`
}
