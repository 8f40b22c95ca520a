// A job between its agent and the server: accept, start, read the state, finish.
import { sql } from 'kysely'
import {
  AcceptRequest,
  FinishRequest,
  JobUpdateRequest,
  PromiseFailureRequest,
  type JobStateResponse,
  type JobUpdateResponse,
} from '@millrace/protocol/jobs.ts'
import { act } from '../../conductor/act.ts'
import { findPipelineDefaults } from '../../conductor/load.ts'
import { isJobAlive, loseJob } from '../../conductor/lost-agents.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { noContent, ok } from '../../http/answer.ts'
import { ApiError, conflict, notFound, refused } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import { receiveChunk } from '../../resources/builds/log/ingest/receive.ts'
import { finishJob } from './finish-job.ts'
import { agentRoute, done } from '../route.ts'
import { acceptAndStart, acceptJob, acquireJob } from './take-job.ts'
import type { Agent, AgentJob, RunningJob } from '../tokens.ts'

const accept = agentRoute({
  method: 'PUT',
  url: '/v3/jobs/:job/accept',
  token: 'session',
  body: AcceptRequest,
  async handler({ ctx, agent, params, body }) {
    const jobId = jobIn(params)
    try {
      return ok(await (body.start ? acceptAndStart : acceptJob)(ctx, agent, jobId))
    } catch (error) {
      const isRefused = error instanceof ApiError && error.status === 422
      if (isRefused && agent.job?.id === jobId) await endRefused(ctx, agent, agent.job)
      throw error
    }
  },
})

const acquire = agentRoute({
  method: 'PUT',
  url: '/v3/jobs/:job/acquire',
  token: 'session',
  async handler({ ctx, agent, params }) {
    try {
      return ok(await acquireJob(ctx, agent, jobIn(params)))
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 423) throw error
      return { status: 423, body: { message: error.message }, headers: { 'Retry-After': '5' } }
    }
  },
})

const start = agentRoute({
  method: 'PUT',
  url: '/v3/jobs/:job/start',
  token: 'job',
  forks: 'own_job',
  async handler({ ctx, job }) {
    // An agent that did not get the answer repeats the request.
    if (job.state === 'running') return done()
    const { organizationId, buildId, id: jobId } = job
    const started = await act(ctx, organizationId, buildId, { type: 'start', jobId })
    if (started.ok) return done()
    await endUnstartable(ctx, organizationId, buildId, jobId)
    throw refused(`${started.message}.`)
  },
})

const getState = agentRoute({
  method: 'GET',
  url: '/v3/jobs/:job',
  token: 'job',
  forks: 'own_job',
  async handler({ job }) {
    const answer: JobStateResponse = { state: job.state }
    return ok(answer)
  },
})

const finish = agentRoute({
  method: 'PUT',
  url: '/v3/jobs/:job/finish',
  // An agent that did not get the answer repeats the request.
  token: 'ended_job',
  forks: 'own_job',
  isLast: true,
  body: FinishRequest,
  async handler({ ctx, job, body }) {
    const { last_chunk: chunk } = body
    if (chunk) {
      const { sequence, offset, gzip } = chunk
      const bytes = { body: Buffer.from(gzip, 'base64'), isGzip: true, isLast: true }
      await receiveChunk(ctx, job.organizationId, job.id, { sequence, offset, ...bytes })
    }
    await finishJob(ctx, job, body)
    ctx.agentActivity.deleteJobRequest(job.agent.id)
    return done()
  },
})

const update = agentRoute({
  method: 'PUT',
  url: '/v3/jobs/:job',
  token: 'job',
  forks: 'own_job',
  body: JobUpdateRequest,
  async handler({ ctx, job, body }) {
    if (!body.timeout) throw refused('Only the timeout of a job can be changed.')
    await setTimeoutMinutes(ctx, job, Number(body.timeout))
    const answer: JobUpdateResponse = { id: job.id }
    return ok(answer)
  },
})

const promiseFailure = agentRoute({
  method: 'PUT',
  url: '/v3/jobs/:job/promise_failure',
  token: 'job',
  forks: 'own_job',
  body: PromiseFailureRequest,
  async handler({ ctx, job, body: { exit_status: exitStatus, reason } }) {
    const promised = await act(ctx, job.organizationId, job.buildId, {
      type: 'promise',
      jobId: job.id,
      exitStatus,
      reason: reason ?? null,
    })
    if (promised.ok) return noContent()
    if (promised.reason !== 'already_promised') throw refused(`${promised.message}.`)
    const earlier = await findPromise(ctx, job)
    if (earlier === exitStatus) return noContent()
    throw conflict(`The job has already promised to fail with exit status ${earlier}.`)
  },
})

/**
 * Only an idle agent accepts jobs, and it abandons a refused one. A job with a recent request is alive nevertheless:
 * then the accept arrived late.
 */
async function endRefused(ctx: Context, agent: Agent, job: AgentJob): Promise<void> {
  if (isJobAlive(ctx, job)) return
  if (job.state === 'running') await loseJob(ctx, agent.organizationId, job)
  else await endUnstartable(ctx, agent.organizationId, job.buildId, job.id)
}

/** The agent abandons a job that it may not start and sends nothing more about it. */
async function endUnstartable(
  ctx: Context,
  organizationId: string,
  buildId: string,
  jobId: string,
): Promise<void> {
  await act(ctx, organizationId, buildId, { type: 'give_up_on_agent', jobId })
}

function jobIn({ job = '' }: Record<string, string>): string {
  if (!isUuid(job)) throw notFound('No job found')
  return job
}

/** Minutes from the start of the job; not more than the pipeline and the organization allow. */
async function setTimeoutMinutes(ctx: Context, job: RunningJob, minutes: number): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const { timeouts } = await findPipelineDefaults(trx, job.organizationId, job.pipelineId)
    const { pipelineMaximumMinutes, organizationMaximumMinutes } = timeouts
    const most = Math.min(pipelineMaximumMinutes ?? Infinity, organizationMaximumMinutes ?? Infinity)
    if (minutes > most) throw refused(`A job of this pipeline may run for at most ${most} minutes.`)
    const { rows } = await sql`
      update jobs set timeout_minutes = ${minutes}, deadline_at = started_at + make_interval(mins => ${minutes})
      where organization_id = ${job.organizationId} and id = ${job.id} and state = 'running' returning id`.execute(
      trx,
    )
    if (rows.length === 0) throw refused('Only the timeout of a running job can be changed.')
  })
}

async function findPromise(ctx: Context, job: RunningJob): Promise<number | null> {
  const found = await ctx.db
    .selectFrom('jobs')
    .select('promised_exit_status')
    .where('organization_id', '=', job.organizationId)
    .where('id', '=', job.id)
    .executeTakeFirst()
  return found?.promised_exit_status ?? null
}

export const jobApi = [accept, acquire, start, getState, finish, update, promiseFailure]
