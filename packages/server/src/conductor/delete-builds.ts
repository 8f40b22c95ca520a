// Deletes builds. The jobs of a deleted pipeline are canceled in the pipeline's transaction; the rows are deleted later, in
// small batches. Until then no endpoint shows them, because all of them find builds through the pipeline. Retention chooses
// other builds, and deletes them here.
import { sql } from 'kysely'
import type { Context } from '../context.ts'
import type { Db, Trx } from '../db/pool.ts'
import { defer } from '../db/batch.ts'
import { inTransaction } from '../db/transaction.ts'
import { publishAgentsOf } from '../events/agents.ts'
import { eachRowApart, mayBeTried } from '../db/each-row.ts'
import type { FollowUp } from './advance.ts'
import { wakeAgent } from './dispatch/wake.ts'

/** Runs in the transaction that deletes the pipeline, after its row, so that no build can be added any more. */
export async function stopBuilds(
  trx: Trx,
  at: string,
  organizationId: string,
  pipelineId: string,
): Promise<FollowUp[]> {
  // Waits for transactions that change one of these builds. Later ones find no pipeline and stop.
  await sql`
    select from build_tallies where build_id in (${openBuilds(pipelineId)}) order by build_id for update`.execute(
    trx,
  )
  const { rows } = await sql<{
    id: string
    group: string | null
    untrusted: boolean
    agent_id: string | null
  }>`
    update jobs set state = 'canceled', finished_at = ${at}, deadline_at = null
    where build_id in (${openBuilds(pipelineId)}) and finished_at is null
    returning id, concurrency_group as "group", untrusted, agent_id`.execute(trx)
  const onAgents = rows.filter(({ agent_id }) => agent_id !== null).map(({ id }) => id)
  if (onAgents.length > 0) await defer(trx, [publishAgentsOf(onAgents, at)])
  for (const agentId of new Set(rows.flatMap(({ agent_id }) => agent_id ?? []))) await wakeAgent(trx, agentId)
  return [false, true].flatMap((untrusted) => {
    const groups = rows.flatMap((job) => (job.untrusted === untrusted ? (job.group ?? []) : []))
    return [...new Set(groups)].map((group): FollowUp => ({
      kind: 'decide_slots',
      organizationId,
      group,
      untrusted,
    }))
  })
}

const openBuilds = (pipelineId: string) => sql`
  select id from builds where pipeline_id = ${pipelineId}
    and state in ('creating', 'scheduled', 'running', 'failing', 'blocked')
  union all
  select id from builds where pipeline_id = ${pipelineId} and shown_state = 'canceling'`

const mostMs = 5000
const mostBuilds = 200
/** All rows of a build's jobs are deleted with it. */
const mostJobs = 2000

export const hasDeletedPipelines = sql<boolean>`
  exists (select from removed_pipelines r where ${mayBeTried('builds_deleted', sql`r.pipeline_id::text`)})`

/** Continues where the last run stopped, and stops after `mostMs`. */
export async function deleteBuilds(ctx: Context): Promise<void> {
  const until = performance.now() + mostMs
  const { rows } = await sql<{ pipeline_id: string }>`
    select pipeline_id from removed_pipelines order by removed_at`.execute(ctx.db)
  const isOver = () => performance.now() > until
  await eachRowApart(
    ctx,
    'builds_deleted',
    rows,
    ({ pipeline_id: id }) => id,
    async ({ pipeline_id: id }) => {
      while (isOver() || (await deleteSome(ctx.db, id))) if (isOver()) return
      while (await deleteArchives(ctx.db, id)) if (isOver()) return
      // Its runs went with the builds.
      await sql`delete from test_suites where pipeline_id = ${id}`.execute(ctx.db)
      await sql`delete from removed_pipelines where pipeline_id = ${id}`.execute(ctx.db)
    },
  )
}

/** The newest first. False: none is left. */
async function deleteSome(db: Db, pipelineId: string): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql`
      delete from builds where id in (
        select id from (
          select id, row_number() over (order by number desc) as rank,
            sum(coalesce(jobs, 0)) over (order by number desc) as jobs
          from (
            select b.id, b.number, t.jobs from builds b left join build_tallies t on t.build_id = b.id
            where b.pipeline_id = ${pipelineId} order by b.number desc limit ${mostBuilds}
          ) newest
        ) counted where rank = 1 or jobs <= ${mostJobs})
      returning id`.execute(trx)
    return rows.length > 0
  })
}

const mostArchives = 200

async function deleteArchives(db: Db, pipelineId: string): Promise<boolean> {
  const { rows } = await sql`
    delete from archived_builds where id in (
      select id from archived_builds where pipeline_id = ${pipelineId} limit ${mostArchives})
    returning id`.execute(db)
  return rows.length > 0
}

/**
 * Locks builds that are over, so that nothing about them changes until the transaction ends. Returns their ids, without
 * those that another transaction holds: it may be about to open the build again.
 */
export async function lockToDelete(
  trx: Trx,
  organizationId: string,
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select b.id from builds b join build_tallies t on t.build_id = b.id
    where b.organization_id = ${organizationId} and b.id = any (${ids}::uuid[])
    order by b.id for update of t, b skip locked`.execute(trx)
  return rows.map(({ id }) => id)
}

/** With all their rows. The builds must be locked. */
export async function deleteEndedBuilds(
  trx: Trx,
  organizationId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  await sql`
    delete from job_log_chunks where job_id in (
      select id from jobs where organization_id = ${organizationId} and build_id = any (${ids}::uuid[]))`.execute(
    trx,
  )
  await sql`
    delete from builds where organization_id = ${organizationId} and id = any (${ids}::uuid[])`.execute(trx)
}
