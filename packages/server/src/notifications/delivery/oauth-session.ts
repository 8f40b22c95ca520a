// The way in to a site that a person has connected: the access token of the service, renewed when its time is up or the
// site refuses it. A refresh token may be good for one use only, so one process at a time renews; the request is made
// outside any transaction, and what came of it is written at once.
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { isOAuthProvider } from '../../config.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { GrantRefused, refreshGrant, siteOf, type Grant, type Site } from './oauth.ts'
import { openSettings, sealSecrets, type SealedService } from './open-service.ts'
import { DeliveryFailed, type Door, type Send, type Service } from '../provider.ts'

type Row = Pick<SealedService, 'settings' | 'secrets_sealed' | 'secrets_key_id'>
type Kept = Pick<Service, 'id' | 'organizationId' | 'provider' | 'settings'>

/** A token that ends within this time is renewed before it is used. */
const marginMs = 60_000
/** Longer than a request can take. */
const leaseSeconds = 20
const waitMs = 5000
const askAgainMs = 100

export function doorOf(ctx: Context, service: Kept, send: Send): Door {
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
      if (!isUsable(ctx, known, refused)) known = await renewed(ctx, site, service, refused)
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

/** By this process, or by another in the meantime. */
async function renewed(
  ctx: Context,
  site: Site,
  service: Kept,
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
    if (isLeased) return await renew(ctx, site, service, grant)
    await delay(askAgainMs)
  } while (performance.now() < until)
  throw new DeliveryFailed('The access token is being renewed, which takes too long.')
}

async function renew(ctx: Context, site: Site, service: Kept, grant: Partial<Grant>): Promise<Grant> {
  try {
    const { refresh_token: refreshToken } = grant
    if (!refreshToken) throw new GrantRefused('The site refuses the access token.', { isFinal: true })
    const next = await refreshGrant(site, ctx.outbound.send, refreshToken, ctx.now())
    await keepGrant(ctx, service, refreshToken, next)
    return next
  } catch (error) {
    await release(ctx, service)
    if (!(error instanceof GrantRefused)) throw error
    const way = 'Somebody has to connect the service again, on the web page that connects services.'
    throw new DeliveryFailed(`${error.message} ${way}`, { isFinal: true })
  }
}

async function lease(ctx: Context, { id, organizationId }: Kept): Promise<{ row: Row; isLeased: boolean }> {
  const { rows: leased } = await sql<Row>`
    update notification_services set refresh_leased_until = now() + make_interval(secs => ${leaseSeconds})
    where organization_id = ${organizationId} and id = ${id}
      and (refresh_leased_until is null or refresh_leased_until < now())
    returning settings, secrets_sealed, secrets_key_id`.execute(ctx.db)
  if (leased[0] !== undefined) return { row: leased[0], isLeased: true }
  const { rows } = await sql<Row>`
    select settings, secrets_sealed, secrets_key_id from notification_services
    where organization_id = ${organizationId} and id = ${id}`.execute(ctx.db)
  if (rows[0] === undefined) throw new DeliveryFailed('The service is gone.', { isFinal: true })
  return { row: rows[0], isLeased: false }
}

async function release(ctx: Context, { id, organizationId }: Kept): Promise<void> {
  await sql`
    update notification_services set refresh_leased_until = null
    where organization_id = ${organizationId} and id = ${id}`.execute(ctx.db)
}

/** Unless the service was connected anew meanwhile: then what came with that counts. */
async function keepGrant(
  ctx: Context,
  { id, organizationId }: Kept,
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
