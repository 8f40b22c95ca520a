// An agent takes a job: the one it was offered (accept), or one it names (acquire). Either can be repeated: an agent
// that did not hear the answer gets the same one again, with the same token.
import { sql } from 'kysely'
import type { JobState } from '@millrace/engine/states.ts'
import type { Job } from '@millrace/protocol/jobs.ts'
import { carryOut } from '../conductor/act.ts'
import { advanceIn, type FollowUp } from '../conductor/advance.ts'
import type { Context } from '../context.ts'
import type { Trx } from '../db/pool.ts'
import { inTransaction, violatedUnique } from '../db/transaction.ts'
import { ApiError, notFound, refused } from '../lib/errors.ts'
import { hashToken } from '../lib/ids.ts'
import { jobAnswer } from './job-answer.ts'
import type { Agent } from './tokens.ts'

interface TakenJob {
  buildId: string
  kind: string
  state: JobState
  agentId: string | null
}

export async function acceptJob(ctx: Context, agent: Agent, jobId: string): Promise<Job> {
  return take(ctx, agent, jobId, async (trx, job) => {
    if (job.agentId !== agent.id) throw refused('The job is not assigned to this agent.')
    if (job.state === 'accepted') return []
    return move(trx, ctx, agent, jobId, job, ['accept'])
  })
}

/** Tags do not matter: whoever names a job has chosen it. */
export async function acquireJob(ctx: Context, agent: Agent, jobId: string): Promise<Job> {
  return take(ctx, agent, jobId, async (trx, job) => {
    if (job.kind !== 'script') throw refused('Only command jobs run on agents.')
    if (agent.isHosted) throw refused('A hosted agent takes only the job it was started for.')
    if (job.agentId === agent.id && job.state === 'accepted') return []
    if (waiting.has(job.state)) throw new ApiError(423, `The job is ${job.state}; ask again when it can run.`)
    if (job.state !== 'scheduled' && job.state !== 'reserved') throw refused(`The job is ${job.state}.`)
    if (agent.job !== null) throw hasJob()
    await setAgent(trx, jobId, agent.id)
    return move(trx, ctx, agent, jobId, job, ['assign', 'accept'])
  })
}

const hasJob = () => refused('The agent has a job already.')

/** Something has to happen before the job can run. */
const waiting: ReadonlySet<JobState> = new Set(['pending', 'waiting', 'blocked', 'limiting', 'limited'])

async function take(
  ctx: Context,
  agent: Agent,
  jobId: string,
  decide: (trx: Trx, job: TakenJob) => Promise<FollowUp[]>,
): Promise<Job> {
  const token = jobToken(ctx, agent.id, jobId)
  const followUps = await inTransaction(ctx.db, async (trx) => {
    const job = await lockJob(trx, agent, jobId)
    if (job === undefined) throw notFound('No job found')
    const after = await decide(trx, job)
    await sql`update jobs set token_hash = ${hashToken(token)} where id = ${jobId}`.execute(trx)
    return after
  }).catch((error: unknown) => {
    throw violatedUnique(error) === 'jobs_on_agent_key' ? hasJob() : error
  })
  await carryOut(ctx, followUps)
  return jobAnswer(ctx, agent.organizationId, jobId, token)
}

async function move(
  trx: Trx,
  ctx: Context,
  { organizationId }: Agent,
  jobId: string,
  { buildId }: TakenJob,
  events: ReadonlyArray<'assign' | 'accept'>,
): Promise<FollowUp[]> {
  const followUps: FollowUp[] = []
  for (const type of events) {
    const advanced = await advanceIn(trx, ctx, organizationId, buildId, { type, jobId })
    if (!advanced.ok) throw refused(`${advanced.message}.`)
    followUps.push(...advanced.followUps)
  }
  return followUps
}

/** Only jobs of the agent's own cluster. The build is locked before its job, as everywhere. */
async function lockJob(trx: Trx, agent: Agent, jobId: string): Promise<TakenJob | undefined> {
  await sql`
    select from build_tallies t join jobs j on j.build_id = t.build_id
    where j.organization_id = ${agent.organizationId} and j.cluster_id = ${agent.clusterId} and j.id = ${jobId}
    for update of t`.execute(trx)
  const { rows } = await sql<TakenJob>`
    select build_id as "buildId", kind, state, agent_id as "agentId" from jobs
    where organization_id = ${agent.organizationId} and cluster_id = ${agent.clusterId} and id = ${jobId}
    for update`.execute(trx)
  return rows[0]
}

async function setAgent(trx: Trx, jobId: string, agentId: string): Promise<void> {
  await sql`update jobs set agent_id = ${agentId} where id = ${jobId}`.execute(trx)
}

/** Made from the keys of the installation, so that it need not be kept to be told again. */
function jobToken(ctx: Context, agentId: string, jobId: string): string {
  return `mrjt_${ctx.keys.sign('job token', `${jobId} ${agentId}`).toString('hex')}`
}
