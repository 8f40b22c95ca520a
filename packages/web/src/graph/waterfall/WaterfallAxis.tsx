import { useSyncExternalStore } from 'react'
import { formatDuration } from '../../parts/time/durations.ts'
import type { Timescale } from './timescale.ts'
import { cssVariables } from '../rows/use-row-window.ts'
import styles from './Waterfall.module.css'

function useMarks(timescale: Timescale): number[] {
  const { stepMs, first, last } = useSyncExternalStore(timescale.subscribe, timescale.marks)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => (first + at) * stepMs)
}

/** Time since the build's first job was made. */
export const WaterfallAxis = ({ timescale }: { timescale: Timescale }) => (
  <div className={styles.axis} aria-hidden="true">
    <span className={styles.corner} data-names>
      Job
    </span>
    {useMarks(timescale).map((atMs) => (
      <span key={atMs} className={styles.mark} style={cssVariables({ '--from': atMs })}>
        {formatDuration(atMs / 1000)}
      </span>
    ))}
  </div>
)

/** A line at each mark. */
export const WaterfallGrid = ({ timescale }: { timescale: Timescale }) =>
  useMarks(timescale).map((atMs) => (
    <li key={atMs} className={styles.line} style={cssVariables({ '--from': atMs })} aria-hidden="true" />
  ))
