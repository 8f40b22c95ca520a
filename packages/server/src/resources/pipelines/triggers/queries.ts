import { sql } from 'kysely'
import { buildableBy } from '../../../auth/pipeline-access.ts'
import { originFields, type BuildOrigin } from '../../../conductor/build.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { hashToken } from '../../../lib/ids.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'
import type { MappedValue, signatureKinds } from './schema.ts'
import type { SealedAddress, SealedSecret } from './secrets.ts'

export interface TriggerFields {
  name: string
  enabled: boolean
  /** null: the pipeline's default branch at that time. */
  branch: MappedValue | null
  /** null: HEAD. */
  commit: MappedValue | null
  /** null: the name of the trigger. */
  message: MappedValue | null
  env: Readonly<Record<string, MappedValue>>
  condition: string | null
  signature: (typeof signatureKinds)[number]
  signature_header: string | null
}

export interface TriggerRow extends TriggerFields, SealedSecret, Omit<SealedAddress, 'address_hash'> {
  id: string
  pipeline_id: string
  pipeline_slug: string
  created_at: string
  created_by: UserRow | null
}

const fields = sql`
  t.name, t.enabled, t.branch, t.commit, t.message, t.env, t.condition, t.signature, t.signature_header,
  t.secret_sealed, t.secret_key_id`

const select = sql`
  select t.id, t.pipeline_id, p.slug as pipeline_slug, ${fields}, t.address_sealed, t.address_key_id, t.created_at,
    ${userJson('creator')} as created_by
  from pipeline_triggers t join pipelines p on p.id = t.pipeline_id
  left join users creator on creator.id = t.created_by`

export async function listInPipeline(
  db: Db,
  orgId: string,
  pipelineSlug: string,
  page: { limit: number; offset: number },
): Promise<TriggerRow[]> {
  const { rows } = await sql<TriggerRow>`${select}
    where p.organization_id = ${orgId} and p.slug = ${pipelineSlug}
    order by t.created_at desc, t.id desc limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function findInPipeline(
  db: Db,
  orgId: string,
  pipelineSlug: string,
  id: string,
): Promise<TriggerRow | undefined> {
  const { rows } = await sql<TriggerRow>`${select}
    where p.organization_id = ${orgId} and p.slug = ${pipelineSlug} and t.id = ${id}`.execute(db)
  return rows[0]
}

/** The same, locked until the transaction ends. */
export async function lockInPipeline(
  trx: Trx,
  orgId: string,
  pipelineSlug: string,
  id: string,
): Promise<TriggerRow | undefined> {
  await sql`
    select from pipeline_triggers where organization_id = ${orgId} and id = ${id} for no key update`.execute(
    trx,
  )
  return findInPipeline(trx, orgId, pipelineSlug, id)
}

const json = (value: object | null) => (value === null ? null : JSON.stringify(value))

const columnsOf = <Row extends TriggerFields>({ branch, commit, message, env, ...plain }: Row) => ({
  ...plain,
  branch: json(branch),
  commit: json(commit),
  message: json(message),
  env: JSON.stringify(env),
})

interface NewTrigger extends TriggerFields, SealedAddress, SealedSecret {
  id: string
  organization_id: string
  pipeline_id: string
  created_by: string
}

export async function insert(trx: Trx, { id, organization_id, pipeline_id, created_by, ...row }: NewTrigger) {
  const own = { id, organization_id, pipeline_id, created_by }
  await trx
    .insertInto('pipeline_triggers')
    .values({ ...columnsOf(row), ...own })
    .execute()
}

export async function updateInOrg(
  trx: Trx,
  orgId: string,
  id: string,
  { created_by, ...row }: TriggerFields & SealedSecret & Partial<SealedAddress> & { created_by: string },
): Promise<void> {
  await trx
    .updateTable('pipeline_triggers')
    .set({ ...columnsOf(row), created_by })
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
}

export async function deleteInOrg(trx: Trx, orgId: string, id: string): Promise<void> {
  await trx
    .deleteFrom('pipeline_triggers')
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
}

/** What a request to the address of a trigger is for. */
export interface Addressed
  extends SealedSecret, Pick<TriggerFields, 'enabled' | 'signature' | 'signature_header'> {
  id: string
  organization_id: string
  pipeline_id: string
}

/** The random part of the address also identifies the organization. */
export async function findByAddress(db: Db, address: string): Promise<Addressed | undefined> {
  const { rows } = await sql<Addressed>`
    select t.id, t.organization_id, t.pipeline_id, t.enabled, t.signature, t.signature_header, t.secret_sealed, t.secret_key_id
    from pipeline_triggers t where t.address_hash = ${hashToken(address)}`.execute(db)
  return rows[0]
}

/** A trigger with all that decides about its builds. */
export interface Armed extends TriggerFields, BuildOrigin {
  id: string
  organization_id: string
  owner_id: string | null
  /** Whether the owner is still a member who may build the pipeline. */
  owner_may_build: boolean
  pipeline_env: Record<string, string>
}

/** Until the transaction ends, the trigger is neither changed nor deleted, and no other delivery for it is carried out. */
export async function lockArmed(trx: Trx, orgId: string, id: string): Promise<Armed | undefined> {
  const { rows } = await sql<Armed>`
    select t.id, t.organization_id, t.created_by as owner_id, p.env as pipeline_env, ${fields},
      ${buildableBy(sql`t.created_by`)} as owner_may_build, ${originFields(orgId, sql`t.created_by`)}
    from pipeline_triggers t join pipelines p on p.id = t.pipeline_id join organizations o on o.id = t.organization_id
    where t.organization_id = ${orgId} and t.id = ${id}
    for no key update of t`.execute(trx)
  return rows[0]
}
