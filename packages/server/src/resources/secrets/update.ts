import { byCaller, changedAttributes, recordAudit } from '../../audit/record.ts'
import type { AuditType } from '../../audit/types.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import * as secrets from './queries.ts'
import { readFields, readValue, refuseFixed } from './rules.ts'
import type { UpdateSecretBody } from './schema.ts'

export async function updateSecret(
  ctx: Context,
  org: Organization,
  caller: Caller,
  place: { cluster: string; secret: string },
  body: UpdateSecretBody,
): Promise<secrets.SecretRow> {
  refuseFixed(body)
  return change(ctx, org, caller, place, 'SECRET_UPDATED', readFields(body))
}

export async function updateSecretValue(
  ctx: Context,
  org: Organization,
  caller: Caller,
  place: { cluster: string; secret: string },
  value: string,
): Promise<secrets.SecretRow> {
  const { sealed, keyId } = ctx.keys.seal(readValue(value))
  return change(ctx, org, caller, place, 'SECRET_VALUE_UPDATED', {
    value_sealed: sealed,
    value_key_id: keyId,
  })
}

async function change(
  ctx: Context,
  org: Organization,
  caller: Caller,
  place: { cluster: string; secret: string },
  type: AuditType,
  set: Partial<secrets.SecretFields & secrets.SealedValue>,
): Promise<secrets.SecretRow> {
  return inTransaction(ctx.db, async (trx) => {
    const before = await secrets.lockInCluster(trx, org.id, place.cluster, place.secret)
    if (before === undefined) throw notFound('No secret found')
    await secrets.updateInCluster(trx, org.id, place.cluster, place.secret, {
      ...set,
      updated_at: ctx.now().toISOString(),
      updated_by: caller.user.id,
    })
    const after = await secrets.findInCluster(trx, org.id, place.cluster, place.secret)
    if (after === undefined) throw new Error('A secret vanished while it was locked.')
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type,
      subject: { type: 'Secret', uuid: after.id, name: after.key },
      data: changedAttributes(before, after, ['description', 'policy']),
    })
    return after
  })
}
