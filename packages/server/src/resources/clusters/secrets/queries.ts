import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import { violatedUnique } from '../../../db/transaction.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'

/** Never the value, not even encrypted. */
export interface SecretRow {
  id: string
  cluster_id: string
  key: string
  description: string
  policy: string
  created_at: string
  created_by: UserRow | null
  updated_at: string
  updated_by: UserRow | null
  last_read_at: string | null
}

const select = sql`
  select s.id, s.cluster_id, s.key, s.description, s.policy, s.last_read_at,
    s.created_at, ${userJson('creator')} as created_by, s.updated_at, ${userJson('updater')} as updated_by
  from cluster_secrets s
  left join users creator on creator.id = s.created_by left join users updater on updater.id = s.updated_by`

export async function getInCluster(db: Db, orgId: string, clusterId: string, id: string): Promise<SecretRow> {
  const { rows } = await sql<SecretRow>`${select}
    where s.organization_id = ${orgId} and s.cluster_id = ${clusterId} and s.id = ${id}`.execute(db)
  const [secret] = rows
  if (secret === undefined) throw notFound('No secret found')
  return secret
}

export async function listInCluster(
  db: Db,
  orgId: string,
  clusterId: string,
  page: { limit: number; offset: number },
): Promise<SecretRow[]> {
  const { rows } = await sql<SecretRow>`${select}
    where s.organization_id = ${orgId} and s.cluster_id = ${clusterId}
    order by s.created_at, s.id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

/** Until the transaction ends, no other transaction updates or deletes the secret. */
export async function lockInCluster(
  trx: Trx,
  orgId: string,
  clusterId: string,
  id: string,
): Promise<SecretRow> {
  await sql`
    select from cluster_secrets where organization_id = ${orgId} and cluster_id = ${clusterId} and id = ${id}
    for no key update`.execute(trx)
  return getInCluster(trx, orgId, clusterId, id)
}

export interface SecretFields {
  description: string
  policy: string
}

export interface SealedValue {
  value_sealed: Buffer
  value_key_id: string
}

export async function insert(
  trx: Trx,
  row: Partial<SecretFields> &
    SealedValue & {
      id: string
      organization_id: string
      cluster_id: string
      key: string
      created_by: string
      updated_by: string
    },
): Promise<void> {
  await trx
    .insertInto('cluster_secrets')
    .values(row)
    .execute()
    .catch((error: unknown) => {
      if (violatedUnique(error) !== 'cluster_secrets_key_key') throw error
      throw validationFailed(`the cluster already has a secret with the key ${row.key}`)
    })
}

export async function updateInCluster(
  trx: Trx,
  orgId: string,
  clusterId: string,
  id: string,
  change: Partial<SecretFields & SealedValue> & { updated_at: string; updated_by: string },
): Promise<void> {
  await trx
    .updateTable('cluster_secrets')
    .set(change)
    .where('organization_id', '=', orgId)
    .where('cluster_id', '=', clusterId)
    .where('id', '=', id)
    .execute()
}

export async function deleteInCluster(trx: Trx, orgId: string, clusterId: string, id: string): Promise<void> {
  await trx
    .deleteFrom('cluster_secrets')
    .where('organization_id', '=', orgId)
    .where('cluster_id', '=', clusterId)
    .where('id', '=', id)
    .execute()
}
