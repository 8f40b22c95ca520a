// An agent takes a job: the one it was offered (accept), or one it names (acquire). Both are idempotent: an
// agent that did not get the answer gets the same one again, with the same token.
import { sql } from 'kysely'
import type { JobState } from '@millrace/engine/states.ts'
import type { Job } from '@millrace/protocol/jobs.ts'
import { carryOut } from '../../conductor/act.ts'
import { apply, type FollowUp } from '../../conductor/advance.ts'
import { acceptAssigned } from '../../conductor/dispatch/assign.ts'
import { jobToken } from '../../conductor/job-token.ts'
import { lockBuild } from '../../conductor/load.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { defer, batch } from '../../db/batch.ts'
import { inTransaction, violatedUnique } from '../../db/transaction.ts'
import { ApiError, notFound, refused } from '../../lib/errors.ts'
import { jobAnswer } from './job-answer.ts'
import type { Agent } from '../tokens.ts'

interface TakenJob {
  buildId: string
  kind: string
  state: JobState
  agentId: string | null
}

export async function acceptJob(ctx: Context, agent: Agent, jobId: string): Promise<Job> {
  const token = jobToken(ctx, agent.id, jobId)
  const answer = answerMeanwhile(ctx, agent, jobId, token)
  if (await acceptAssigned(ctx, agent, jobId)) return answer
  await moveJob(ctx, agent, jobId, (job) => {
    if (job.agentId !== agent.id) throw refused('The job is not assigned to this agent.')
    return job.state === 'accepted' || isRepeated(agent, job) ? [] : ['accept']
  })
  return answer
}

/** Accepts and starts in one request. */
export async function acceptAndStart(ctx: Context, agent: Agent, jobId: string): Promise<Job> {
  const token = jobToken(ctx, agent.id, jobId)
  const answer = answerMeanwhile(ctx, agent, jobId, token)
  await moveJob(ctx, agent, jobId, (job) => {
    if (job.agentId !== agent.id) throw refused('The job is not assigned to this agent.')
    return isRepeated(agent, job) ? [] : ['start']
  })
  return { ...(await answer), state: 'running' }
}

/**
 * An agent that lost an answer accepts a job that runs already. It may run the job as long as there was no request with
 * the job's token since its start: the token is in the answer, so a job that sent a request may have run.
 */
const isRepeated = (agent: Agent, job: TakenJob): boolean =>
  job.state === 'running' && (agent.job?.heardAt ?? null) === null

/** The answer does not depend on anything that accepting changes, so both run concurrently. */
function answerMeanwhile(ctx: Context, agent: Agent, jobId: string, token: string): Promise<Job> {
  const answer = jobAnswer(ctx, agent.organizationId, jobId, token)
  // Where the job is refused, nothing awaits the answer, and its failure must not end the process.
  answer.catch(() => {})
  return answer
}

/** Tags do not matter, because the request names the job. */
export async function acquireJob(ctx: Context, agent: Agent, jobId: string): Promise<Job> {
  await moveJob(ctx, agent, jobId, (job) => {
    if (job.kind !== 'script') throw refused('Only command jobs run on agents.')
    if (agent.isHosted) throw refused('A hosted agent takes only the job it was started for.')
    if (job.agentId === agent.id && job.state === 'accepted') return []
    if (waiting.has(job.state)) throw new ApiError(423, `The job is ${job.state}; ask again when it can run.`)
    if (job.state !== 'scheduled' && job.state !== 'reserved') throw refused(`The job is ${job.state}.`)
    if (agent.job !== null) throw hasJob()
    return ['assign', 'accept']
  })
  return jobAnswer(ctx, agent.organizationId, jobId, jobToken(ctx, agent.id, jobId))
}

const hasJob = () => refused('The agent has a job already.')

/** States of jobs that cannot run yet. */
const waiting: ReadonlySet<JobState> = new Set(['pending', 'waiting', 'blocked', 'limiting', 'limited'])

type Move = 'assign' | 'accept' | 'start'

/** `decide` returns the events for the job; none: the request is repeated. */
async function moveJob(
  ctx: Context,
  agent: Agent,
  jobId: string,
  decide: (job: TakenJob) => readonly Move[],
): Promise<void> {
  const followUps = await inTransaction(ctx.db, async (trx) => {
    // The build of an offered job is known already.
    const offered = agent.job?.id === jobId ? agent.job : null
    const known = offered && (await lockBuild(trx, agent.organizationId, offered.buildId, jobId))
    const job = known?.job ? { ...known.job, buildId: known.build.id } : await lockJob(trx, agent, jobId)
    if (job === undefined) throw notFound('No job found')
    const moves = decide(job)
    const assign =
      job.agentId === agent.id ? [] : [sql`update jobs set agent_id = ${agent.id} where id = ${jobId}`]
    if (moves.length === 0) {
      await defer(trx, assign)
      return []
    }
    let locked = known ?? (await lockBuild(trx, agent.organizationId, job.buildId, jobId))
    if (locked === undefined) throw notFound('No job found')
    const after: FollowUp[] = []
    for (const [index, type] of moves.entries()) {
      const first = () => (index === 0 ? assign : [])
      const advanced = await apply(trx, ctx, locked, { type, jobId }, first)
      if (!advanced.ok) throw refused(`${advanced.message}.`)
      after.push(...advanced.followUps)
      locked = { scope: locked.scope, build: advanced.build, rows: advanced.rows }
    }
    return after
  }).catch((error: unknown) => {
    throw violatedUnique(error) === 'jobs_on_agent_key' ? hasJob() : error
  })
  await carryOut(ctx, followUps)
}

/** Only jobs of the agent's own cluster. The build is locked before its job, as everywhere. */
async function lockJob(trx: Trx, agent: Agent, jobId: string): Promise<TakenJob | undefined> {
  const isIt = sql`j.organization_id = ${agent.organizationId} and j.cluster_id = ${agent.clusterId} and j.id = ${jobId}`
  const [, jobs] = await batch(trx, [
    sql`select from build_tallies t join jobs j on j.build_id = t.build_id where ${isIt} for update of t`,
    sql<TakenJob>`
      select j.build_id as "buildId", j.kind, j.state, j.agent_id as "agentId"
      from jobs j where ${isIt} for update`,
  ])
  return jobs[0]
}
