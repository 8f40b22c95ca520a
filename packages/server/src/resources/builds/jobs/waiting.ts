// Why a job has not started: a code for programs, a sentence for people, and what it waits for.
import { edgeTallyOf } from '@millrace/engine/dependencies.ts'
import { stepStateOf } from '@millrace/engine/outcome.ts'
import { isFinal, JOB_STATES, shownJobState, type JobState } from '@millrace/engine/states.ts'
import type { Organization } from '../../../auth/caller.ts'
import type { Context, RequestContext } from '../../../context.ts'
import { estimateQueue, noEstimate } from '../../../conductor/estimates/estimate-queue.ts'
import { findTurn } from '../../../conductor/dispatch/fair-order.ts'
import { queueKey } from '../../../conductor/insert-jobs.ts'
import { notFound } from '../../../lib/errors.ts'
import { ownArchitecture, readShape } from '../../clusters/queues/rules.ts'
import { notInQueue, presentEstimate, type EstimateWire } from '../../job/estimate.ts'
import { comingFirst, judgeScheduled, listed } from '../../job/waiting-reason.ts'
import { presentUserOrNull } from '../../people/user/present.ts'
import type { JobAddress } from '../../addresses/jobs.ts'
import { judgeHosted, type HostedFacts } from './hosted-rules.ts'
import type { WaitingWire } from './schema.ts'
import * as waiting from './waiting-queries.ts'

type On = WaitingWire['waiting_on'][number]
type Explained = Pick<WaitingWire, 'code' | 'reason'> & Partial<WaitingWire>

const mostListed = 100

export async function explainWaiting(
  { ctx, org, caller }: RequestContext,
  { id }: Pick<JobAddress, 'id'>,
): Promise<WaitingWire> {
  const job = await waiting.findWaiting(ctx.db, org.id, id)
  const state = JOB_STATES.find((name) => name === job?.state)
  if (job === undefined || state === undefined) throw notFound('No job found')
  const { waiting_on = [], ...explained } = await explain({ ctx, org, caller }, job, state)
  return {
    state: shownJobState(state),
    concurrency: null,
    queue: null,
    agent_query_rules: job.agent_query_rules,
    jobs_ahead: null,
    eligible_agents: null,
    ...notInQueue,
    ...explained,
    waiting_on: waiting_on.slice(0, mostListed),
  }
}

function explain(
  { ctx, org, caller }: RequestContext,
  job: waiting.WaitingJob,
  state: JobState,
): Promise<Explained> {
  if (state === 'pending' || state === 'waiting') return explainSteps(ctx, org, job)
  if (state === 'blocked') return explainBlocked(ctx, org, job)
  if (state === 'limiting' || state === 'limited') return explainGroup({ ctx, org, caller }, job)
  if (state === 'scheduled' || state === 'reserved') return explainQueue(ctx, org, job)
  const shown = shownJobState(state).replaceAll('_', ' ')
  const reason = isFinal(state)
    ? `The job has ended: it is ${shown}.`
    : `The job does not wait: it is ${shown}.`
  return Promise.resolve({ code: 'not_waiting', reason })
}

async function explainSteps({ db }: Context, org: Organization, job: waiting.WaitingJob): Promise<Explained> {
  const sources = await waiting.listSources(db, org.id, job.step_id)
  const unmet = sources.filter((step) => edgeTallyOf(step, step.edge).unmet > 0)
  const steps = [...new Map(unmet.map((step) => [step.id, step])).values()].map((step): On => ({
    type: 'step',
    id: step.id,
    key: step.key,
    name: step.name,
    state: stepStateOf(step),
    url: null,
  }))
  const keys = (await waiting.listMissingKeys(db, org.id, job.step_id)).map((key): On => ({
    type: 'key',
    id: null,
    key,
    name: null,
    state: null,
    url: null,
  }))
  const parts = [
    ...steps.map(
      ({ name, key, state }) => `${quoted(name ?? key, 'a step')} (${String(state).replaceAll('_', ' ')})`,
    ),
    ...keys.map(({ key }) => `the key "${key}", which no step has yet`),
  ]
  return {
    code: 'waiting_on_steps',
    reason: `The job waits for ${listed(parts) || 'the steps in front of it'}.`,
    waiting_on: [...steps, ...keys],
  }
}

async function explainBlocked(ctx: Context, org: Organization, job: waiting.WaitingJob): Promise<Explained> {
  if (job.unblockable) return { code: 'blocked_by', reason: 'The job waits for somebody to unblock it.' }
  const blocks = await waiting.listBlocks(ctx.db, org.id, job.build_id, job.step_id)
  if (blocks.length === 0) return explainSteps(ctx, org, job)
  const next = blocks.filter(({ unblockable }) => unblockable)
  const names = (next.length > 0 ? next : blocks).map(({ name, step_key }) =>
    quoted(name ?? step_key, 'a block step'),
  )
  return {
    code: 'blocked_by',
    reason: `The job waits for somebody to unblock ${listed(names)}.`,
    waiting_on: blocks.map((block) => ({
      type: 'block',
      id: block.id,
      key: block.step_key,
      name: block.name,
      state: 'blocked',
      url: `${ctx.config.url}/v2/organizations/${org.slug}/jobs/${block.id}`,
    })),
  }
}

async function explainGroup(
  { ctx, org, caller }: RequestContext,
  job: waiting.WaitingJob,
): Promise<Explained> {
  const [group, limit] = [job.concurrency_group ?? '', job.concurrency_limit ?? 1]
  const holders = await waiting.listSlotHolders(ctx.db, org, caller, job)
  const ahead = await waiting.countAheadInGroup(ctx.db, org.id, job.id)
  const path = `${ctx.config.url}/v2/organizations/${org.slug}/pipelines`
  const seen = holders.filter(({ is_visible }) => is_visible)
  const where = seen.map((holder) => `${holder.pipeline_slug} #${holder.build_number}`)
  const held = where.length === 0 ? '' : ` by ${listed([...new Set(where)])}`
  return {
    code: 'concurrency_group',
    reason: `The job waits for its turn in the concurrency group "${group}"${job.untrusted ? ' of forks' : ''}: ${holders.length} of ${limit} slots are held${held}, and ${comingFirst(ahead)}.`,
    concurrency: { group, limit, method: job.concurrency_method ?? 'ordered', held: holders.length },
    jobs_ahead: ahead,
    ...(await estimateInGroup(ctx, org, job)),
    waiting_on: seen.map((holder) => ({
      type: 'job',
      id: holder.id,
      key: holder.step_key,
      name: holder.name,
      state: holder.state,
      url: `${path}/${holder.pipeline_slug}/builds/${holder.build_number}/jobs/${holder.id}`,
    })),
  }
}

async function estimateInGroup(
  { db, now }: Context,
  org: Organization,
  { id, queue_id: queueId, agent_query_rules: rules }: waiting.WaitingJob,
): Promise<EstimateWire> {
  if (queueId === null) return notInQueue
  const estimates = await estimateQueue(db, { organizationId: org.id, queueId }, now(), id)
  const eligible = await waiting.countEligibleAgents(db, org.id, queueId, rules)
  return presentEstimate(estimates.of(id, eligible))
}

async function explainQueue(ctx: Context, org: Organization, job: waiting.WaitingJob): Promise<Explained> {
  const queue = job.queue_id === null ? undefined : await waiting.findQueue(ctx.db, org.id, job.queue_id)
  if (queue === undefined) return { code: 'no_queue', reason: noQueue(job) }
  const { instance_shape: shape, fair_by: fairBy, ...seen } = queue
  if (shape !== null && queue.dispatch_paused_at === null)
    return explainHosted(ctx, org, job, { ...seen, shape })
  const turn = fairBy === 'none' ? undefined : await findTurn(ctx.db, org.id, queue.id, job.id)
  const jobsAhead = turn?.jobsAhead ?? (await waiting.countAheadInQueue(ctx.db, org.id, job.id))
  const eligibleAgents = await waiting.countEligibleAgents(ctx.db, org.id, queue.id, job.agent_query_rules)
  const estimates = await estimateQueue(ctx.db, { organizationId: org.id, queueId: queue.id }, ctx.now())
  const estimate = estimates.of(job.id, eligibleAgents)
  const shown = { ...seen, dispatch_paused_by: presentUserOrNull(ctx.config.url, queue.dispatch_paused_by) }
  return {
    ...judgeScheduled({
      queue: shown,
      rules: job.agent_query_rules,
      jobsAhead,
      eligibleAgents,
      turn: turn && { ...turn, fairBy },
    }),
    queue: shown,
    jobs_ahead: jobsAhead,
    eligible_agents: eligibleAgents,
    ...presentEstimate(estimate),
  }
}

async function explainHosted(
  ctx: Context,
  org: Organization,
  job: waiting.WaitingJob,
  { shape, ...queue }: Omit<waiting.QueueOfJob, 'instance_shape' | 'fair_by'> & { shape: string },
): Promise<Explained> {
  const { hosted } = ctx.config
  const facts: HostedFacts = {
    queueKey: queue.key,
    shape: readShape(shape),
    rules: job.agent_query_rules,
    engine: hosted === null ? null : { architecture: ownArchitecture, mostCpus: hosted.mostCpus },
    agent: await waiting.findHostedAgent(ctx.db, org.id, job.id),
    readyImages: await waiting.listReadyImages(ctx.db, org.id, job.cluster_id),
  }
  return {
    ...judgeHosted(facts),
    queue: { ...queue, dispatch_paused_by: null },
    jobs_ahead: await waiting.countAheadInQueue(ctx.db, org.id, job.id),
    eligible_agents: 0,
    ...presentEstimate(noEstimate('on_demand')),
  }
}

function noQueue({ cluster_id, agent_query_rules }: waiting.WaitingJob): string {
  if (cluster_id === null) return 'The pipeline belongs to no cluster, so no agent can take its jobs.'
  const key = queueKey(agent_query_rules)
  return key === null
    ? 'The job names no queue, and the cluster has no default queue.'
    : `The cluster has no queue "${key}".`
}

const quoted = (name: string | null, otherwise: string) => (name === null ? otherwise : `"${name}"`)
