import { byCaller, changedAttributes, recordAudit, type Origin } from '../../../audit/record.ts'
import type { AuditType } from '../../../audit/types.ts'
import type { Context, RequestContext } from '../../../context.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import * as organizations from '../organizations/queries.ts'
import * as teams from '../teams/queries.ts'
import * as sso from './queries.ts'
import { defaults, readDomains, readGroupTeams, readScopes, requireIssuer } from './rules.ts'
import type { UpdateSsoBody } from './schema.ts'

const audited = [
  'issuer',
  'client_id',
  'scopes',
  'groups_claim',
  'group_teams',
  'email_domains',
  'provision',
  'is_required',
] as const

/** Sets single sign-on up, or changes it: what is not given stays. */
export async function updateSso(
  { ctx, org, caller }: RequestContext,
  body: UpdateSsoBody,
): Promise<sso.SsoRow> {
  const now = ctx.now().toISOString()
  return inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    const before = await sso.findOfOrg(trx, org.id)
    const fields = readFields(ctx, before, body)
    if (!fields.is_enabled || fields.issuer !== before?.issuer) await sso.deleteSignIns(trx, org.id)
    await sso.save(trx, org.id, { ...fields, id: before?.id ?? newId(), updated_at: now })
    if (body.group_teams !== undefined) await replaceGroupTeams(trx, org.id, body.group_teams)
    const after = await sso.findOfOrg(trx, org.id)
    if (after === undefined) throw new Error('The settings are missing after the insert.')
    for (const [type, data] of eventsOf(before, after)) await record(trx, byCaller(caller), type, after, data)
    return after
  })
}

function readFields(ctx: Context, before: sso.SsoRow | undefined, body: UpdateSsoBody): sso.SsoFields {
  const { issuer = before?.issuer, client_id: clientId = before?.client_id, client_secret: secret } = body
  if (issuer === undefined) throw validationFailed('issuer is required')
  if (clientId === undefined) throw validationFailed('client_id is required')
  requireIssuer(ctx.config.url, issuer)
  return {
    issuer,
    client_id: clientId,
    ...readSecret(ctx, before, secret, issuer),
    scopes: body.scopes === undefined ? (before?.scopes ?? defaults.scopes) : readScopes(body.scopes),
    groups_claim: body.groups_claim ?? before?.groups_claim ?? defaults.groups_claim,
    email_domains: readDomains(body.email_domains ?? before?.email_domains ?? defaults.email_domains),
    provision: body.provision ?? before?.provision ?? defaults.provision,
    is_required: body.sso_required ?? before?.is_required ?? defaults.is_required,
    is_enabled: body.enabled ?? before?.is_enabled ?? defaults.is_enabled,
  }
}

/** An administrator who never saw the secret must not have it sent to another provider. */
function readSecret(
  ctx: Context,
  before: sso.SsoRow | undefined,
  secret: string | undefined,
  issuer: string,
): Pick<sso.SsoFields, 'client_secret_sealed' | 'client_secret_key_id'> {
  if (secret !== undefined) {
    const { sealed, keyId } = ctx.keys.seal(secret)
    return { client_secret_sealed: sealed, client_secret_key_id: keyId }
  }
  if (before === undefined) throw validationFailed('client_secret is required')
  if (issuer !== before.issuer) throw validationFailed('client_secret is required when issuer changes')
  const { client_secret_sealed, client_secret_key_id } = before
  return { client_secret_sealed, client_secret_key_id }
}

async function replaceGroupTeams(
  trx: Trx,
  orgId: string,
  given: NonNullable<UpdateSsoBody['group_teams']>,
): Promise<void> {
  const groupTeams = readGroupTeams(given)
  const held = await teams.holdIds(
    trx,
    orgId,
    groupTeams.map(({ team_id: id }) => id),
  )
  const missing = groupTeams.find(({ team_id: id }) => !held.includes(id))
  if (missing !== undefined) {
    throw validationFailed(
      `group_teams has the team_id ${missing.team_id}, which is no team of this organization`,
    )
  }
  await sso.replaceGroupTeams(trx, orgId, groupTeams)
}

type Event = readonly [AuditType, Record<string, unknown>]

function eventsOf(before: sso.SsoRow | undefined, after: sso.SsoRow): Event[] {
  if (before === undefined) {
    const data = Object.fromEntries(audited.map((key) => [key, after[key]]))
    return [['SSO_PROVIDER_CREATED', { ...data, is_enabled: after.is_enabled }]]
  }
  const isNewSecret = !before.client_secret_sealed.equals(after.client_secret_sealed)
  const changes = {
    ...changedAttributes(before, after, audited),
    ...(isNewSecret ? { client_secret_changed: true } : {}),
  }
  const enabled = after.is_enabled ? 'SSO_PROVIDER_ENABLED' : 'SSO_PROVIDER_DISABLED'
  return [
    ...(Object.keys(changes).length === 0 ? [] : [['SSO_PROVIDER_UPDATED', changes] as const]),
    ...(before.is_enabled === after.is_enabled ? [] : [[enabled, {}] as const]),
  ]
}

const record = (
  trx: Trx,
  origin: Origin,
  type: AuditType,
  { id, organization_id: organizationId, issuer }: sso.SsoRow,
  data: Record<string, unknown>,
): Promise<void> =>
  recordAudit(trx, origin, {
    organizationId,
    type,
    subject: { type: 'SsoProvider', uuid: id, name: issuer },
    data,
  })

/** Single sign-on is set up anew by the next update. */
export async function deleteSso({ ctx, org, caller }: RequestContext): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    const before = await sso.findOfOrg(trx, org.id)
    if (before === undefined) throw notFound('No single sign-on found')
    await sso.deleteOfOrg(trx, org.id)
    await record(trx, byCaller(caller), 'SSO_PROVIDER_DELETED', before, {})
  })
}

/** For the operator, who helps administrators that have locked themselves out. */
export async function disableSso(db: Db, origin: Origin, slug: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const org = await trx
      .selectFrom('organizations')
      .select('id')
      .where('slug', '=', slug)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (org === undefined) throw notFound(`There is no organization "${slug}".`)
    const before = await sso.findOfOrg(trx, org.id)
    if (before === undefined) throw notFound(`The organization "${slug}" has no single sign-on.`)
    if (!before.is_enabled) return
    await sso.disable(trx, org.id)
    await record(trx, origin, 'SSO_PROVIDER_DISABLED', before, {})
  })
}
