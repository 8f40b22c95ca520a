import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'

export interface DeployKeyRow {
  public_key: string
  fingerprint: string
  created_at: string
  created_by: UserRow | null
}

export async function getOfPipeline(db: Db, orgId: string, pipelineId: string): Promise<DeployKeyRow> {
  const { rows } = await sql<DeployKeyRow>`
    select k.public_key, k.fingerprint, k.created_at, ${userJson('creator')} as created_by
    from deploy_keys k left join users creator on creator.id = k.created_by
    where k.organization_id = ${orgId} and k.pipeline_id = ${pipelineId}`.execute(db)
  const [key] = rows
  if (key === undefined) throw notFound('No deploy key found')
  return key
}

interface SealedKey {
  private_key_sealed: Buffer
  private_key_id: string
}

export async function findSealed(db: Db, orgId: string, pipelineId: string): Promise<SealedKey | undefined> {
  return db
    .selectFrom('deploy_keys')
    .select(['private_key_sealed', 'private_key_id'])
    .where('organization_id', '=', orgId)
    .where('pipeline_id', '=', pipelineId)
    .executeTakeFirst()
}

interface NewKey extends SealedKey {
  organization_id: string
  pipeline_id: string
  public_key: string
  fingerprint: string
  created_at: string
  created_by: string
}

/** Replaces an earlier one. */
export async function insert(trx: Trx, { organization_id, pipeline_id, ...key }: NewKey): Promise<void> {
  await trx
    .insertInto('deploy_keys')
    .values({ organization_id, pipeline_id, ...key })
    .onConflict((conflict) => conflict.column('pipeline_id').doUpdateSet(key))
    .execute()
}

/** Its fingerprint; undefined: there is none. */
export async function deleteOfPipeline(
  trx: Trx,
  orgId: string,
  pipelineId: string,
): Promise<string | undefined> {
  const deleted = await trx
    .deleteFrom('deploy_keys')
    .where('organization_id', '=', orgId)
    .where('pipeline_id', '=', pipelineId)
    .returning('fingerprint')
    .executeTakeFirst()
  return deleted?.fingerprint
}
