import { byCaller, changedAttributes, recordAudit } from '../../audit/record.ts'
import type { AuditType } from '../../audit/types.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound, validationFailed } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { mask } from '../../lib/masks.ts'
import { providerOf } from '../pipelines/provider.ts'
import * as connections from './queries.ts'
import { providerOfConnection, readPlace } from './rules.ts'
import type { CreateRepositoryConnectionBody, UpdateRepositoryConnectionBody } from './schema.ts'

const audited = ['type', 'url', 'api_url', 'host'] as const

const noSecrets = {
  token_sealed: null,
  token_key_id: null,
  token_hint: null,
  webhook_secret_sealed: null,
  webhook_secret_key_id: null,
  webhook_secret_hint: null,
}

export async function createConnection(
  ctx: Context,
  org: Organization,
  caller: Caller,
  body: CreateRepositoryConnectionBody,
): Promise<connections.ConnectionRow> {
  const place = readPlace(body.type, {
    url: body.url,
    api_url: body.api_url,
    repository_host: body.repository_host,
  })
  const fields = { ...noSecrets, type: body.type, ...place, ...readSecrets(ctx, noSecrets, body) }
  refuseUseless(fields)
  const id = newId()
  return inTransaction(ctx.db, async (trx) => {
    await connections.insert(trx, { id, organization_id: org.id, created_by: caller.user.id, ...fields })
    await connections.setProvider(trx, org.id, fields.host, providerOfConnection(fields.type, fields.host))
    const data = Object.fromEntries(audited.map((key) => [key, fields[key]]))
    await audit(trx, org, caller, 'SCM_REPOSITORY_HOST_CREATED', { id, host: fields.host }, data)
    return getInOrg(trx, org, id)
  })
}

export async function updateConnection(
  ctx: Context,
  org: Organization,
  caller: Caller,
  id: string,
  body: UpdateRepositoryConnectionBody,
): Promise<connections.ConnectionRow> {
  return inTransaction(ctx.db, async (trx) => {
    const before = await connections.lockInOrg(trx, org.id, id)
    if (before === undefined) throw notFound('No repository connection found')
    const hasMoved = body.url !== undefined && body.url !== before.url
    const place = readPlace(before.type, {
      url: body.url ?? before.url,
      api_url: body.api_url === undefined && !hasMoved ? before.api_url : body.api_url,
      repository_host: body.repository_host === undefined && !hasMoved ? before.host : body.repository_host,
    })
    const set = { ...place, ...readSecrets(ctx, before, body) }
    const fields = { ...before, ...set }
    refuseUseless(fields)
    refuseMovedToken(before, fields, body)
    await connections.updateInOrg(trx, org.id, id, set)
    if (place.host !== before.host) {
      await connections.setProvider(trx, org.id, before.host, providerOf(`https://${before.host}/`))
      await connections.setProvider(trx, org.id, place.host, providerOfConnection(before.type, place.host))
    }
    await audit(trx, org, caller, 'SCM_REPOSITORY_HOST_UPDATED', fields, {
      ...changedAttributes(before, fields, audited),
      ...(fields.token_sealed === before.token_sealed ? {} : { token_changed: true }),
      ...(fields.webhook_secret_sealed === before.webhook_secret_sealed
        ? {}
        : { webhook_secret_changed: true }),
    })
    return getInOrg(trx, org, id)
  })
}

export async function deleteConnection(
  ctx: Context,
  org: Organization,
  caller: Caller,
  id: string,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const connection = await connections.lockInOrg(trx, org.id, id)
    if (connection === undefined) throw notFound('No repository connection found')
    await connections.deleteInOrg(trx, org.id, id)
    await connections.setProvider(trx, org.id, connection.host, providerOf(`https://${connection.host}/`))
    await audit(trx, org, caller, 'SCM_REPOSITORY_HOST_DESTROYED', connection, {})
  })
}

type Secrets = Pick<connections.ConnectionFields, keyof typeof noSecrets>

/** A secret that comes back masked, as it was shown, stays what it is. */
function readSecrets(ctx: Context, before: Secrets, body: UpdateRepositoryConnectionBody): Secrets {
  const [token, secret] = [body.token, body.webhook_secret]
  const keeps = (given: string | null | undefined, hint: string | null) =>
    given === undefined || (given !== null && given !== '' && given === hint)
  const [tokenBox, secretBox] = [token ? ctx.keys.seal(token) : null, secret ? ctx.keys.seal(secret) : null]
  return {
    ...pickSecrets(before),
    ...(keeps(token, before.token_hint)
      ? {}
      : {
          token_sealed: tokenBox?.sealed ?? null,
          token_key_id: tokenBox?.keyId ?? null,
          token_hint: token ? mask(token) : null,
        }),
    ...(keeps(secret, before.webhook_secret_hint)
      ? {}
      : {
          webhook_secret_sealed: secretBox?.sealed ?? null,
          webhook_secret_key_id: secretBox?.keyId ?? null,
          webhook_secret_hint: secret ? mask(secret) : null,
        }),
  }
}

const pickSecrets = (row: Secrets): Secrets => ({
  token_sealed: row.token_sealed,
  token_key_id: row.token_key_id,
  token_hint: row.token_hint,
  webhook_secret_sealed: row.webhook_secret_sealed,
  webhook_secret_key_id: row.webhook_secret_key_id,
  webhook_secret_hint: row.webhook_secret_hint,
})

function refuseUseless({ type, token_sealed }: connections.ConnectionFields): void {
  if (type === 'git' && token_sealed !== null) {
    throw validationFailed('token is of no use: a plain git server has no API to send commit statuses to')
  }
}

/** Whoever may change the address but never saw the token must not have it sent to them. */
function refuseMovedToken(
  before: connections.ConnectionRow,
  after: connections.ConnectionFields,
  body: UpdateRepositoryConnectionBody,
): void {
  const isSame = before.api_url === after.api_url && before.host === after.host
  if (isSame || after.token_sealed === null || after.token_sealed !== before.token_sealed) return
  throw validationFailed(
    `token is required when ${body.url === undefined ? 'the address of the API or the host' : 'url'} changes`,
  )
}

async function getInOrg(trx: Trx, org: Organization, id: string): Promise<connections.ConnectionRow> {
  const connection = await connections.findInOrg(trx, org.id, id)
  if (connection === undefined) throw new Error('A repository connection vanished while it was changed.')
  return connection
}

async function audit(
  trx: Trx,
  org: Organization,
  caller: Caller,
  type: AuditType,
  { id, host }: { id: string; host: string },
  data: Record<string, unknown>,
): Promise<void> {
  await recordAudit(trx, byCaller(caller), {
    organizationId: org.id,
    type,
    subject: { type: 'ScmRepositoryHost', uuid: id, name: host },
    data,
  })
}
