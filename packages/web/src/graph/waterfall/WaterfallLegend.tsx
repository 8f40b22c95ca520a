import { Checkbox } from '../../parts/Field.tsx'
import { toneClass } from '../../parts/state-badge/StateBadge.tsx'
import type { Tone } from '../../parts/state-badge/states.ts'
import { formatDuration } from '../../parts/time/durations.ts'
import type { Fold } from './folded-time.ts'
import styles from './Waterfall.module.css'

interface Props {
  /** The colours of the bars. */
  tones: ReadonlySet<Tone>
  folds: readonly Fold[]
  isFailedFirst: boolean
  onFailedFirst: (isFailedFirst: boolean) => void
}

const ran: ReadonlyArray<[tone: Tone, words: string]> = [
  ['running', 'running'],
  ['passed', 'passed'],
  ['failed', 'failed'],
  ['warn', 'soft failed'],
  ['blocked', 'blocked'],
  ['idle', 'canceled'],
]

export const WaterfallLegend = ({ tones, folds, isFailedFirst, onFailedFirst }: Props) => (
  <span className={styles.legend}>
    <span className={styles.key} data-span="waiting">
      waiting
    </span>
    <span className={styles.key} data-span="queued">
      queued
    </span>
    {ran.map(
      ([tone, words]) =>
        tones.has(tone) && (
          <span key={tone} className={`${styles.key} ${toneClass(tone)}`} data-span="running">
            {words}
          </span>
        ),
    )}
    {folds.length > 0 && (
      <span className={styles.key} data-span="fold">
        no job ran: {formatDuration(folds.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0) / 1000)}
      </span>
    )}
    <Checkbox label="Failed first" checked={isFailedFirst} onCheck={onFailedFirst} />
  </span>
)
