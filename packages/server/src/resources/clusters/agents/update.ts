// Stop, pause and resume, for the REST API and for jobs that run on the agent. Each wakes the agent's stream and pings
// in every process. The agent's job is updated in a second transaction, because a build is locked before its agents.
import { act } from '../../../conductor/act.ts'
import type { UntimedEvent } from '../../../conductor/advance.ts'
import { wakeAgent } from '../../../conductor/dispatch/wake.ts'
import type { Context } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { badRequest, refused } from '../../../lib/errors.ts'
import * as agents from './queries.ts'

const defaultPauseMinutes = 5

/** The agent finishes its job first, or the job is canceled, or the job's whole build. */
export async function stopAgent(
  ctx: Context,
  orgId: string,
  id: string,
  { cancel }: { cancel: 'nothing' | 'job' | 'build' },
): Promise<void> {
  const job = await update(ctx, orgId, id, async (trx, agent) => {
    const isStopping = agent.connectionState === 'stopping'
    if (agent.connectionState !== 'connected' && !isStopping)
      throw badRequest('Can only stop connected agents')
    if (!isStopping) await agents.updateStopping(trx, orgId, id, ctx.now().toISOString())
  })
  if (job === null) return
  if (cancel === 'nothing') await returnToQueue(ctx, orgId, job)
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
  const job = await update(ctx, orgId, id, async (trx, agent) => {
    if (agent.pausedAt !== null) throw refused('Agent is already paused')
    if (agent.connectionState !== 'connected') throw refused('Only connected agents may be paused')
    const at = ctx.now().toISOString()
    const pause = { at, by, note, timeoutMinutes: timeoutMinutes ?? defaultPauseMinutes }
    await agents.updatePause(trx, orgId, id, pause, at)
  })
  if (job !== null) await returnToQueue(ctx, orgId, job)
}

export async function resumeAgent(ctx: Context, orgId: string, id: string): Promise<void> {
  await update(ctx, orgId, id, async (trx, agent) => {
    if (agent.pausedAt === null) throw refused('Agent is not paused')
    const none = { at: null, by: null, note: null, timeoutMinutes: null }
    await agents.updatePause(trx, orgId, id, none, ctx.now().toISOString())
  })
}

/** Returns a job to the queue if the agent has not accepted it yet. */
async function returnToQueue(ctx: Context, orgId: string, job: agents.AgentJob): Promise<void> {
  if (job.state === 'assigned') await act(ctx, orgId, job.buildId, { type: 'give_back', jobId: job.id })
}

/** `decide` runs while the agent is locked. Returns the agent's job. */
async function update(
  ctx: Context,
  orgId: string,
  id: string,
  decide: (trx: Trx, agent: agents.LockedAgent) => Promise<void>,
): Promise<agents.AgentJob | null> {
  return inTransaction(ctx.db, async (trx) => {
    const agent = await agents.lockInOrg(trx, orgId, id)
    await decide(trx, agent)
    await wakeAgent(trx, id)
    return agent.job
  })
}
