// A stack ends a job for which it could start no agent, or which needed none.
import { sql } from 'kysely'
import { isFinal, type JobState } from '@millrace/engine/states.ts'
import { carryOut } from '../../conductor/act.ts'
import { advanceAll, withoutAgent } from '../../conductor/advance.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound, refused } from '../../lib/errors.ts'
import { insertNotifications } from './stack-notifications.ts'
import type { Stack } from './stack-rows.ts'

/** Idempotent. */
export async function finishForStack(
  ctx: Context,
  stack: Stack,
  jobId: string,
  { exitStatus, detail }: { exitStatus: number; detail: string },
): Promise<void> {
  const followUps = await inTransaction(ctx.db, async (trx) => {
    const job = await lockJob(trx, stack, jobId)
    if (job === undefined) throw notFound('No job found')
    if (isFinal(job.state)) return []
    if (job.state === 'reserved' && job.reservedBy !== stack.id)
      throw refused('Another stack has reserved the job.')
    if (job.state !== 'reserved' && job.state !== 'scheduled') throw refused(`The job is ${job.state}.`)
    const occurred = { jobId, detail, occurredAt: ctx.now().toISOString() }
    await insertNotifications(trx, stack, [occurred])
    const events = withoutAgent(jobId, exitStatus)
    const advanced = await advanceAll(trx, ctx, stack.organizationId, job.buildId, events)
    if (!advanced.ok) throw refused(`${advanced.message}.`)
    return advanced.followUps
  })
  await carryOut(ctx, followUps)
}

interface EndingJob {
  buildId: string
  state: JobState
  reservedBy: string | null
}

/** The build is locked before its job, as everywhere. */
async function lockJob(trx: Trx, stack: Stack, jobId: string): Promise<EndingJob | undefined> {
  const isMeant = sql`
    j.organization_id = ${stack.organizationId} and j.cluster_id = ${stack.clusterId}
    and j.kind = 'script' and j.id = ${jobId}`
  await sql`
    select from build_tallies t join jobs j on j.build_id = t.build_id where ${isMeant} for update of t`.execute(
    trx,
  )
  const { rows } = await sql<EndingJob>`
    select j.build_id as "buildId", j.state, j.reserved_by as "reservedBy" from jobs j
    where ${isMeant} for update`.execute(trx)
  return rows[0]
}
