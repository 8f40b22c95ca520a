import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import { rollups, type Unit } from './fold.ts'
import { keptHours } from './periods.ts'

/** The rows of each unit that no period shows any more, and the steps and creators that no row names. */
export async function expireInsights({ db, now }: Context): Promise<void> {
  const hoursAgo = (hours: number) => new Date(now().getTime() - hours * 60 * 60 * 1000).toISOString()
  for (const unit of Object.keys(rollups) as Unit[]) {
    const before = hoursAgo(keptHours[unit])
    await sql`delete from ${sql.table(rollups[unit])} where starts_at < ${before}`.execute(db)
    await sql`delete from queue_samples where unit = ${unit} and starts_at < ${before}`.execute(db)
  }
  await sql`delete from insight_subjects where seen_on < (${hoursAgo(keptHours.day)}::timestamptz at time zone 'utc')::date`.execute(
    db,
  )
}
