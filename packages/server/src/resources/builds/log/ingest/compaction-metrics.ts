// Logs of ended jobs that are still chunks in the database.
import { Gauge } from 'prom-client'
import type { DatabaseMetric } from '../../../../metrics/database-metrics.ts'
import { countEnded } from './compaction-queries.ts'

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
    const ended = await countEnded(db)
    waiting.set(ended?.logs ?? 0)
    oldest.set(ended?.oldest_seconds ?? 0)
  }
}
