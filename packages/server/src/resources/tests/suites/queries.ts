import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { violatedUnique } from '../../../db/transaction.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'

export interface SuiteRow {
  id: string
  slug: string
  name: string
  default_branch: string | null
  created_at: string
  created_by: UserRow | null
}

const select = sql`
  select s.id, s.slug, s.name, s.default_branch, s.created_at, ${userJson('creator')} as created_by
  from test_suites s left join users creator on creator.id = s.created_by`

/** The suite of a pipeline has its name, so it is shown only to those who see the pipeline. */
const isVisible = (org: Organization, caller: Caller) => sql`
  (s.pipeline_id is null or exists (
    select from pipelines p where p.id = s.pipeline_id and ${visiblePipelines(org, caller)}))`

export async function listInOrg(
  db: Db,
  org: Organization,
  caller: Caller,
  page: { limit: number; offset: number },
): Promise<SuiteRow[]> {
  const { rows } = await sql<SuiteRow>`${select}
    where s.organization_id = ${org.id} and ${isVisible(org, caller)} order by s.created_at, s.id
    limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function getBySlug(db: Db, org: Organization, caller: Caller, slug: string): Promise<SuiteRow> {
  const { rows } = await sql<SuiteRow>`${select}
    where s.organization_id = ${org.id} and s.slug = ${slug} and ${isVisible(org, caller)}`.execute(db)
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

export async function insert(
  trx: Trx,
  row: {
    id: string
    organization_id: string
    name: string
    slug: string
    default_branch: string | null
    token_hash: Buffer
    created_by: string
  },
): Promise<void> {
  await trx
    .insertInto('test_suites')
    .values(row)
    .execute()
    .catch((error: unknown) => {
      if (violatedUnique(error) !== 'test_suites_slug_key') throw error
      throw validationFailed('name is taken by another suite')
    })
}

/** Also deletes its runs and their results. Returns the deleted suite. */
export async function deleteBySlug(
  trx: Trx,
  orgId: string,
  slug: string,
): Promise<{ id: string; name: string } | undefined> {
  return trx
    .deleteFrom('test_suites')
    .where('organization_id', '=', orgId)
    .where('slug', '=', slug)
    .returning(['id', 'name'])
    .executeTakeFirst()
}
