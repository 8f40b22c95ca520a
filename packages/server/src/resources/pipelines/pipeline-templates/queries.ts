import { sql } from 'kysely'
import type { Organization } from '../../../auth/caller.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { violatedUnique } from '../../../db/transaction.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'

interface TemplateFields {
  name: string
  description: string
  configuration: string
  available: boolean
}

export interface TemplateRow extends TemplateFields {
  id: string
  created_at: string
  created_by: UserRow | null
  updated_at: string
  updated_by: UserRow | null
}

const select = sql`
  select t.id, t.name, t.description, t.configuration, t.available, t.created_at,
    ${userJson('creator')} as created_by, t.updated_at, ${userJson('updater')} as updated_by
  from pipeline_templates t
  left join users creator on creator.id = t.created_by
  left join users updater on updater.id = t.updated_by`

/** Administrators see all templates, members those that are available. */
const isVisible = (org: Organization) => (org.role === 'admin' ? sql`true` : sql`t.available`)

export async function listVisible(
  db: Db,
  org: Organization,
  page: { limit: number; offset: number },
): Promise<TemplateRow[]> {
  const { rows } = await sql<TemplateRow>`${select}
    where t.organization_id = ${org.id} and ${isVisible(org)}
    order by t.created_at, t.id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function getVisible(db: Db, org: Organization, id: string): Promise<TemplateRow> {
  const { rows } = await sql<TemplateRow>`${select}
    where t.organization_id = ${org.id} and t.id = ${id} and ${isVisible(org)}`.execute(db)
  const [template] = rows
  if (template === undefined) throw notFound('No pipeline template found')
  return template
}

export interface HeldTemplate {
  id: string
  configuration: string
  available: boolean
}

/** Until the transaction ends, no other transaction updates or deletes the template. */
export async function holdInOrg(trx: Trx, orgId: string, id: string): Promise<HeldTemplate | undefined> {
  const { rows } = await sql<HeldTemplate>`
    select id, configuration, available from pipeline_templates
    where organization_id = ${orgId} and id = ${id} for share`.execute(trx)
  return rows[0]
}

/** Like `getVisible`. Until the transaction ends, no other transaction updates, deletes or refers to the template. */
export async function lockVisible(trx: Trx, org: Organization, id: string): Promise<TemplateRow> {
  await sql`
    select from pipeline_templates where organization_id = ${org.id} and id = ${id} for update`.execute(trx)
  return getVisible(trx, org, id)
}

export async function insert(
  trx: Trx,
  row: TemplateFields & { id: string; organization_id: string; created_by: string; updated_by: string },
): Promise<void> {
  await trx.insertInto('pipeline_templates').values(row).execute().catch(refuseTakenName)
}

export async function updateInOrg(
  trx: Trx,
  orgId: string,
  id: string,
  change: Partial<TemplateFields> & { updated_at: string; updated_by: string },
): Promise<void> {
  await trx
    .updateTable('pipeline_templates')
    .set(change)
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
    .catch(refuseTakenName)
}

export async function deleteInOrg(trx: Trx, orgId: string, id: string): Promise<void> {
  await trx
    .deleteFrom('pipeline_templates')
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
}

function refuseTakenName(error: unknown): never {
  if (violatedUnique(error) !== 'pipeline_templates_name_key') throw error
  throw validationFailed('name is taken by another template')
}

export async function countPipelines(trx: Trx, orgId: string, id: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from pipelines
    where organization_id = ${orgId} and pipeline_template_id = ${id}`.execute(trx)
  return rows[0]?.count ?? 0
}

/** Gives the configuration to the pipelines that use the template. */
export async function updatePipelines(
  trx: Trx,
  orgId: string,
  id: string,
  configuration: string,
): Promise<void> {
  await trx
    .updateTable('pipelines')
    .set({ configuration })
    .where('organization_id', '=', orgId)
    .where('pipeline_template_id', '=', id)
    .execute()
}
