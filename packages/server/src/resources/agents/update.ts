// Stop, pause and resume, asked for by people or by jobs that run on the agent. Its stream and its pings, in whatever
// process, hear of it at once. What follows for its job is a transaction of its own, because builds are locked first.
import { act } from '../../conductor/act.ts'
import type { UntimedEvent } from '../../conductor/advance.ts'
import { wakeAgent } from '../../conductor/wake.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { badRequest, notFound, refused } from '../../lib/errors.ts'
import * as agents from './queries.ts'

const defaultPauseMinutes = 5

/** Its job ends by itself, is canceled, or is canceled with its whole build. */
export async function stopAgent(
  ctx: Context,
  orgId: string,
  id: string,
  { cancel }: { cancel: 'nothing' | 'job' | 'build' },
): Promise<void> {
  const job = await change(ctx, orgId, id, async (trx, agent) => {
    const isStopping = agent.connectionState === 'stopping'
    if (agent.connectionState !== 'connected' && !isStopping)
      throw badRequest('Can only stop connected agents')
    if (!isStopping) await agents.setStopping(trx, orgId, id, ctx.now().toISOString())
  })
  if (job === null) return
  if (cancel === 'nothing') await giveBack(ctx, orgId, job)
  else await act(ctx, orgId, job.buildId, cancelEvent(cancel, job))
}

const cancelEvent = (cancel: 'job' | 'build', job: agents.AgentJob): UntimedEvent =>
  cancel === 'job'
    ? { type: 'cancel_job', jobId: job.id }
    : { type: 'cancel_build', reason: 'The agent of one of its jobs was stopped' }

export async function pauseAgent(
  ctx: Context,
  orgId: string,
  id: string,
  { by, note, timeoutMinutes }: { by: string | null; note: string | null; timeoutMinutes: number | null },
): Promise<void> {
  const job = await change(ctx, orgId, id, async (trx, agent) => {
    if (agent.pausedAt !== null) throw refused('Agent is already paused')
    if (agent.connectionState !== 'connected') throw refused('Only connected agents may be paused')
    await agents.setPause(trx, orgId, id, {
      at: ctx.now().toISOString(),
      by,
      note,
      timeoutMinutes: timeoutMinutes ?? defaultPauseMinutes,
    })
  })
  if (job !== null) await giveBack(ctx, orgId, job)
}

export async function resumeAgent(ctx: Context, orgId: string, id: string): Promise<void> {
  await change(ctx, orgId, id, async (trx, agent) => {
    if (agent.pausedAt === null) throw refused('Agent is not paused')
    await agents.setPause(trx, orgId, id, { at: null, by: null, note: null, timeoutMinutes: null })
  })
}

/** A job that the agent was offered and has not accepted; one it has accepted stays with it. */
async function giveBack(ctx: Context, orgId: string, job: agents.AgentJob): Promise<void> {
  if (job.state === 'assigned') await act(ctx, orgId, job.buildId, { type: 'give_back', jobId: job.id })
}

/** Returns the job that the agent has. */
async function change(
  ctx: Context,
  orgId: string,
  id: string,
  decide: (trx: Trx, agent: agents.LockedAgent) => Promise<void>,
): Promise<agents.AgentJob | null> {
  return inTransaction(ctx.db, async (trx) => {
    const agent = await agents.lockInOrg(trx, orgId, id)
    if (agent === undefined) throw notFound('No agent found')
    await decide(trx, agent)
    await wakeAgent(trx, id)
    return agent.job
  })
}
