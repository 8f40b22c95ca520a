// Logs of ended jobs that are still chunks in the database.
import type { DatabaseMetric } from '../../../../metrics/database-metrics.ts'
import { countEnded } from './compaction-queries.ts'

export const measureCompaction: DatabaseMetric = (makeGauge) => {
  const waiting = makeGauge(
    'millrace_log_compactions_waiting',
    'Logs of ended jobs whose chunks are not yet one object in the store.',
  )
  const oldest = makeGauge(
    'millrace_log_compactions_oldest_seconds',
    'How long the log that has waited longest could have been compacted.',
  )
  return async (db) => {
    const ended = await countEnded(db)
    waiting.set(ended?.logs ?? 0)
    oldest.set(ended?.oldest_seconds ?? 0)
  }
}
