import { Type, type Static } from 'typebox'
import { isFinal } from '@millrace/engine/states.ts'
import { carryOut } from '../conductor/act.ts'
import { advanceIn, type EventAt, type FollowUp } from '../conductor/advance.ts'
import type { Context } from '../context.ts'
import type { Trx } from '../db/pool.ts'
import { inTransaction } from '../db/transaction.ts'
import { refused } from '../lib/errors.ts'
import { maybe } from './route.ts'
import type { RunningJob } from './tokens.ts'

const Text = maybe(Type.String({ maxLength: 255 }))

export const FinishBody = Type.Object({
  exit_status: Text,
  signal: Text,
  signal_reason: Text,
  chunks_failed_count: maybe(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  ignore_agent_in_dispatches: maybe(Type.Boolean()),
})

/** The job's end, and with it its token's; its agent is free. Said twice, it is done once. */
export async function finishJob(
  ctx: Context,
  job: RunningJob,
  body: Static<typeof FinishBody>,
): Promise<void> {
  if (isFinal(job.state)) return
  const exitStatus = readExitStatus(body.exit_status)
  const end: EventAt = {
    type: 'finish',
    jobId: job.id,
    exitStatus,
    signal: body.signal || null,
    signalReason: body.signal_reason || null,
  }
  // An agent that refuses a job ends it without ever starting it.
  const events: EventAt[] = job.state === 'accepted' ? [{ type: 'start', jobId: job.id }, end] : [end]
  const followUps = await inTransaction(ctx.db, async (trx) => {
    const after: FollowUp[] = []
    for (const event of events) {
      const advanced = await advanceIn(trx, ctx, job.organizationId, job.buildId, event)
      if (!advanced.ok && advanced.reason === 'job_finished') return after
      if (!advanced.ok) throw refused(`${advanced.message}.`)
      after.push(...advanced.followUps)
    }
    await noteOnJob(trx, job, body.chunks_failed_count ?? 0)
    await noteOnAgent(trx, ctx, job, {
      passed: exitStatus === 0,
      retires: body.ignore_agent_in_dispatches ?? false,
    })
    return after
  })
  await carryOut(ctx, followUps)
}

/** Whatever an agent sends ends the job: text that is no number counts as a command that never ran. */
function readExitStatus(text: string | null | undefined): number {
  return /^-?\d{1,9}$/.test(text ?? '') ? Number(text) : -1
}

async function noteOnJob(trx: Trx, job: RunningJob, chunksFailed: number): Promise<void> {
  if (chunksFailed === 0) return
  await trx
    .updateTable('jobs')
    .set({ chunks_failed_count: chunksFailed })
    .where('organization_id', '=', job.organizationId)
    .where('id', '=', job.id)
    .execute()
}

async function noteOnAgent(
  trx: Trx,
  ctx: Context,
  job: RunningJob,
  { passed, retires }: { passed: boolean; retires: boolean },
): Promise<void> {
  const at = ctx.now().toISOString()
  await trx
    .updateTable('agents')
    .set({
      last_job_finished_at: at,
      ...(passed ? { last_job_passed_at: at } : {}),
      ...(retires ? { ignore_in_dispatches: true } : {}),
    })
    .where('organization_id', '=', job.organizationId)
    .where('id', '=', job.agent.id)
    .execute()
}
