// Trigger steps: jobs whose work is another build, the child. The child is created after the parent's commit. A unique
// index on the trigger job makes creating it idempotent.
import { sql } from 'kysely'
import type { BuildState } from '@millrace/engine/states.ts'
import type { BlockedState } from '@millrace/engine/steps/types.ts'
import type { TriggerWork } from '@millrace/engine/work.ts'
import { buildableBy, buildableWith } from '../auth/pipeline-access.ts'
import type { Context } from '../context.ts'
import { refusesData, violatedUnique } from '../db/transaction.ts'
import { advanceBuild, type FollowUp } from './advance.ts'
import type { Author, BuildRequest } from './build.ts'
import { createBuild } from './create-build.ts'

const deepestChain = 10

interface Parent {
  work: TriggerWork
  state: string
  build_id: string
  build_number: number
  message: string | null
  creator_id: string | null
  author: Author | null
  depth: number
  pipeline_id: string
  pipeline_slug: string
  cluster_id: string | null
}

export async function createChild(
  ctx: Context,
  { organizationId, buildId, jobId }: { organizationId: string; buildId: string; jobId: string },
): Promise<FollowUp[]> {
  const parent = await findParent(ctx, organizationId, jobId)
  if (parent === undefined) return []
  const child = await findOrCreateChild(ctx, organizationId, jobId, parent)
  const event = child.ok
    ? ({ type: 'child_created', jobId, buildId: child.buildId } as const)
    : ({ type: 'child_refused', jobId, message: child.message } as const)
  const advanced = await advanceBuild(ctx, organizationId, buildId, event)
  const parentFollowUps = advanced.ok ? advanced.followUps : []
  if (!child.ok) return parentFollowUps
  const childId = child.buildId
  // A parent that was canceled meanwhile refuses the event, and its child is canceled too.
  if (!advanced.ok) parentFollowUps.push({ kind: 'cancel_child', organizationId, childId })
  // The child may have finished before its parent had its id.
  return [
    ...parentFollowUps,
    ...child.followUps,
    { kind: 'report_to_parent', organizationId, childId, jobId },
  ]
}

type Child = { ok: true; buildId: string; followUps: FollowUp[] } | { ok: false; message: string }

async function findOrCreateChild(
  ctx: Context,
  organizationId: string,
  jobId: string,
  parent: Parent,
): Promise<Child> {
  const existing = await findChild(ctx, organizationId, jobId)
  if (existing !== undefined) return { ok: true, buildId: existing, followUps: [] }
  const target = await findTarget(ctx, organizationId, parent)
  if (typeof target === 'string') return { ok: false, message: target }
  try {
    const created = await createBuild(ctx, organizationId, requestOf(parent, jobId, target))
    if (created.ok) return { ok: true, buildId: created.buildId, followUps: created.followUps }
    return {
      ok: false,
      message: [created.message, ...(created.errors ?? []).map(({ code }) => code)].join(': '),
    }
  } catch (error) {
    if (violatedUnique(error) !== 'builds_triggered_from_key') {
      if (!refusesData(error)) throw error
      ctx.log.error({ err: error, job_id: jobId }, 'A triggered build cannot be stored.')
      return {
        ok: false,
        message: `The build cannot be stored: ${String(Reflect.get(Object(error), 'message'))}`,
      }
    }
    const other = await findChild(ctx, organizationId, jobId)
    if (other === undefined) throw error
    return { ok: true, buildId: other, followUps: [] }
  }
}

async function findTarget(
  ctx: Context,
  organizationId: string,
  parent: Parent,
): Promise<{ id: string; default_branch: string } | string> {
  // A build without a creator, such as one of a push, has the rights of its pipeline.
  const mayBuild =
    parent.creator_id === null ? buildableWith(parent.pipeline_id) : buildableBy(parent.creator_id)
  const { rows } = await sql<{
    id: string
    default_branch: string
    cluster_id: string | null
    is_allowed: boolean
    is_theirs: boolean
  }>`
    select p.id, p.default_branch, p.cluster_id, exists (
        select from rules r where r.organization_id = ${organizationId} and r.type = 'pipeline.trigger_build.pipeline'
          and r.source_pipeline_id = ${parent.pipeline_id} and r.target_pipeline_id = p.id) as is_allowed,
      ${mayBuild} as is_theirs
    from pipelines p where p.organization_id = ${organizationId} and p.slug = ${parent.work.pipeline}`.execute(
    ctx.db,
  )
  const [target] = rows
  // One answer for both cases, so that it does not reveal whether the pipeline exists.
  if (target === undefined || !target.is_theirs) {
    const who = parent.creator_id === null ? 'a team of this pipeline' : 'the creator of this build'
    return `There is no pipeline "${parent.work.pipeline}" that ${who} may build`
  }
  if (target.cluster_id !== parent.cluster_id && !target.is_allowed) {
    return `The pipeline "${parent.work.pipeline}" is in another cluster, and no rule allows triggering it from here`
  }
  if (parent.depth + 1 > deepestChain) return `Triggered builds may be at most ${deepestChain} deep`
  return target
}

const requestOf = (
  parent: Parent,
  jobId: string,
  target: { id: string; default_branch: string },
): BuildRequest => ({
  pipelineId: target.id,
  source: 'trigger_job',
  creatorId: parent.creator_id,
  author: parent.author,
  commit: parent.work.commit ?? 'HEAD',
  commitOrigin: 'own',
  branch: parent.work.branch ?? target.default_branch,
  tag: null,
  message: parent.work.message ?? parent.message,
  env: parent.work.env,
  metaData: parent.work.metaData,
  pullRequest: null,
  cleanCheckout: false,
  ignoreBranchFilters: false,
  rebuiltFrom: null,
  triggeredFrom: {
    build_id: parent.build_id,
    build_number: parent.build_number,
    build_pipeline_slug: parent.pipeline_slug,
    job_id: jobId,
    depth: parent.depth + 1,
  },
  dueAt: null,
})

async function findParent(ctx: Context, organizationId: string, jobId: string): Promise<Parent | undefined> {
  const { rows } = await sql<Parent>`
    select j.work, j.state, b.id as build_id, b.number as build_number, b.message, b.creator_id, b.author,
      coalesce((b.triggered_from ->> 'depth')::int, 0) as depth, p.id as pipeline_id, p.slug as pipeline_slug, p.cluster_id
    from jobs j join builds b on b.id = j.build_id join pipelines p on p.id = b.pipeline_id
    where j.organization_id = ${organizationId} and j.id = ${jobId} and j.kind = 'trigger'`.execute(ctx.db)
  return rows[0]
}

async function findChild(ctx: Context, organizationId: string, jobId: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from builds where organization_id = ${organizationId} and triggered_from_job_id = ${jobId}`.execute(
    ctx.db,
  )
  return rows[0]?.id
}

export async function cancelChild(
  ctx: Context,
  { organizationId, childId }: { organizationId: string; childId: string },
): Promise<FollowUp[]> {
  const reason = 'The build that triggered this one was canceled'
  const advanced = await advanceBuild(ctx, organizationId, childId, { type: 'cancel_build', reason })
  return advanced.ok ? advanced.followUps : []
}

/**
 * Reports the state of a child to its trigger job. A job that no longer waits for it refuses the event. A child that was
 * deleted with its pipeline counts as canceled.
 */
export async function reportToParent(
  ctx: Context,
  { organizationId, childId, jobId }: { organizationId: string; childId: string; jobId: string },
): Promise<FollowUp[]> {
  const { rows } = await sql<{
    state: BuildState
    blockedState: BlockedState | null
    isSuperseded: boolean
    parentId: string
  }>`
    select coalesce(b.state, 'canceled') as state, b.blocked_state as "blockedState",
      coalesce(b.is_superseded, false) as "isSuperseded", j.build_id as "parentId"
    from jobs j left join (builds b join pipelines p on p.id = b.pipeline_id) on b.id = ${childId}
    where j.organization_id = ${organizationId} and j.id = ${jobId}`.execute(ctx.db)
  const [found] = rows
  if (found === undefined) return []
  const { parentId, ...child } = found
  const event = { type: 'child_changed', jobId, ...child } as const
  const advanced = await advanceBuild(ctx, organizationId, parentId, event)
  return advanced.ok ? advanced.followUps : []
}
