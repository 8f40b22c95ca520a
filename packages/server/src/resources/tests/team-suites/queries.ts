import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { teamIsVisible } from '../../../auth/permissions.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'
import type { SuiteAccess } from '../suites/give-to-teams.ts'
import { visibleSuites } from '../suites/queries.ts'

export interface TeamSuiteRow {
  suite_id: string
  suite_slug: string
  suite_name: string
  access_level: SuiteAccess
  created_at: string
}

const select = sql`
  select ts.suite_id, s.slug as suite_slug, s.name as suite_name, ts.access_level, ts.created_at
  from team_suites ts join test_suites s on s.id = ts.suite_id`

/** The team's suites that the caller may see. */
export async function listInTeam(
  db: Db,
  org: Organization,
  caller: Caller,
  teamId: string,
  page: { limit: number; offset: number },
): Promise<TeamSuiteRow[]> {
  const { rows } = await sql<TeamSuiteRow>`${select}
    where ts.organization_id = ${org.id} and ts.team_id = ${teamId} and ${visibleSuites(org, caller)}
    order by ts.created_at, ts.suite_id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function getInTeam(
  db: Db,
  org: Organization,
  caller: Caller,
  teamId: string,
  suiteId: string,
): Promise<TeamSuiteRow> {
  const { rows } = await sql<TeamSuiteRow>`${select}
    where ts.organization_id = ${org.id} and ts.team_id = ${teamId} and ts.suite_id = ${suiteId}
      and ${visibleSuites(org, caller)}`.execute(db)
  const [row] = rows
  if (row === undefined) throw notFound('No team suite found')
  return row
}

export interface SuiteTeamRow {
  team_id: string
  team_name: string
  team_slug: string
  access_level: SuiteAccess
  created_at: string
}

/** The teams that have the suite and that the caller may see. */
export async function listOfSuite(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  page: { limit: number; offset: number },
): Promise<SuiteTeamRow[]> {
  const { rows } = await sql<SuiteTeamRow>`
    select t.id as team_id, t.name as team_name, t.slug as team_slug, ts.access_level, ts.created_at
    from team_suites ts join teams t on t.id = ts.team_id
    where ts.organization_id = ${org.id} and t.organization_id = ${org.id} and ts.suite_id = ${suiteId}
      and ${teamIsVisible(org, caller)}
    order by ts.created_at, t.id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

/** False when there is no such row, or it has the level already. */
export async function updateLevel(
  trx: Trx,
  orgId: string,
  teamId: string,
  suiteId: string,
  level: SuiteAccess,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('team_suites')
    .set({ access_level: level })
    .where('organization_id', '=', orgId)
    .where('team_id', '=', teamId)
    .where('suite_id', '=', suiteId)
    .where('access_level', '!=', level)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Whether it was there: of two who delete at once, one did. */
export async function deleteInTeam(
  trx: Trx,
  orgId: string,
  teamId: string,
  suiteId: string,
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('team_suites')
    .where('organization_id', '=', orgId)
    .where('team_id', '=', teamId)
    .where('suite_id', '=', suiteId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
