// Fails a job that no agent can be started for, and writes the reason to its log.
import { sql } from 'kysely'
import type { JobState } from '@millrace/engine/states.ts'
import { carryOut } from '../conductor/act.ts'
import { advanceAll, withoutAgent } from '../conductor/advance.ts'
import type { Context } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { indexSoon } from '../resources/builds/log/ingest/index-failure.ts'
import { receiveChunk } from '../resources/builds/log/ingest/receive.ts'

export interface UnrunnableJob {
  id: string
  build_id: string
  organization_id: string
  reason: string
}

/** Safe to repeat: only a job that is still scheduled is failed. */
export async function failJob(
  ctx: Context,
  { id, build_id, organization_id, reason }: UnrunnableJob,
): Promise<void> {
  const followUps = await inTransaction(ctx.db, async (trx) => {
    // Lock order: the build before its job.
    await sql`select from build_tallies where build_id = ${build_id} for update`.execute(trx)
    const { rows } = await sql<{ state: JobState }>`
      select state from jobs where organization_id = ${organization_id} and id = ${id} for update`.execute(
      trx,
    )
    if (rows[0]?.state !== 'scheduled') return null
    const advanced = await advanceAll(trx, ctx, organization_id, build_id, withoutAgent(id, -1))
    if (!advanced.ok) throw new Error(`A job that no agent can run could not be failed: ${advanced.message}.`)
    return advanced.followUps
  })
  if (followUps === null) return
  await carryOut(ctx, followUps)
  const body = Buffer.from(`No agent could be started for this job: ${reason}\n`)
  await receiveChunk(ctx, organization_id, id, { sequence: 1, offset: 0, body, isGzip: false, isLast: true })
  await indexSoon(organization_id, id).execute(ctx.db)
}
