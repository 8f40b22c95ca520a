// Rows that loops of the background could not handle and will try again.
import { sql } from 'kysely'
import { prepared } from '../db/statement.ts'
import type { DatabaseMetric } from './database-metrics.ts'

export const measureFailedRows: DatabaseMetric = (makeGauge) => {
  const failed = makeGauge(
    'millrace_failed_rows',
    'Rows that a loop of the background could not handle and tries again later.',
    ['loop'],
  )
  return async (db) => {
    const { rows } = await countFailed().execute(db)
    failed.reset()
    for (const { loop, count } of rows) failed.set({ loop }, count)
  }
}

const countFailed = prepared(
  () => sql<{ loop: string; count: number }>`
    select loop, count(*)::int as count from failed_rows where attempts > 0 group by loop`,
)
