// Jobs by time as bars. Those that failed are the lower part, in the colour of failures.
import styles from './JobBars.module.css'

interface Bar {
  ms: number
  jobs: number
  failures: number
}

interface Props {
  bars: readonly Bar[]
  fromMs: number
  toMs: number
  unitMs: number
}

/** A picture of numbers that stand beside it, so a screen reader skips it. */
export function JobBars({ bars, fromMs, toMs, unitMs }: Props) {
  const count = Math.max(1, Math.round((toMs - fromMs) / unitMs))
  const most = Math.max(1, ...bars.map(({ jobs }) => jobs))
  return (
    <svg viewBox={`0 0 ${count} 1`} preserveAspectRatio="none" className={styles.bars} aria-hidden="true">
      {bars.map(({ ms, jobs, failures }) => {
        const x = Math.round((ms - fromMs) / unitMs)
        const [height, failed] = [jobs / most, failures / most]
        return (
          <g key={ms}>
            <rect x={x + 0.1} y={1 - height} width={0.8} height={height - failed} className={styles.passed} />
            <rect x={x + 0.1} y={1 - failed} width={0.8} height={failed} className={styles.failed} />
          </g>
        )
      })}
    </svg>
  )
}
