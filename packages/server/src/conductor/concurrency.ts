// Concurrency groups span builds. Whenever a job of a group changes its state, the group's slots are decided again, under
// the group's own lock, which is always taken before the locks of the builds whose jobs may start.
import { sql } from 'kysely'
import { decideSlots, type QueuedJob } from '@millrace/engine/concurrency.ts'
import { Graph } from '@millrace/engine/plan/graph.ts'
import type { EdgeRow } from '@millrace/engine/rows.ts'
import type { Context } from '../context.ts'
import type { Trx } from '../db/pool.ts'
import { inTransaction } from '../db/transaction.ts'
import { advanceIn, type FollowUp } from './advance.ts'

type Queued = QueuedJob & { buildId: string; stepId: string }

export async function decideGroup(ctx: Context, organizationId: string, group: string): Promise<FollowUp[]> {
  return inTransaction(ctx.db, async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`${organizationId} ${group}`}, 0))`.execute(trx)
    const queue = await loadQueue(trx, organizationId, group)
    const { start, wait } = decideSlots(queue)
    const buildOf = new Map(queue.map(({ id, buildId }) => [id, buildId]))
    const builds = new Set([...start, ...wait].map((id) => buildOf.get(id) ?? ''))
    const followUps: FollowUp[] = []
    for (const buildId of [...builds].sort()) {
      const isHere = (jobId: string) => buildOf.get(jobId) === buildId
      const event = { type: 'slots_decided' as const, start: start.filter(isHere), wait: wait.filter(isHere) }
      const advanced = await advanceIn(trx, ctx, organizationId, buildId, event)
      if (!advanced.ok) throw new Error(`Jobs of a concurrency group could not start: ${advanced.message}`)
      followUps.push(...advanced.followUps)
    }
    // Starting jobs changes this group again, but its slots were decided just now.
    return followUps.filter((followUp) => followUp.kind !== 'decide_slots' || followUp.group !== group)
  })
}

async function loadQueue(trx: Trx, organizationId: string, group: string): Promise<Queued[]> {
  const { rows } = await sql<Queued>`
    select j.id, j.build_id as "buildId", j.step_id as "stepId", j.state, j.concurrency_limit as "limit",
      j.concurrency_method as method, j.priority, '{}'::text[] as "waitsFor"
    from jobs j join builds b on b.id = j.build_id
    where j.organization_id = ${organizationId} and j.concurrency_group = ${group} and j.finished_at is null
      and j.retried_in_job_id is null
    order by j.scheduled_at, b.created_at, j.build_id, j.position, j.id`.execute(trx)
  return addDependencies(trx, rows)
}

/**
 * Adds which jobs of the queue a waiting one depends on. This matters only where the waiting one is in front of a job of
 * its own build that could start, which happens when steps depend on later ones.
 */
async function addDependencies(trx: Trx, queue: Queued[]): Promise<Queued[]> {
  const isReady = ({ state }: Queued) => state === 'limiting' || state === 'limited'
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
