// An OAuth session with a site that a person has connected. The access token is refreshed when it expires or when the site
// rejects it. A refresh token may work only once, so a lease lets one process refresh at a time. The request is made outside
// any transaction, and the new tokens are stored at once.
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { isOAuthProvider } from '../../config/outbound.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { isFree, leaseEnd } from '../../tasks/lease.ts'
import { GrantRefused, refreshGrant, siteOf, type Grant, type Site } from './oauth.ts'
import { openSettings, sealSecrets, type SealedService } from './open-service.ts'
import { DeliveryFailed, type OAuthSession, type Send, type Service } from '../provider.ts'

type Row = Pick<SealedService, 'settings' | 'secrets_sealed' | 'secrets_key_id'>
type SessionService = Pick<Service, 'id' | 'organizationId' | 'provider' | 'settings'>

/** A token that expires within this time is refreshed before use. */
const marginMs = 60_000
/** Longer than a request can take. */
const leaseSeconds = 20
const waitMs = 5000
const pollMs = 100

export function openOAuthSession(ctx: Context, service: SessionService, send: Send): OAuthSession {
  const site = isOAuthProvider(service.provider) ? siteOf(ctx.config, service.provider) : null
  if (site === null) {
    throw new DeliveryFailed(
      `The operator has named no site for the provider ${service.provider}: MILLRACE_${service.provider.toUpperCase()}_CLIENT_ID is not set.`,
    )
  }
  let known = grantIn(service.settings)
  return {
    apiUrl: site.apiUrl,
    send,
    async token(refused) {
      if (!isUsable(ctx, known, refused)) known = await refreshed(ctx, site, service, refused)
      return known.access_token
    },
  }
}

const grantIn = (settings: Service['settings']) =>
  settings as unknown as Partial<Grant> & { access_token: string }

function isUsable(ctx: Context, grant: Partial<Grant>, refused: string | undefined): boolean {
  const { access_token: token, refresh_token: refreshToken, token_expires_at: end } = grant
  if (token === refused) return false
  return !refreshToken || !end || Date.parse(end) - ctx.now().getTime() > marginMs
}

/** Refreshed by this process, or by another one meanwhile. */
async function refreshed(
  ctx: Context,
  site: Site,
  service: SessionService,
  refused: string | undefined,
): Promise<ReturnType<typeof grantIn>> {
  const until = performance.now() + waitMs
  do {
    const { row, isLeased } = await lease(ctx, service)
    const grant = grantIn(openSettings(ctx.keys, row))
    if (isUsable(ctx, grant, refused)) {
      if (isLeased) await release(ctx, service)
      return grant
    }
    if (isLeased) return await refresh(ctx, site, service, grant)
    await delay(pollMs)
  } while (performance.now() < until)
  throw new DeliveryFailed('The access token is being renewed, which takes too long.')
}

async function refresh(
  ctx: Context,
  site: Site,
  service: SessionService,
  grant: Partial<Grant>,
): Promise<Grant> {
  try {
    const { refresh_token: refreshToken } = grant
    if (!refreshToken) throw new GrantRefused('The site refuses the access token.', { isFinal: true })
    const next = await refreshGrant(site, ctx.outbound.send, refreshToken, ctx.now())
    await storeGrant(ctx, service, refreshToken, next)
    return next
  } catch (error) {
    await release(ctx, service)
    if (!(error instanceof GrantRefused)) throw error
    const way = 'Somebody has to connect the service again, on the web page that connects services.'
    throw new DeliveryFailed(`${error.message} ${way}`, { isFinal: true })
  }
}

async function lease(
  ctx: Context,
  { id, organizationId }: SessionService,
): Promise<{ row: Row; isLeased: boolean }> {
  const { rows: leased } = await sql<Row>`
    update notification_services set refresh_leased_until = ${leaseEnd(sql`now()`, leaseSeconds)}
    where organization_id = ${organizationId} and id = ${id}
      and ${isFree('refresh_leased_until', sql`now()`)}
    returning settings, secrets_sealed, secrets_key_id`.execute(ctx.db)
  if (leased[0] !== undefined) return { row: leased[0], isLeased: true }
  const { rows } = await sql<Row>`
    select settings, secrets_sealed, secrets_key_id from notification_services
    where organization_id = ${organizationId} and id = ${id}`.execute(ctx.db)
  if (rows[0] === undefined) throw new DeliveryFailed('The service is gone.', { isFinal: true })
  return { row: rows[0], isLeased: false }
}

async function release(ctx: Context, { id, organizationId }: SessionService): Promise<void> {
  await sql`
    update notification_services set refresh_leased_until = null
    where organization_id = ${organizationId} and id = ${id}`.execute(ctx.db)
}

/** Keeps the tokens of a service that was connected again meanwhile. */
async function storeGrant(
  ctx: Context,
  { id, organizationId }: SessionService,
  used: string,
  next: Grant,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const { rows } = await sql<Row>`
      select settings, secrets_sealed, secrets_key_id from notification_services
      where organization_id = ${organizationId} and id = ${id} for update`.execute(trx)
    const [row] = rows
    if (row === undefined) return
    const secrets = openSettings(ctx.keys, { ...row, settings: {} })
    const { token_expires_at: end, ...tokens } = next
    const isSame = secrets['refresh_token'] === used
    await trx
      .updateTable('notification_services')
      .set({
        refresh_leased_until: null,
        ...(isSame
          ? {
              settings: JSON.stringify({ ...row.settings, token_expires_at: end }),
              ...sealSecrets(ctx.keys, { ...secrets, ...tokens }),
            }
          : {}),
      })
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .execute()
  })
}
