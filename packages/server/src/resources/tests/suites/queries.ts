import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { accessColumn, hasFullAccess, visiblePipelines } from '../../../auth/pipeline-access.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { violatedUnique } from '../../../db/transaction.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'

export interface SuiteFields {
  name: string
  slug: string
  default_branch: string | null
  emoji: string | null
  color: string | null
  application_name: string | null
  flaky_on_same_commit: boolean
  flaky_transitions: number | null
  flaky_window: number
  flaky_clear_days: number
  flaky_clear_executions: number
  quarantine_rule: 'muted' | 'skipped' | null
  quarantine_days: number
}

interface TokenFields {
  token_hash: Buffer
  token_sealed: Buffer
  token_key_id: string
}

export interface SuiteRow extends SuiteFields {
  id: string
  organization_id: string
  token_sealed: Buffer | null
  token_key_id: string | null
  /** Whether the caller may update and delete it, and see its token. */
  may_manage: boolean
  /** Whether the caller may mute, skip, enable and label its tests. */
  may_quarantine: boolean
  created_at: string
  created_by: UserRow | null
}

const select = (org: Organization, caller: Caller) => sql`
  select s.id, s.slug, s.name, s.default_branch, s.emoji, s.color, s.application_name,
    s.flaky_on_same_commit, s.flaky_transitions, s.flaky_window, s.flaky_clear_days, s.flaky_clear_executions,
    s.quarantine_rule, s.quarantine_days, s.organization_id, s.token_sealed, s.token_key_id,
    ${isManaged(org, caller)} as may_manage, ${mayQuarantine(org, caller)} as may_quarantine, s.created_at, ${userJson('creator')} as created_by
  from test_suites s left join users creator on creator.id = s.created_by`

/** Members of a team that manages the suite. The caller's teams count even where pipelines are open to all. */
const isManaged = ({ role }: Organization, caller: Caller) =>
  role === 'admin'
    ? sql`true`
    : sql`exists (
        select from team_suites ts join team_members own on own.team_id = ts.team_id
        where ts.suite_id = s.id and ts.access_level = 'manage_and_read' and own.user_id = ${caller.user.id})`

/** Those who manage the pipeline of a suite also decide which of its tests count. */
const mayQuarantine = (org: Organization, caller: Caller) => sql`
  (${isManaged(org, caller)} or exists (
    select from pipelines p where p.id = s.pipeline_id and ${accessColumn(org, caller)} = 'manage'))`

/**
 * For queries with `test_suites s`. The suite of a pipeline has its name, so it is shown only to those who see the pipeline.
 * Where teams grant access, a suite that teams have is shown to their members, and a suite without teams to everybody.
 */
export const visibleSuites = (org: Organization, caller: Caller) => sql`
  (s.pipeline_id is null or exists (
    select from pipelines p where p.id = s.pipeline_id and ${visiblePipelines(org, caller)}))
  and ${isOpen(org, caller)}`

const isOpen = (org: Organization, caller: Caller) =>
  hasFullAccess(org)
    ? sql`true`
    : sql`(not exists (select from team_suites ts where ts.suite_id = s.id) or exists (
        select from team_suites ts join team_members own on own.team_id = ts.team_id
        where ts.suite_id = s.id and own.user_id = ${caller.user.id}))`

export async function listInOrg(
  db: Db,
  org: Organization,
  caller: Caller,
  page: { limit: number; offset: number },
): Promise<SuiteRow[]> {
  const { rows } = await sql<SuiteRow>`${select(org, caller)}
    where s.organization_id = ${org.id} and ${visibleSuites(org, caller)} order by s.created_at, s.id
    limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function getBySlug(db: Db, org: Organization, caller: Caller, slug: string): Promise<SuiteRow> {
  const { rows } = await sql<SuiteRow>`${select(org, caller)}
    where s.organization_id = ${org.id} and s.slug = ${slug} and ${visibleSuites(org, caller)}`.execute(db)
  const [suite] = rows
  if (suite === undefined) throw notFound('No suite found')
  return suite
}

/** The suite that a token for uploads belongs to. */
export interface SendingSuite {
  id: string
  slug: string
  organizationId: string
  organizationSlug: string
}

export async function findByToken(db: Db, tokenHash: Buffer): Promise<SendingSuite | undefined> {
  const { rows } = await sql<SendingSuite>`
    select s.id, s.slug, o.id as "organizationId", o.slug as "organizationSlug"
    from test_suites s join organizations o on o.id = s.organization_id
    where s.token_hash = ${tokenHash}`.execute(db)
  return rows[0]
}

/** Until the transaction ends, no other transaction updates or deletes the suite. */
export async function lockBySlug(
  trx: Trx,
  org: Organization,
  caller: Caller,
  slug: string,
): Promise<SuiteRow> {
  const { rows } = await sql<SuiteRow>`${select(org, caller)}
    where s.organization_id = ${org.id} and s.slug = ${slug} and ${visibleSuites(org, caller)}
    for update of s`.execute(trx)
  const [suite] = rows
  if (suite === undefined) throw notFound('No suite found')
  return suite
}

/** Until the transaction ends, no other transaction deletes the suite. Undefined where the caller does not see it. */
export async function holdById(
  trx: Trx,
  org: Organization,
  caller: Caller,
  id: string,
): Promise<SuiteRow | undefined> {
  const { rows } = await sql<SuiteRow>`${select(org, caller)}
    where s.organization_id = ${org.id} and s.id = ${id} and ${visibleSuites(org, caller)}
    for key share of s`.execute(trx)
  return rows[0]
}

/** Until the transaction ends, no other transaction deletes the suite. For what no user asks for. */
export async function holdInOrg(trx: Trx, orgId: string, id: string): Promise<void> {
  const { rows } = await sql`
    select from test_suites where organization_id = ${orgId} and id = ${id} for key share`.execute(trx)
  if (rows.length === 0) throw notFound('No suite found')
}

export async function insert(
  trx: Trx,
  row: Partial<SuiteFields> &
    TokenFields & {
      id: string
      organization_id: string
      name: string
      slug: string
      created_by: string
    },
): Promise<void> {
  await trx.insertInto('test_suites').values(row).execute().catch(refuseTakenSlug)
}

export async function updateInOrg(
  trx: Trx,
  orgId: string,
  id: string,
  change: Partial<SuiteFields & TokenFields>,
): Promise<void> {
  if (Object.keys(change).length === 0) return
  await trx
    .updateTable('test_suites')
    .set(change)
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
    .catch(refuseTakenSlug)
}

function refuseTakenSlug(error: unknown): never {
  if (violatedUnique(error) !== 'test_suites_slug_key') throw error
  throw validationFailed('name is taken by another suite')
}

/** Also deletes its runs and their results. */
export async function deleteInOrg(trx: Trx, orgId: string, id: string): Promise<void> {
  await trx.deleteFrom('test_suites').where('organization_id', '=', orgId).where('id', '=', id).execute()
}
