import { useSyncExternalStore } from 'react'
import { formatDuration } from '../parts/durations.ts'
import type { Timescale } from './timescale.ts'
import { cssVariables } from './use-row-window.ts'
import styles from './Waterfall.module.css'

/** Time since the build's first job was made. */
export function WaterfallAxis({ timescale }: { timescale: Timescale }) {
  const { stepMs, first, last } = useSyncExternalStore(timescale.subscribe, timescale.marks)
  const marks = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => (first + at) * stepMs)
  return (
    <div className={styles.axis} aria-hidden="true">
      <span className={styles.corner} data-names>
        Job
      </span>
      {marks.map((atMs) => (
        <span key={atMs} className={styles.mark} style={cssVariables({ '--from': atMs })}>
          {formatDuration(atMs / 1000)}
        </span>
      ))}
    </div>
  )
}
