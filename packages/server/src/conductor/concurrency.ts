// Concurrency groups span builds. Whenever a job of a group changes its state, the group's slots are decided again, under
// the group's own lock, which is always taken before the locks of the builds whose jobs may start.
import { sql } from 'kysely'
import { decideSlots, type QueuedJob, type SlotDecision } from '@millrace/engine/concurrency.ts'
import { Graph } from '@millrace/engine/plan/graph.ts'
import type { EdgeRow } from '@millrace/engine/rows.ts'
import type { Context } from '../context.ts'
import type { Trx } from '../db/pool.ts'
import { inTransaction } from '../db/transaction.ts'
import { advanceIn, type FollowUp } from './advance.ts'
import { listWithoutAgent } from './dispatch/eligible.ts'
import { lockBuild } from './load.ts'

/** Untrusted jobs have slots of their own, so that a fork cannot hold up a group that it names. */
export interface Group {
  organizationId: string
  group: string
  untrusted: boolean
}

type Queued = QueuedJob & { buildId: string; stepId: string; runnableAt: string | null }

export async function decideGroup(ctx: Context, group: Group): Promise<FollowUp[]> {
  return inTransaction(ctx.db, async (trx) => {
    const lock = `${group.untrusted ? 'untrusted ' : ''}${group.organizationId} ${group.group}`
    await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(trx)
    const queue = await loadQueue(trx, ctx, group)
    const decision = decideSlots(queue)
    const followUps =
      decision.release.length === 0
        ? await announce(trx, ctx, group, queue, decision)
        : await passSlotsOn(trx, ctx, group, queue, decision)
    // Starting jobs changes this group again, but its slots were decided just now.
    return followUps.filter((followUp) => followUp.kind !== 'decide_slots' || followUp.group !== group.group)
  })
}

/** Tells the builds of these jobs. */
async function announce(
  trx: Trx,
  ctx: Context,
  { organizationId }: Group,
  queue: readonly Queued[],
  { start = [], wait = [], release = [] }: Partial<SlotDecision>,
): Promise<FollowUp[]> {
  const followUps: FollowUp[] = []
  for (const buildId of buildsOf(queue, [...start, ...wait, ...release])) {
    const own = new Set(queue.filter((job) => job.buildId === buildId).map(({ id }) => id))
    const ofBuild = (ids: readonly string[]) => ids.filter((id) => own.has(id))
    const advanced = await advanceIn(trx, ctx, organizationId, buildId, {
      type: 'slots_decided',
      start: ofBuild(start),
      wait: ofBuild(wait),
      release: ofBuild(release),
    })
    if (!advanced.ok) throw new Error(`Jobs of a concurrency group could not start: ${advanced.message}`)
    followUps.push(...advanced.followUps)
  }
  return followUps
}

/** An agent may take a job while it is released. Then no other job starts, and the next sweep decides again. */
async function passSlotsOn(
  trx: Trx,
  ctx: Context,
  group: Group,
  queue: readonly Queued[],
  { start, wait, release }: SlotDecision,
): Promise<FollowUp[]> {
  for (const id of buildsOf(queue, [...start, ...wait, ...release])) {
    await lockBuild(trx, group.organizationId, id)
  }
  const released = await announce(trx, ctx, group, queue, { release })
  const { rows } = await sql`
    select from jobs where organization_id = ${group.organizationId} and id = any (${release}::uuid[])
      and state <> 'limited'`.execute(trx)
  const started = await announce(trx, ctx, group, queue, { start: rows.length === 0 ? start : [], wait })
  return [...released, ...started]
}

/** In the order in which builds are locked. */
function buildsOf(queue: readonly Queued[], jobIds: readonly string[]): string[] {
  const wanted = new Set(jobIds)
  return [...new Set(queue.filter(({ id }) => wanted.has(id)).map(({ buildId }) => buildId))].sort()
}

async function loadQueue(trx: Trx, ctx: Context, group: Group): Promise<Queued[]> {
  const { rows } = await sql<Queued>`
    select j.id, j.build_id as "buildId", j.step_id as "stepId", j.state, j.concurrency_limit as "limit",
      j.concurrency_method as method, j.priority, j.runnable_at as "runnableAt", true as "hasAgent", '{}'::text[] as "waitsFor"
    from jobs j join builds b on b.id = j.build_id
    where j.organization_id = ${group.organizationId} and j.concurrency_group = ${group.group}
      and j.untrusted = ${group.untrusted} and j.finished_at is null and j.retried_in_job_id is null
    order by j.scheduled_at, b.created_at, j.build_id, j.position, j.id`.execute(trx)
  return addDependencies(trx, await addAgents(trx, ctx, group, rows))
}

const isReady = ({ state }: Queued) => state === 'limiting' || state === 'limited'

/** Agents are looked at only where a job has had its slot for so long that others may get it. */
async function addAgents(
  trx: Trx,
  { now, config }: Context,
  { organizationId }: Group,
  queue: Queued[],
): Promise<Queued[]> {
  const before = now().getTime() - config.timers.acceptSeconds * 1000
  const isOverdue = ({ state, runnableAt }: Queued) =>
    state === 'scheduled' && runnableAt !== null && Date.parse(runnableAt) <= before
  const overdue = queue.filter(isOverdue)
  const ready = queue.filter(isReady).slice(0, mostLookedAt)
  if (overdue.length === 0 || ready.length === 0) return queue
  const ids = [...overdue, ...ready].map(({ id }) => id)
  const without = await listWithoutAgent(trx, organizationId, ids)
  return queue.map((job) => (without.has(job.id) ? { ...job, hasAgent: false } : job))
}

const mostLookedAt = 200

/**
 * Adds which jobs of the queue a waiting one depends on. This matters only where the waiting one is in front of a job of
 * its own build that could start, which happens when steps depend on later ones.
 */
async function addDependencies(trx: Trx, queue: Queued[]): Promise<Queued[]> {
  const lastReady = new Map(
    queue.flatMap((job, index) => (isReady(job) ? [[job.buildId, index] as const] : [])),
  )
  const isInFront = (job: Queued, index: number) =>
    job.state === 'waiting' && index < (lastReady.get(job.buildId) ?? -1)
  const builds = [...new Set(queue.filter(isInFront).map(({ buildId }) => buildId))]
  if (builds.length === 0) return queue
  const { graph, adrift } = await loadWaiting(trx, builds)
  const ready = queue.filter((job) => isReady(job) && builds.includes(job.buildId))
  const behind = new Map(ready.map(({ stepId }) => [stepId, graph.behind([stepId])]))
  return queue.map((job, index) => {
    if (!isInFront(job, index)) return job
    const isSource = (other: Queued) =>
      other.buildId === job.buildId &&
      (adrift.has(job.stepId) || behind.get(other.stepId)?.has(job.stepId) === true)
    return { ...job, waitsFor: ready.filter(isSource).map(({ id }) => id) }
  })
}

/** The waiting steps and their edges, and the steps that wait for a key which no step has defined yet. */
async function loadWaiting(
  trx: Trx,
  builds: readonly string[],
): Promise<{ graph: Graph; adrift: Set<string> }> {
  const graph = new Graph()
  const { rows: steps } = await sql<Parameters<Graph['addStep']>[0] & { isAdrift: boolean }>`
    select id, kind, uploader_id as "uploaderId", group_id as "groupId", missing > 0 and phase = 'waiting' as "isAdrift"
    from build_steps where build_id = any (${builds}::uuid[])`.execute(trx)
  const { rows: edges } = await sql<EdgeRow>`
    select e.from_step as "from", e.to_step as "to", e.kind, e.allow_failure as "allowFailure", e.whole
    from build_steps s join build_edges e on e.to_step = s.id
    where s.build_id = any (${builds}::uuid[]) and s.phase = 'waiting'`.execute(trx)
  for (const step of steps) graph.addStep(step)
  for (const edge of edges) graph.addEdge(edge)
  return { graph, adrift: graph.behind(steps.filter(({ isAdrift }) => isAdrift).map(({ id }) => id)) }
}
