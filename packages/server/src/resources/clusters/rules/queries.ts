import { sql, type RawBuilder } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { violatedUnique } from '../../../db/transaction.ts'
import { notFound, refused } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'
import type { RuleType } from './schema.ts'

export interface RuleRow {
  id: string
  organization_id: string
  type: RuleType
  source_pipeline_id: string
  target_pipeline_id: string
  conditions: string[]
  description: string | null
  document: string | null
  created_at: string
  created_by: UserRow | null
  /** null: the caller may not see it. */
  source: NamedPipeline | null
  target: NamedPipeline | null
}

const pipelineJson = (id: RawBuilder<unknown>, org: Organization, caller: Caller) => sql`(
  select json_build_object('id', p.id, 'name', p.name, 'slug', p.slug) from pipelines p
  where p.id = ${id} and ${visiblePipelines(org, caller)})`

const select = (org: Organization, caller: Caller) => sql`
  select r.id, r.organization_id, r.type, r.source_pipeline_id, r.target_pipeline_id, r.conditions,
    r.description, r.document, r.created_at,
    ${userJson('creator')} as created_by,
    ${pipelineJson(sql`r.source_pipeline_id`, org, caller)} as source,
    ${pipelineJson(sql`r.target_pipeline_id`, org, caller)} as target
  from rules r left join users creator on creator.id = r.created_by`

/** A rule concerns those who may know of one of its pipelines. */
const isVisible = (org: Organization, caller: Caller) => sql`exists (
  select from pipelines p
  where p.id in (r.source_pipeline_id, r.target_pipeline_id) and ${visiblePipelines(org, caller)})`

export async function listVisible(
  db: Db,
  org: Organization,
  caller: Caller,
  page: { limit: number; offset: number },
): Promise<RuleRow[]> {
  const { rows } = await sql<RuleRow>`${select(org, caller)}
    where r.organization_id = ${org.id} and ${isVisible(org, caller)}
    order by r.created_at, r.id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function getVisible(db: Db, org: Organization, caller: Caller, id: string): Promise<RuleRow> {
  const { rows } = await sql<RuleRow>`${select(org, caller)}
    where r.organization_id = ${org.id} and r.id = ${id} and ${isVisible(org, caller)}`.execute(db)
  const [rule] = rows
  if (rule === undefined) throw notFound('No rule found')
  return rule
}

interface NamedPipeline {
  id: string
  name: string
  slug: string
}

export type HeldPipeline = Pick<NamedPipeline, 'id' | 'slug'>

/** The pipelines of these ids or slugs, which cannot be deleted until the transaction ends. */
export async function holdPipelines(
  trx: Trx,
  orgId: string,
  names: readonly string[],
): Promise<HeldPipeline[]> {
  const { rows } = await sql<HeldPipeline>`
    select id, slug from pipelines
    where organization_id = ${orgId} and (id = any (${names.filter(isUuid)}::uuid[]) or slug = any (${names}::text[]))
    order by id for key share`.execute(trx)
  return rows
}

export async function insert(
  trx: Trx,
  row: Omit<RuleRow, 'created_at' | 'created_by' | 'source' | 'target'> & { created_by: string },
): Promise<void> {
  await trx.insertInto('rules').values(row).execute().catch(refuseSecond)
}

/** What a rule is about, and what it is for. */
type RuleChange = Partial<
  Pick<RuleRow, 'description' | 'document' | 'source_pipeline_id' | 'target_pipeline_id' | 'conditions'>
>

export async function updateInOrg(trx: Trx, orgId: string, id: string, change: RuleChange): Promise<void> {
  if (Object.keys(change).length === 0) return
  await trx
    .updateTable('rules')
    .set(change)
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
    .catch(refuseSecond)
}

function refuseSecond(error: unknown): never {
  if (violatedUnique(error) !== 'rules_key') throw error
  throw refused('There is a rule of this type for these pipelines already.')
}

/** Whether it was there: of two who delete at once, one did. */
export async function deleteInOrg(trx: Trx, orgId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('rules')
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
