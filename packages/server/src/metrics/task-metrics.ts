// Background tasks that wait or were given up. graphile-worker deletes a task that has succeeded, so its table is small.
import { sql } from 'kysely'
import { prepared } from '../db/statement.ts'
import type { DatabaseMetric } from './database-metrics.ts'

export const measureTasks: DatabaseMetric = (makeGauge) => {
  const gauge = (name: string, help: string) => makeGauge(`millrace_tasks_${name}`, help, ['kind'])
  const waiting = gauge('waiting', 'Background tasks that are due and that no worker has.')
  const oldest = gauge('oldest_waiting_seconds', 'How long the task that has waited longest is due.')
  const retrying = gauge('retrying', 'Background tasks that failed and will be tried again.')
  const dead = gauge('dead', 'Background tasks that failed too often and will not be tried again.')
  const gauges = [waiting, oldest, retrying, dead]

  return async (db) => {
    const { rows } = await countTasks().execute(db)
    for (const each of gauges) each.reset()
    for (const { kind, ...counts } of rows) {
      waiting.set({ kind }, counts.waiting)
      oldest.set({ kind }, counts.seconds)
      retrying.set({ kind }, counts.retrying)
      dead.set({ kind }, counts.dead)
    }
  }
}

interface TaskCounts {
  kind: string
  waiting: number
  seconds: number
  retrying: number
  dead: number
}

const isDue = sql`t.locked_at is null and t.attempts < t.max_attempts and t.run_at <= now()`

const countTasks = prepared(
  () => sql<TaskCounts>`
    select t.task_identifier as kind, count(*) filter (where ${isDue})::int as waiting,
      coalesce(extract(epoch from now() - min(t.run_at) filter (where ${isDue})), 0)::float8 as seconds,
      count(*) filter (where t.last_error is not null and t.attempts < t.max_attempts)::int as retrying,
      count(*) filter (where t.locked_at is null and t.attempts >= t.max_attempts)::int as dead
    from graphile_worker.jobs t group by t.task_identifier`,
)
