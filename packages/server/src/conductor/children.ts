// Trigger steps: a job whose work is another build. The child is made after the parent's commit, and the unique
// index on the job it came from makes doing so twice the same as doing it once.
import { sql } from 'kysely'
import type { BuildState } from '@millrace/engine/states.ts'
import type { BlockedState } from '@millrace/engine/steps/types.ts'
import type { TriggerWork } from '@millrace/engine/work.ts'
import { buildableBy, buildableWith } from '../auth/pipeline-access.ts'
import type { Context } from '../context.ts'
import { refusesData, violatedUnique } from '../db/transaction.ts'
import { advanceBuild, type FollowUp } from './advance.ts'
import { createBuild, type Author, type BuildRequest } from './create-build.ts'

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
  const made = await makeChild(ctx, organizationId, jobId, parent)
  const event = made.ok
    ? ({ type: 'child_created', jobId, buildId: made.buildId } as const)
    : ({ type: 'child_refused', jobId, message: made.message } as const)
  const told = await advanceBuild(ctx, organizationId, buildId, event)
  // A parent that was canceled meanwhile refuses; its child must then go too.
  const orphan: FollowUp[] =
    made.ok && !told.ok ? [{ kind: 'cancel_child', organizationId, childId: made.buildId }] : []
  // The child may have ended before its parent knew of it.
  const news: FollowUp[] = made.ok
    ? [{ kind: 'tell_parent', organizationId, childId: made.buildId, jobId }]
    : []
  return [...(told.ok ? told.followUps : orphan), ...(made.ok ? made.followUps : []), ...news]
}

type Made = { ok: true; buildId: string; followUps: FollowUp[] } | { ok: false; message: string }

async function makeChild(ctx: Context, organizationId: string, jobId: string, parent: Parent): Promise<Made> {
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
  // A build that nobody of the organization made, such as one of a push, has only its pipeline to speak for it.
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
  // The same for both, because who may not know of a pipeline must not learn of it here.
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
 * Tells the trigger job how its child stands now. A job that no longer waits for it refuses, which is right. A child
 * that went with its pipeline counts as canceled.
 */
export async function tellParent(
  ctx: Context,
  { organizationId, childId, jobId }: { organizationId: string; childId: string; jobId: string },
): Promise<FollowUp[]> {
  const { rows } = await sql<{
    state: BuildState
    blocked_state: BlockedState | null
    is_superseded: boolean
    parent_id: string
  }>`
    select coalesce(b.state, 'canceled') as state, b.blocked_state, coalesce(b.is_superseded, false) as is_superseded,
      j.build_id as parent_id
    from jobs j left join (builds b join pipelines p on p.id = b.pipeline_id) on b.id = ${childId}
    where j.organization_id = ${organizationId} and j.id = ${jobId}`.execute(ctx.db)
  const [child] = rows
  if (child === undefined) return []
  const advanced = await advanceBuild(ctx, organizationId, child.parent_id, {
    type: 'child_changed',
    jobId,
    state: child.state,
    blockedState: child.blocked_state,
    isSuperseded: child.is_superseded,
  })
  return advanced.ok ? advanced.followUps : []
}
