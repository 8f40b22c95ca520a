import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { newId } from '../../../lib/ids.ts'
import * as clusters from '../clusters/queries.ts'
import * as secrets from './queries.ts'
import { readFields, readValue } from './rules.ts'
import type { CreateSecretBody } from './schema.ts'

export async function createSecret(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  body: CreateSecretBody,
): Promise<secrets.SecretRow> {
  const id = newId()
  const fields = { description: '', policy: '', ...readFields(body) }
  const { sealed, keyId } = ctx.keys.seal(readValue(body.value))
  return inTransaction(ctx.db, async (trx) => {
    await clusters.lockInOrg(trx, org.id, clusterId)
    await secrets.insert(trx, {
      id,
      organization_id: org.id,
      cluster_id: clusterId,
      key: body.key,
      value_sealed: sealed,
      value_key_id: keyId,
      created_by: caller.user.id,
      updated_by: caller.user.id,
      ...fields,
    })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'SECRET_CREATED',
      subject: { type: 'Secret', uuid: id, name: body.key },
      data: { cluster_id: clusterId, key: body.key, ...fields },
    })
    return secrets.getInCluster(trx, org.id, clusterId, id)
  })
}
