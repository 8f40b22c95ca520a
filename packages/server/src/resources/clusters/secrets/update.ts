import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { AuditType } from '../../../audit/types.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as secrets from './queries.ts'
import { readFields, readValue, refuseKeyAndValue } from './rules.ts'
import type { UpdateSecretBody } from './schema.ts'

export async function updateSecret(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  secretId: string,
  body: UpdateSecretBody,
): Promise<secrets.SecretRow> {
  refuseKeyAndValue(body)
  return update({ ctx, org, caller }, clusterId, secretId, {
    type: 'SECRET_UPDATED',
    fields: readFields(body),
  })
}

export async function updateSecretValue(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  secretId: string,
  value: string,
): Promise<secrets.SecretRow> {
  const { sealed, keyId } = ctx.keys.seal(readValue(value))
  const fields = { value_sealed: sealed, value_key_id: keyId }
  return update({ ctx, org, caller }, clusterId, secretId, { type: 'SECRET_VALUE_UPDATED', fields })
}

async function update(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  secretId: string,
  { type, fields }: { type: AuditType; fields: Partial<secrets.SecretFields & secrets.SealedValue> },
): Promise<secrets.SecretRow> {
  return inTransaction(ctx.db, async (trx) => {
    const before = await secrets.lockInCluster(trx, org.id, clusterId, secretId)
    await secrets.updateInCluster(trx, org.id, clusterId, secretId, {
      ...fields,
      updated_at: ctx.now().toISOString(),
      updated_by: caller.user.id,
    })
    const after = await secrets.getInCluster(trx, org.id, clusterId, secretId)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type,
      subject: { type: 'Secret', uuid: after.id, name: after.key },
      data: changedAttributes(before, after, ['description', 'policy']),
    })
    return after
  })
}
