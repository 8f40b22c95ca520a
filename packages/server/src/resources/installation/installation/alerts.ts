// The alerts of deploy/prometheus/alerts.yml that depend only on what is read from the database.
import type { Readings } from '../../../metrics/read-metrics.ts'

interface AlertRule {
  name: string
  metric: string
  /** It holds above. */
  limit: number
  /** `label`: the kind or loop that the metric tells apart. */
  summarize: (value: number, label: string) => string
}

export const alertRules: readonly AlertRule[] = [
  {
    name: 'MillraceTasksWaiting',
    metric: 'millrace_tasks_oldest_waiting_seconds',
    limit: 600,
    summarize: (_, kind) => `Background tasks ${kind} are not run.`,
  },
  {
    name: 'MillraceTasksFailing',
    metric: 'millrace_tasks_dead',
    limit: 0,
    summarize: (_, kind) => `Background tasks ${kind} fail.`,
  },
  {
    name: 'MillraceRowsFailing',
    metric: 'millrace_failed_rows',
    limit: 0,
    summarize: (count, loop) => `${count} rows of the loop ${loop} fail; the others go on.`,
  },
  {
    name: 'MillraceRelayLag',
    metric: 'millrace_relay_lag_seconds',
    limit: 60,
    summarize: (seconds) => `Events wait ${Math.round(seconds)} s for the relay, so notifications are late.`,
  },
  {
    name: 'MillraceCompactionBacklog',
    metric: 'millrace_log_compactions_oldest_seconds',
    limit: 1800,
    summarize: () => 'Logs of ended jobs stay in the database.',
  },
]

export const alertsOf = (readings: Readings): Array<{ name: string; summary: string }> =>
  alertRules.flatMap(({ name, metric, limit, summarize }) =>
    (readings.get(metric) ?? [])
      .filter(({ value }) => value > limit)
      .map(({ value, label }) => ({ name, summary: summarize(value, label) })),
  )
