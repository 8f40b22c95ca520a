import { sql } from 'kysely'
import { hasFullAccess, visiblePipelines } from '../../../auth/pipeline-access.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Author, PullRequest } from '../../../conductor/build.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import type { Range } from './listed-builds.ts'

export interface RepeatableBuild {
  commit: string
  branch: string
  tag: string | null
  message: string | null
  env: Record<string, string>
  author: Author | null
  pull_request: PullRequest | null
  from_fork: boolean | null
  allow_rebuilds: boolean
}

export async function findRepeatable(
  db: Db,
  orgId: string,
  id: string,
): Promise<RepeatableBuild | undefined> {
  const { rows } = await sql<RepeatableBuild>`
    select b.commit, b.branch, b.tag, b.message, b.env, b.author, b.pull_request, b.from_fork,
      p.allow_rebuilds
    from builds b join pipelines p on p.id = b.pipeline_id
    where b.organization_id = ${orgId} and b.id = ${id}`.execute(db)
  return rows[0]
}

export async function setCanceledBy(trx: Trx, orgId: string, id: string, userId: string): Promise<void> {
  await trx
    .updateTable('builds')
    .set({ canceled_by: userId })
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
}

/** The newest jobs that failed with one of these states, in the build's order. `soft_failed` counts as a state. */
export async function listFailedJobs(
  db: Db,
  orgId: string,
  buildId: string,
  states: readonly string[] | null,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from jobs
    where organization_id = ${orgId} and build_id = ${buildId} and retried_in_job_id is null
      and kind in ('script', 'trigger') and state in ('failed', 'timed_out', 'canceled', 'expired')
      and (policy #>> '{retry,manual,allowed}')::boolean
      and (${states}::text[] is null or case when soft_failed then 'soft_failed' else state end = any (${states}::text[]))
    order by position, id`.execute(db)
  return rows.map(({ id }) => id)
}

/** More rows than this are not merged from parts of an index. */
const mostMerged = 20_000

/** The builds of these organizations that the caller may see. `reach`: the last row of the page. */
export async function listRanges(
  db: Db,
  orgs: ReadonlyArray<Pick<Organization, 'id' | 'role' | 'teams_enabled'>>,
  caller: Caller,
  reach: number,
): Promise<Range[]> {
  const whole = orgs.filter(hasFullAccess).map(({ id }) => id)
  const partial = orgs.filter((org) => !hasFullAccess(org))
  const [restricted] = partial
  const all: Range = { kind: 'organizations', ids: whole, within: null }
  if (restricted === undefined) return [all]
  const { rows } = await sql<{ id: string; organization_id: string }>`
    select p.id, p.organization_id from pipelines p
    where p.organization_id = any (${partial.map(({ id }) => id)}::uuid[])
      and ${visiblePipelines(restricted, caller)}`.execute(db)
  const [ids, organizationIds] = [rows.map(({ id }) => id), rows.map((row) => row.organization_id)]
  const some: Range =
    ids.length * reach <= mostMerged
      ? { kind: 'pipelines', ids, organizationIds }
      : { kind: 'organizations', ids: partial.map(({ id }) => id), within: ids }
  return [all, some]
}
