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
import { readPrivateKey } from './private-key.ts'
import { isAppType, providerOfConnection, readAppId, readInstallationId, readPlace } from './rules.ts'
import type { CreateRepositoryConnectionBody, UpdateRepositoryConnectionBody } from './schema.ts'

const audited = ['type', 'url', 'api_url', 'host', 'app_id', 'installation_id'] as const

const noSecrets = {
  token_sealed: null,
  token_key_id: null,
  token_hint: null,
  app_id: null,
  installation_id: null,
  private_key_sealed: null,
  private_key_id: null,
  private_key_hint: null,
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
    const data = Object.fromEntries(
      audited.flatMap((key) => (fields[key] === null ? [] : [[key, fields[key]]])),
    )
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
    refuseMovedSecret(before, fields, body)
    await connections.updateInOrg(trx, org.id, id, set)
    if (place.host !== before.host) {
      await connections.setProvider(trx, org.id, before.host, providerOf(`https://${before.host}/`))
      await connections.setProvider(trx, org.id, place.host, providerOfConnection(before.type, place.host))
    }
    await audit(trx, org, caller, 'SCM_REPOSITORY_HOST_UPDATED', fields, {
      ...changedAttributes(before, fields, audited),
      ...(fields.token_sealed === before.token_sealed ? {} : { token_changed: true }),
      ...(fields.private_key_sealed === before.private_key_sealed ? {} : { private_key_changed: true }),
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
    ...readApp(ctx, before, body),
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

/** The key comes back as its fingerprint, which it is shown as, and stays what it is. */
function readApp(ctx: Context, before: Secrets, body: UpdateRepositoryConnectionBody): Partial<Secrets> {
  const { app_id, installation_id, private_key: given } = body
  const ids = {
    ...(app_id === undefined ? {} : { app_id: readAppId(app_id) }),
    ...(installation_id === undefined ? {} : { installation_id: readInstallationId(installation_id) }),
  }
  if (given === undefined || (given !== null && given !== '' && given === before.private_key_hint)) return ids
  if (!given) return { ...ids, private_key_sealed: null, private_key_id: null, private_key_hint: null }
  const { pem, fingerprint } = readPrivateKey(given)
  const { sealed, keyId } = ctx.keys.seal(pem)
  return { ...ids, private_key_sealed: sealed, private_key_id: keyId, private_key_hint: fingerprint }
}

const pickSecrets = (row: Secrets): Secrets => ({
  token_sealed: row.token_sealed,
  token_key_id: row.token_key_id,
  token_hint: row.token_hint,
  app_id: row.app_id,
  installation_id: row.installation_id,
  private_key_sealed: row.private_key_sealed,
  private_key_id: row.private_key_id,
  private_key_hint: row.private_key_hint,
  webhook_secret_sealed: row.webhook_secret_sealed,
  webhook_secret_key_id: row.webhook_secret_key_id,
  webhook_secret_hint: row.webhook_secret_hint,
})

function refuseUseless(fields: connections.ConnectionFields): void {
  const { type, token_sealed } = fields
  if (type === 'git' && token_sealed !== null) {
    throw validationFailed('token is of no use: a plain git server has no API to send commit statuses to')
  }
  if (isAppType(type) && token_sealed !== null) {
    throw validationFailed('token is of no use: a GitHub App makes its own, with private_key')
  }
  for (const [name, value] of [
    ['app_id', fields.app_id],
    ['installation_id', fields.installation_id],
    ['private_key', fields.private_key_hint],
  ]) {
    if (isAppType(type) && value === null) throw validationFailed(`${name} is required for a GitHub App`)
    if (!isAppType(type) && value !== null) {
      throw validationFailed(`${name} is of a GitHub App; type must be github_app or github_enterprise_app`)
    }
  }
}

/** Whoever may change the address but never saw the secret must not have it, or what it signs, sent to them. */
function refuseMovedSecret(
  before: connections.ConnectionRow,
  after: connections.ConnectionFields,
  body: UpdateRepositoryConnectionBody,
): void {
  const isSame = before.api_url === after.api_url && before.host === after.host
  const isOld = (now: Buffer | null, then: Buffer | null) => now !== null && now === then
  const isToken = isOld(after.token_sealed, before.token_sealed)
  const isKey = isOld(after.private_key_sealed, before.private_key_sealed)
  // The host is told it when a webhook is made there.
  const isSecret = isOld(after.webhook_secret_sealed, before.webhook_secret_sealed)
  if (isSame || !(isToken || isKey || isSecret)) return
  throw validationFailed(
    `${isToken ? 'token' : isKey ? 'private_key' : 'webhook_secret'} is required when ${body.url === undefined ? 'the address of the API or the host' : 'url'} changes`,
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
