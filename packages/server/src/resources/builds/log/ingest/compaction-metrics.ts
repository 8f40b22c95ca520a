// Logs of ended jobs that are still chunks in the database.
import { sql } from 'kysely'
import { Gauge } from 'prom-client'
import { prepared } from '../../../../db/statement.ts'
import type { DatabaseMetric } from '../../../../metrics/database-metrics.ts'
import { endedSeconds } from '../queries.ts'

export const measureCompaction: DatabaseMetric = (registers) => {
  const waiting = new Gauge({
    name: 'millrace_log_compactions_waiting',
    help: 'Logs of ended jobs whose chunks are not yet one object in the store.',
    registers,
  })
  const oldest = new Gauge({
    name: 'millrace_log_compactions_oldest_seconds',
    help: 'How long the log that has waited longest could have been compacted.',
    registers,
  })
  return async (db) => {
    const { rows } = await countEnded(endedSeconds).execute(db)
    waiting.set(rows[0]?.logs ?? 0)
    oldest.set(rows[0]?.seconds ?? 0)
  }
}

/** The recursion reads one entry of the index for each log, however many chunks it has. */
const countEnded = prepared(
  (seconds: number) => sql<{ logs: number; seconds: number }>`
    with recursive with_chunks as (
      (select job_id from job_log_chunks order by job_id limit 1)
      union all
      select (select c.job_id from job_log_chunks c where c.job_id > w.job_id order by c.job_id limit 1)
      from with_chunks w where w.job_id is not null
    )
    select count(*)::int as logs,
      coalesce(extract(epoch from now() - min(j.finished_at)) - ${seconds}, 0)::float8 as seconds
    from with_chunks w join jobs j on j.id = w.job_id
    where j.finished_at < now() - make_interval(secs => ${seconds})`,
)
