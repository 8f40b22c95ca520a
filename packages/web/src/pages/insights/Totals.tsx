import { formatDuration } from '../../parts/time/durations.ts'
import { JobChart, JobLegend } from './JobChart.tsx'
import { showMoney, showShare, type Insights } from './words.ts'
import styles from './Totals.module.css'

/** All jobs of the period: the figures, and a bar for each minute, hour or day. */
export function Totals({ insights }: { insights: Insights }) {
  const { total, currency, unit_seconds: unit } = insights
  const figures: ReadonlyArray<readonly [string, string]> = [
    ['Jobs', total.jobs.toLocaleString()],
    ['Failed', `${total.failures.toLocaleString()} (${showShare(total.failures, total.jobs)})`],
    ['Retries', total.retries.toLocaleString()],
    ['Wait, median', showSeconds(total.wait_p50_seconds)],
    ['Wait, 95 %', showSeconds(total.wait_p95_seconds)],
    ['Time', formatDuration(total.seconds)],
    ['Cost', showMoney(total.cost, currency)],
  ]
  return (
    <figure className={`card ${styles.figure}`}>
      <dl className={styles.figures}>
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt className={styles.name}>{name}</dt>
            <dd className={styles.value}>{value}</dd>
          </div>
        ))}
      </dl>
      <JobChart insights={insights} />
      <JobLegend unit={unitName(unit)} />
    </figure>
  )
}

const unitNames: Readonly<Record<number, string>> = { 60: 'minute', 3600: 'hour', 86_400: 'day' }

export const unitName = (seconds: number): string => unitNames[seconds] ?? 'time'

export const showSeconds = (seconds: number | null): string =>
  seconds === null ? '–' : formatDuration(seconds)
