import { changedAttributes } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { audited, recordConnection } from './audited.ts'
import { readCredentials, refuseUselessCredentials } from './credentials.ts'
import { renewProviders } from './providers.ts'
import * as connections from './queries.ts'
import { readAddress } from './rules.ts'
import type { UpdateRepositoryConnectionBody } from './schema.ts'

export async function updateConnection(
  { ctx, org, caller }: RequestContext,
  id: string,
  body: UpdateRepositoryConnectionBody,
): Promise<connections.ConnectionRow> {
  return inTransaction(ctx.db, async (trx) => {
    const before = await connections.lockInOrg(trx, org.id, id)
    const hasMoved = body.url !== undefined && body.url !== before.url
    const address = readAddress(before.type, {
      url: body.url ?? before.url,
      api_url: body.api_url === undefined && !hasMoved ? before.api_url : body.api_url,
      repository_host: body.repository_host === undefined && !hasMoved ? before.host : body.repository_host,
    })
    const set = {
      ...address,
      ...readCredentials(ctx, before, body),
      ...(body.checkout_enabled === undefined ? {} : { checkout_enabled: body.checkout_enabled }),
    }
    const fields = { ...before, ...set }
    refuseUselessCredentials(fields)
    refuseMovedSecret(before, fields, body)
    await connections.updateInOrg(trx, org.id, id, set)
    // A change of the port changes to which connection a repository belongs, too.
    for (const host of new Set([before.host, address.host])) await renewProviders(trx, org.id, host)
    await recordConnection(trx, org, caller, 'SCM_REPOSITORY_HOST_UPDATED', fields, {
      ...changedAttributes(before, fields, audited),
      ...(fields.token_sealed === before.token_sealed ? {} : { token_changed: true }),
      ...(fields.private_key_sealed === before.private_key_sealed ? {} : { private_key_changed: true }),
      ...(fields.webhook_secret_sealed === before.webhook_secret_sealed
        ? {}
        : { webhook_secret_changed: true }),
    })
    return connections.getInOrg(trx, org.id, id)
  })
}

/** A caller who never saw a secret must not have it, or its signatures, sent to an address of their own. */
function refuseMovedSecret(
  before: connections.ConnectionRow,
  after: connections.ConnectionFields,
  body: UpdateRepositoryConnectionBody,
): void {
  const isSame = (['url', 'api_url', 'host'] as const).every((name) => before[name] === after[name])
  const isOld = (now: Buffer | null, then: Buffer | null) => now !== null && now === then
  const isToken = isOld(after.token_sealed, before.token_sealed)
  const isKey = isOld(after.private_key_sealed, before.private_key_sealed)
  // Creating a webhook sends its secret to the host.
  const isSecret = isOld(after.webhook_secret_sealed, before.webhook_secret_sealed)
  if (isSame || !(isToken || isKey || isSecret)) return
  throw validationFailed(
    `${isToken ? 'token' : isKey ? 'private_key' : 'webhook_secret'} is required when ${body.url === undefined ? 'the address of the API or the host' : 'url'} changes`,
  )
}
