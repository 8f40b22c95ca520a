import { byCaller, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { inTransaction, violatedUnique } from '../../db/transaction.ts'
import { notFound, validationFailed } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import * as clusters from '../clusters/queries.ts'
import * as secrets from './queries.ts'
import { readFields, readValue } from './rules.ts'
import type { CreateSecretBody } from './schema.ts'

export async function createSecret(
  ctx: Context,
  org: Organization,
  caller: Caller,
  clusterId: string,
  body: CreateSecretBody,
): Promise<secrets.SecretRow> {
  const id = newId()
  const fields = { description: '', policy: '', ...readFields(body) }
  const { sealed, keyId } = ctx.keys.seal(readValue(body.value))
  return inTransaction(ctx.db, async (trx) => {
    const cluster = await clusters.lockInOrg(trx, org.id, clusterId)
    if (cluster === undefined) throw notFound('No cluster found')
    const row = {
      id,
      organization_id: org.id,
      cluster_id: clusterId,
      key: body.key,
      value_sealed: sealed,
      value_key_id: keyId,
      created_by: caller.user.id,
      updated_by: caller.user.id,
      ...fields,
    }
    await secrets.insert(trx, row).catch((error: unknown) => {
      if (violatedUnique(error) !== 'cluster_secrets_key_key') throw error
      throw validationFailed(`the cluster already has a secret with the key ${body.key}`)
    })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'SECRET_CREATED',
      subject: { type: 'Secret', uuid: id, name: body.key },
      data: { cluster_id: clusterId, key: body.key, ...fields },
    })
    const secret = await secrets.findInCluster(trx, org.id, clusterId, id)
    if (secret === undefined) throw new Error('A secret vanished in the transaction that made it.')
    return secret
  })
}
