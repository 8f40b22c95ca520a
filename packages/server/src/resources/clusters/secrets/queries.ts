import { sql } from 'kysely'
import type { Trx } from '../../../db/pool.ts'
import { violatedUnique } from '../../../db/transaction.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { childQueries } from '../../child-queries.ts'
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

export const {
  get: getInCluster,
  list: listInCluster,
  lock: lockInCluster,
  delete: deleteInCluster,
} = childQueries<SecretRow>({
  table: 'cluster_secrets',
  alias: 's',
  select,
  parent: 'cluster_id',
  missing: 'No secret found',
})

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
