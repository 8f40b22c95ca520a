import { sql } from 'kysely'
import type { Trx } from '../../../db/pool.ts'
import { enqueue } from '../../../tasks/enqueue.ts'

/** The end of a failed job makes findable what its tests say. Results that come later do so again. */
export async function indexLate(trx: Trx, organizationId: string, jobId: string): Promise<void> {
  const { rows } = await sql`
    select from jobs where organization_id = ${organizationId} and id = ${jobId} and finished_at is not null
      and state in ('failed', 'timed_out')`.execute(trx)
  if (rows.length === 0) return
  const task = { job_id: jobId, organization_id: organizationId }
  await enqueue(trx, 'index_failure', task, { key: jobId, isPatient: true })
}
