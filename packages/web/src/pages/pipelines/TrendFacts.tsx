import { formatDuration } from '../../parts/time/durations.ts'
import type { Trend } from './queries.ts'
import styles from './TrendBars.module.css'

/** What the bars mean: their scale, and how fast and reliable the pipeline is. */
export function TrendFacts({ trend }: { trend: Trend }) {
  const longest = Math.max(0, ...trend.builds.map(({ seconds }) => seconds ?? 0))
  const { median_seconds: median, median_change: change, reliability } = trend
  const percent = change === null ? 0 : Math.round(change * 100)
  const facts = [
    `Last ${trend.builds.length === 1 ? 'build' : `${trend.builds.length} builds`}`,
    ...(longest > 0 ? [`the highest bar took ${formatDuration(longest)}`] : []),
    ...(median === null ? [] : [`median of 30 days ${formatDuration(median)}`]),
    ...(percent === 0 ? [] : [`${Math.abs(percent)} % ${percent < 0 ? 'faster' : 'slower'} than before`]),
    ...(reliability === null ? [] : [`${Math.round(reliability * 100)} % passed`]),
  ]
  return <p className={styles.facts}>{facts.join(' · ')}</p>
}
