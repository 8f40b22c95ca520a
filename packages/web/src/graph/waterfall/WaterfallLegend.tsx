import { memo } from 'react'
import { Checkbox } from '../../parts/Field.tsx'
import { toneClass } from '../../parts/state-badge/StateBadge.tsx'
import { formatDuration } from '../../parts/time/durations.ts'
import type { Job } from '../jobs/job.ts'
import type { Fold } from './folded-time.ts'
import { legendOf } from './legend.ts'
import styles from './Waterfall.module.css'

interface Props {
  /** Every attempt that has bars. */
  attempts: readonly Job[]
  folds: readonly Fold[]
  isFailedFirst: boolean
  onFailedFirst: (isFailedFirst: boolean) => void
}

export const WaterfallLegend = ({ attempts, folds, isFailedFirst, onFailedFirst }: Props) => (
  <span className={styles.legend}>
    <BarKeys attempts={attempts} />
    {folds.length > 0 && (
      <span className={styles.key} data-span="fold">
        no job ran: {formatDuration(folds.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0) / 1000)}
      </span>
    )}
    <Checkbox label="Failed first" checked={isFailedFirst} onCheck={onFailedFirst} />
  </span>
)

const BarKeys = memo(({ attempts }: { attempts: readonly Job[] }) => {
  const { kinds, ran } = legendOf(attempts)
  return (
    <>
      {beforeRun.map(
        (kind) =>
          kinds.has(kind) && (
            <span key={kind} className={styles.key} data-span={kind}>
              {kind}
            </span>
          ),
      )}
      {ran.map(([tone, words]) => (
        <span key={tone} className={`${styles.key} ${toneClass(tone)}`} data-span="running">
          {words}
        </span>
      ))}
    </>
  )
})

const beforeRun = ['waiting', 'queued'] as const
