import { useSyncExternalStore } from 'react'
import { formatDuration } from '../../parts/time/durations.ts'
import type { Fold, FoldedTime } from './folded-time.ts'
import { tickLabel } from './tick-label.ts'
import type { Timescale } from './timescale.ts'
import { cssVariables } from '../rows/use-row-window.ts'
import styles from './Waterfall.module.css'

function useMarks(timescale: Timescale): { stepMs: number; marks: number[] } {
  const { stepMs, first, last } = useSyncExternalStore(timescale.subscribe, timescale.marks)
  const count = Math.max(0, last - first + 1)
  return { stepMs, marks: Array.from({ length: count }, (_, at) => (first + at) * stepMs) }
}

interface Props {
  timescale: Timescale
  time: FoldedTime
}

/** Time since the build's first job was made. */
export function WaterfallAxis({ timescale, time }: Props) {
  const { stepMs, marks } = useMarks(timescale)
  return (
    <div className={styles.axis} aria-hidden="true">
      <span className={styles.corner} data-names>
        Job
      </span>
      {marks.map((atMs) => (
        <span key={atMs} className={styles.mark} style={cssVariables({ '--from': atMs })}>
          {tickLabel(time.elapsedAt(atMs), stepMs)}
        </span>
      ))}
      {time.folds.map((fold) => (
        <span key={fold.fromMs} className={styles.foldMark} style={placeOf(fold, time)}>
          ⋯
        </span>
      ))}
    </div>
  )
}

const placeOf = ({ fromMs, toMs }: Fold, time: FoldedTime) =>
  cssVariables({ '--from': time.at(fromMs), '--to': time.at(toMs) })

/** A line at each mark, and a band for each fold. */
export const WaterfallGrid = ({ timescale, time }: Props) => (
  <>
    {useMarks(timescale).marks.map((atMs) => (
      <li key={atMs} className={styles.line} style={cssVariables({ '--from': atMs })} aria-hidden="true" />
    ))}
    {time.folds.map((fold) => (
      <li
        key={fold.fromMs}
        className={styles.fold}
        style={placeOf(fold, time)}
        title={`No job ran for ${formatDuration((fold.toMs - fold.fromMs) / 1000)}`}
      />
    ))}
  </>
)
