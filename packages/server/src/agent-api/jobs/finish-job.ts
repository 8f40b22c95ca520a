import { sql } from 'kysely'
import { isFinal } from '@millrace/engine/states.ts'
import type { FinishRequest } from '@millrace/protocol/jobs.ts'
import { carryOut } from '../../conductor/act.ts'
import { advanceAll, type UntimedEvent } from '../../conductor/advance.ts'
import type { Context } from '../../context.ts'
import { prepared, type Statement } from '../../db/statement.ts'
import { defer } from '../../db/batch.ts'
import { inTransaction } from '../../db/transaction.ts'
import { refused } from '../../lib/errors.ts'
import { indexSoon } from '../../resources/builds/log/ingest/index-failure.ts'
import type { RunningJob } from '../tokens.ts'

/** Ends the job and its token and frees its agent. Idempotent. */
export async function finishJob(ctx: Context, job: RunningJob, body: FinishRequest): Promise<void> {
  if (isFinal(job.state)) return
  const exitStatus = readExitStatus(body.exit_status)
  const end: UntimedEvent = {
    type: 'finish',
    jobId: job.id,
    exitStatus,
    signal: body.signal || null,
    signalReason: body.signal_reason || null,
  }
  // An agent that refuses a job ends it without ever starting it.
  const events: UntimedEvent[] = job.state === 'accepted' ? [{ type: 'start', jobId: job.id }, end] : [end]
  const followUps = await inTransaction(ctx.db, async (trx) => {
    const advanced = await advanceAll(trx, ctx, job.organizationId, job.buildId, events)
    if (!advanced.ok && advanced.reason === 'job_finished') return []
    if (!advanced.ok) throw refused(`${advanced.message}.`)
    const retires = body.ignore_agent_in_dispatches ?? false
    await defer(trx, [
      ...updateJob(job, body.chunks_failed_count ?? 0),
      updateAgent(job.organizationId, job.agent.id, ctx.now().toISOString(), exitStatus === 0, retires),
      ...(exitStatus === 0 ? [] : [indexSoon(job.organizationId, job.id)]),
    ])
    return advanced.followUps
  })
  await carryOut(ctx, followUps)
}

/** Any text ends the job: text that is no number counts as a command that never ran. */
function readExitStatus(text: string | null | undefined): number {
  return /^-?\d{1,9}$/.test(text ?? '') ? Number(text) : -1
}

function updateJob(job: RunningJob, chunksFailed: number): Statement[] {
  if (chunksFailed === 0) return []
  const statement = sql`
    update jobs set chunks_failed_count = ${chunksFailed}
    where organization_id = ${job.organizationId} and id = ${job.id}`
  return [statement]
}

const updateAgent = prepared(
  (organizationId: string, agentId: string, at: string, passed: boolean, retires: boolean) => sql`
    update agents set last_job_finished_at = ${at},
      last_job_passed_at = case when ${passed} then ${at} else last_job_passed_at end,
      ignore_in_dispatches = ignore_in_dispatches or ${retires}
    where organization_id = ${organizationId} and id = ${agentId}`,
)
