import { sql } from 'kysely'
import { supersededBy, type BranchBuild } from '@millrace/engine/intermediate.ts'
import type { Context } from '../context.ts'
import { advanceBuild, type FollowUp } from './advance.ts'
import { endSuperseding } from './superseding.ts'

interface Newest {
  id: string
  number: number
  branch: string
  isForMergeQueue: boolean
  pipeline_id: string
  skipQueued: boolean
  skipQueuedFilter: string | null
  cancelRunning: boolean
  cancelRunningFilter: string | null
  /** That of its row in `superseding_builds`. */
  version: number | null
}

const isForMergeQueue = sql`coalesce(b.host_event -> 'mergeQueue' <> 'null', false)`

/** Skips or cancels the older builds of a branch when a new one starts, as the pipeline's settings say. */
export async function supersede(
  ctx: Context,
  { organizationId, buildId }: { organizationId: string; buildId: string },
): Promise<FollowUp[]> {
  const { rows } = await sql<Newest>`
    select b.id, b.number, b.branch, ${isForMergeQueue} as "isForMergeQueue", b.pipeline_id,
      p.skip_queued_branch_builds as "skipQueued", p.skip_queued_branch_builds_filter as "skipQueuedFilter",
      p.cancel_running_branch_builds as "cancelRunning", p.cancel_running_branch_builds_filter as "cancelRunningFilter",
      s.version
    from builds b join pipelines p on p.id = b.pipeline_id left join superseding_builds s on s.build_id = b.id
    where b.organization_id = ${organizationId} and b.id = ${buildId}`.execute(ctx.db)
  const [newest] = rows
  if (newest === undefined) return []
  const { rows: older } = await sql<BranchBuild>`
    select b.id, b.number, b.branch, b.state, ${isForMergeQueue} as "isForMergeQueue" from builds b
    where pipeline_id = ${newest.pipeline_id} and branch = ${newest.branch} and number < ${newest.number}
      and state in ('creating', 'scheduled', 'running', 'failing', 'blocked')
    order by number`.execute(ctx.db)
  const { skip, cancel } = supersededBy(newest, older, newest)
  const followUps: FollowUp[] = []
  for (const id of skip) followUps.push(...(await end(ctx, organizationId, id, { type: 'skip_build' })))
  const reason = `Build #${newest.number} on ${newest.branch} took its place`
  for (const id of cancel)
    followUps.push(...(await end(ctx, organizationId, id, { type: 'cancel_build', reason })))
  if (newest.version !== null) await endSuperseding(ctx.db, { ...newest, version: newest.version })
  return followUps
}

/** A build whose state has changed meanwhile refuses the event and stays as it is. */
async function end(
  ctx: Context,
  organizationId: string,
  buildId: string,
  event: { type: 'skip_build' } | { type: 'cancel_build'; reason: string },
): Promise<FollowUp[]> {
  if (event.type === 'cancel_build') {
    await sql`update builds set is_superseded = true where organization_id = ${organizationId} and id = ${buildId}`.execute(
      ctx.db,
    )
  }
  const advanced = await advanceBuild(ctx, organizationId, buildId, event)
  return advanced.ok ? advanced.followUps : []
}
