import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { newId } from '../../../lib/ids.ts'
import { audited, recordConnection } from './audited.ts'
import { noCredentials, readCredentials, refuseUselessCredentials } from './credentials.ts'
import { renewProviders } from './providers.ts'
import * as connections from './queries.ts'
import { readAddress } from './rules.ts'
import type { CreateRepositoryConnectionBody } from './schema.ts'

export async function createConnection(
  { ctx, org, caller }: RequestContext,
  body: CreateRepositoryConnectionBody,
): Promise<connections.ConnectionRow> {
  const address = readAddress(body.type, {
    url: body.url,
    api_url: body.api_url,
    repository_host: body.repository_host,
  })
  const credentials = { ...noCredentials, ...readCredentials(ctx, noCredentials, body) }
  const fields = {
    type: body.type,
    ...address,
    ...credentials,
    checkout_enabled: body.checkout_enabled ?? true,
  }
  refuseUselessCredentials(fields)
  const { host } = fields
  const id = newId()
  return inTransaction(ctx.db, async (trx) => {
    await connections.insert(trx, { id, organization_id: org.id, created_by: caller.user.id, ...fields })
    await renewProviders(trx, org.id, host)
    const data = Object.fromEntries(
      audited.flatMap((key) => (fields[key] === null ? [] : [[key, fields[key]]])),
    )
    await recordConnection(trx, org, caller, 'SCM_REPOSITORY_HOST_CREATED', { id, host }, data)
    return connections.getInOrg(trx, org.id, id)
  })
}
