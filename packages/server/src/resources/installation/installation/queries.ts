import { sql } from 'kysely'
import type { Db } from '../../../db/pool.ts'
import { serverNamePrefix } from '../../../db/server-name.ts'

export interface InstallationRow {
  database_version: string
  database_bytes: number
  enabled_schedules: number
  next_build_at: string | null
  organizations: number
  last_backup_at: string | null
  last_backup_bytes: number | null
}

/** Counts only tables that stay small. */
export async function getInstallation(db: Db): Promise<InstallationRow> {
  const { rows } = await sql<InstallationRow>`
    select current_setting('server_version') as database_version,
      pg_database_size(current_database())::float8 as database_bytes,
      (select count(*)::int from pipeline_schedules where enabled) as enabled_schedules,
      (select min(next_build_at) from pipeline_schedules where enabled) as next_build_at,
      (select count(*)::int from organizations) as organizations,
      i.last_backup_at, i.last_backup_bytes::float8
    from (select 1) one left join installation i on true`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('A row of constants is missing.')
  return row
}

interface ProcessRow {
  name: string
  connections: number
  since: string
}

/** Servers and workers, by the names of their connections. */
export async function listProcesses(db: Db): Promise<ProcessRow[]> {
  const { rows } = await sql<ProcessRow>`
    select application_name as name, count(*)::int as connections, iso(min(backend_start)) as since
    from pg_stat_activity
    where datname = current_database() and starts_with(application_name, ${serverNamePrefix})
    group by application_name order by min(backend_start)`.execute(db)
  return rows
}

interface OrganizationRow {
  slug: string
  name: string
  members: number
  pipelines: number
  created_at: string
}

/** Oldest first. */
export async function listOrganizations(db: Db, limit: number): Promise<OrganizationRow[]> {
  const { rows } = await sql<OrganizationRow>`
    select o.slug, o.name, o.created_at,
      (select count(*)::int from organization_members m join users u on u.id = m.user_id
        where m.organization_id = o.id and not u.is_service_account) as members,
      (select count(*)::int from pipelines p where p.organization_id = o.id) as pipelines
    from organizations o order by o.created_at, o.id limit ${limit}`.execute(db)
  return rows
}
