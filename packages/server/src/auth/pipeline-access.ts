// A member's access to a pipeline: everything without teams; with teams, the highest access of their teams, and
// reading where the pipeline is public. Administrators may do everything.
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/pool.ts'
import type { Caller, Organization } from './caller.ts'

export type PipelineAccess = 'none' | 'read' | 'build' | 'manage'

type Membership = Pick<Organization, 'role' | 'teams_enabled'>

/** Whether the member has full access to every pipeline. */
export const hasFullAccess = ({ role, teams_enabled }: Membership) => role === 'admin' || !teams_enabled

/** For queries with `pipelines p`: whether the caller may read it. */
export const visiblePipelines = (org: Membership, caller: Caller): RawBuilder<boolean> =>
  hasFullAccess(org)
    ? sql`true`
    : sql`(p.visibility = 'public' or exists (
        select from team_pipelines tp join team_members own on own.team_id = tp.team_id
        where tp.pipeline_id = p.id and own.user_id = ${caller.user.id}))`

/** For queries with `pipelines p`: what the caller may do with it. */
export const accessColumn = (org: Membership, caller: Caller): RawBuilder<PipelineAccess> =>
  hasFullAccess(org) ? sql`'manage'` : accessOfMember(caller.user.id)

const accessOfMember = (userId: string): RawBuilder<PipelineAccess> => sql`coalesce((
  select case max(case tp.access_level when 'manage_build_and_read' then 3 when 'build_and_read' then 2 else 1 end)
    when 3 then 'manage' when 2 then 'build' when 1 then 'read' end
  from team_pipelines tp join team_members own on own.team_id = tp.team_id
  where tp.pipeline_id = p.id and own.user_id = ${userId}),
  case p.visibility when 'public' then 'read' else 'none' end)`

/** For queries with `pipelines p`: whether the user may read it. */
export const readableBy = (
  userId: RawBuilder<unknown>,
): RawBuilder<boolean> => sql`(p.visibility = 'public' or exists (
  select from organization_members m join organizations org on org.id = m.organization_id
  where m.organization_id = p.organization_id and m.user_id = ${userId}
    and (m.role = 'admin' or org.teams_enabled_at is null or exists (
      select from team_pipelines tp join team_members own_team on own_team.team_id = tp.team_id
      where tp.pipeline_id = p.id and own_team.user_id = m.user_id))))`

/** For queries with `pipelines p`: whether one team may read both it and the given pipeline. */
export const readableWith = (
  pipelineId: RawBuilder<unknown>,
): RawBuilder<boolean> => sql`(p.visibility = 'public'
  or exists (select from organizations org where org.id = p.organization_id and org.teams_enabled_at is null)
  or exists (
    select from team_pipelines here join team_pipelines there on there.team_id = here.team_id
    where here.pipeline_id = ${pipelineId} and there.pipeline_id = p.id))`

const isToBuild = sql`in ('build_and_read', 'manage_build_and_read')`

/** For queries with `pipelines p`: whether the user may create builds of it. */
export const buildableBy = (userId: string | RawBuilder<unknown>): RawBuilder<boolean> => sql`exists (
  select from organization_members m join organizations org on org.id = m.organization_id
  where m.organization_id = p.organization_id and m.user_id = ${userId}
    and (m.role = 'admin' or org.teams_enabled_at is null or exists (
      select from team_pipelines tp join team_members own on own.team_id = tp.team_id
      where tp.pipeline_id = p.id and own.user_id = m.user_id and tp.access_level ${isToBuild})))`

/** For queries with `pipelines p`: whether one team may create builds of both it and the given pipeline. */
export const buildableWith = (pipelineId: string): RawBuilder<boolean> => sql`(
  exists (select from organizations org where org.id = p.organization_id and org.teams_enabled_at is null)
  or exists (
    select from team_pipelines here join team_pipelines there on there.team_id = here.team_id
    where here.pipeline_id = ${pipelineId} and here.access_level ${isToBuild}
      and there.pipeline_id = p.id and there.access_level ${isToBuild}))`

/** 'none' for a pipeline that does not exist or belongs to another organization. */
export async function pipelineAccess(
  db: Db,
  org: Organization,
  caller: Caller,
  pipelineId: string,
): Promise<PipelineAccess> {
  const { rows } = await sql<{ access: PipelineAccess }>`
    select ${accessColumn(org, caller)} as access from pipelines p
    where p.organization_id = ${org.id} and p.id = ${pipelineId}`.execute(db)
  return rows[0]?.access ?? 'none'
}

interface FoundPipeline {
  id: string
  access: PipelineAccess
}

/** undefined: no pipeline has that slug. */
export async function findPipeline(
  db: Db,
  org: Organization,
  caller: Caller,
  slug: string,
): Promise<FoundPipeline | undefined> {
  const { rows } = await sql<FoundPipeline>`
    select p.id, ${accessColumn(org, caller)} as access from pipelines p
    where p.organization_id = ${org.id} and p.slug = ${slug}`.execute(db)
  return rows[0]
}

/** With teams, a member needs a team that lets its members create pipelines. */
export async function mayCreatePipelines(db: Db, org: Organization, caller: Caller): Promise<boolean> {
  if (hasFullAccess(org)) return true
  const { rows } = await sql`
    select from team_members m join teams t on t.id = m.team_id
    where m.organization_id = ${org.id} and m.user_id = ${caller.user.id} and t.members_can_create_pipelines
    limit 1`.execute(db)
  return rows.length > 0
}
