// Permissions: what the owner of a token must hold beyond its scope. Every route names one.
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/pool.ts'
import { hasFeature, type Caller, type Organization } from './caller.ts'
import { findPipeline, type PipelineAccess } from './pipeline-access.ts'

export type Permission =
  /** No token needed. */
  | 'anonymous'
  /** Any valid token, for what belongs to the token or its owner. */
  | 'token'
  /** Any member of the organization. */
  | 'member'
  /** An administrator of the organization. */
  | 'admin'
  /** Administrators, and all members while the organization lets them. */
  | 'view_teams'
  /** Administrators, and all members while the organization lets them. */
  | 'manage_notification_services'
  /** Administrators, and the maintainers of the cluster named in the URL as `:cluster`. */
  | 'manage_cluster'
  /** Administrators, and the maintainers of the team named in the URL as `:team`. */
  | 'manage_team'
  /** Members who may read the pipeline named in the URL as `:pipeline`. */
  | 'read_pipeline'
  /** Members who may also create, cancel and unblock its builds. */
  | 'build_pipeline'
  /** Members who may also change the pipeline itself. */
  | 'edit_pipeline'

type Verdict =
  | 'yes'
  | 'no'
  /** Yes, and this is the pipeline that the URL names. */
  | { pipelineId: string }
  | { missing: 'cluster' | 'team' | 'pipeline' }

interface Ids {
  cluster?: string | undefined
  team?: string | undefined
  pipeline?: string | undefined
}

/** For members of the organization. The ids come from the URL; they may not exist or belong to another organization. */
export async function checkPermission(
  db: Db,
  permission: Permission,
  org: Organization,
  caller: Caller,
  ids: Ids,
): Promise<Verdict> {
  const yesIf = (may: boolean): Verdict => (may ? 'yes' : 'no')
  switch (permission) {
    case 'anonymous':
    case 'token':
    case 'member':
      return 'yes'
    case 'admin':
      return yesIf(org.role === 'admin')
    case 'view_teams':
      return yesIf(org.role === 'admin' || hasFeature(org, 'members_view_teams'))
    case 'manage_notification_services':
      return yesIf(org.role === 'admin' || hasFeature(org, 'members_manage_notification_services'))
    case 'manage_cluster':
      if (await mayManageCluster(db, org, caller, ids.cluster)) return 'yes'
      return (await isCluster(db, org, ids.cluster)) ? 'no' : { missing: 'cluster' }
    case 'manage_team':
      if (await mayManageTeam(db, org, caller, ids.team)) return 'yes'
      return (await maySeeTeam(db, org, caller, ids.team)) ? 'no' : { missing: 'team' }
    case 'read_pipeline':
    case 'build_pipeline':
    case 'edit_pipeline': {
      const found = await findPipeline(db, org, caller, ids.pipeline ?? '')
      if (found === undefined || found.access === 'none') return { missing: 'pipeline' }
      return suffices(permission, found.access) ? { pipelineId: found.id } : 'no'
    }
  }
}

/** Whether the access is enough for the permission. */
export const suffices = (permission: keyof typeof sufficing, access: PipelineAccess): boolean =>
  sufficing[permission].includes(access)

const sufficing: Record<`${'read' | 'build' | 'edit'}_pipeline`, readonly PipelineAccess[]> = {
  read_pipeline: ['read', 'build', 'manage'],
  build_pipeline: ['build', 'manage'],
  edit_pipeline: ['manage'],
}

async function isCluster(db: Db, org: Organization, id: string | undefined): Promise<boolean> {
  const found = await db
    .selectFrom('clusters')
    .select('id')
    .where('organization_id', '=', org.id)
    .where('id', '=', id ?? '')
    .executeTakeFirst()
  return found !== undefined
}

export async function mayManageCluster(
  db: Db,
  org: Organization,
  caller: Caller,
  clusterId: string | undefined,
): Promise<boolean> {
  if (org.role === 'admin') return true
  return clusterId !== undefined && (await listManagedClusters(db, org, caller, [clusterId])).has(clusterId)
}

/** The clusters among these that the caller may manage. */
export async function listManagedClusters(
  db: Db,
  org: Organization,
  caller: Caller,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (org.role === 'admin') return new Set(ids)
  const { rows } = await sql<{ id: string }>`
    select distinct m.cluster_id as id from cluster_maintainers m
    where m.organization_id = ${org.id} and m.cluster_id = any (${ids}::uuid[])
      and (m.user_id = ${caller.user.id} or exists (
        select from team_members t where t.team_id = m.team_id and t.user_id = ${caller.user.id}))`.execute(
    db,
  )
  return new Set(rows.map(({ id }) => id))
}

async function mayManageTeam(
  db: Db,
  org: Organization,
  caller: Caller,
  teamId: string | undefined,
): Promise<boolean> {
  if (org.role === 'admin') return true
  return teamId !== undefined && (await listManagedTeams(db, org, caller, [teamId])).has(teamId)
}

/** The teams among these that the caller may manage. */
export async function listManagedTeams(
  db: Db,
  org: Organization,
  caller: Caller,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (org.role === 'admin') return new Set(ids)
  const rows = await db
    .selectFrom('team_members')
    .select('team_id as id')
    .where('organization_id', '=', org.id)
    .where('team_id', '=', sql<string>`any (${ids}::uuid[])`)
    .where('user_id', '=', caller.user.id)
    .where('role', '=', 'maintainer')
    .execute()
  return new Set(rows.map(({ id }) => id))
}

async function maySeeTeam(
  db: Db,
  org: Organization,
  caller: Caller,
  teamId: string | undefined,
): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    select t.id from teams t
    where t.organization_id = ${org.id} and t.id = ${teamId} and ${teamIsVisible(org, caller)}`.execute(db)
  return rows.length > 0
}

/** For queries with `teams t`: a secret team is visible to its members and to administrators only. */
export const teamIsVisible = (org: Organization, caller: Caller): RawBuilder<boolean> =>
  org.role === 'admin'
    ? sql`true`
    : sql`(t.privacy = 'visible' or exists (
        select from team_members own where own.team_id = t.id and own.user_id = ${caller.user.id}))`
