// The only place that takes the session cookie of a request. The cookie alone is no proof that a page of ours asks: a browser adds
// it to requests that other sites cause, and sends it to programs on other ports of the host. So a request also has the page
// secret of its session, which only pages of this origin can read, or a ticket that was issued for the secret.
import type { FastifyRequest } from 'fastify'
import type { FoundToken } from '../auth/find-tokens.ts'
import type { Proof } from '../auth/proven-sessions.ts'
import type { Context } from '../context.ts'
import { readCookie } from './cookies.ts'

type Asking = Pick<FastifyRequest, 'method' | 'headers' | 'url'>

/** Scripts send the secret in this header, which is in no Access-Control-Allow-Headers. */
const header = 'x-millrace-page'

/** How the request may prove its session, beside the header. */
interface Accepted {
  /** Pages and downloads, which a browser asks for without our scripts. */
  ticket: boolean
  /** The secret in the body of a form. */
  formSecret?: string | null
}

/** null: there is no cookie, no valid proof, or no session. Otherwise the response is for pages of this origin alone. */
export async function findSession(
  ctx: Context,
  request: FastifyRequest,
  slug: string | null,
  accepted: Accepted,
): Promise<{ found: FoundToken; value: string } | null> {
  const value = cookieOf(ctx, request)
  const proof = proofOf(request, accepted)
  if (value === null || proof === null || isFromElsewhere(ctx.config.url, request)) return null
  request.hasSession = true
  const found = await ctx.sessions.find(value, proof, slug)
  return found === null ? null : { found, value }
}

function proofOf(request: Asking, { ticket: takesTicket, formSecret = null }: Accepted): Proof | null {
  const given = request.headers[header] ?? formSecret
  if (typeof given === 'string' && given !== '') return { secret: given }
  if (!takesTicket || request.method !== 'GET') return null
  const { path, ticket } = splitTicket(request.url)
  return ticket === null ? null : { ticket, path }
}

/** Takes the parameter `page_ticket`, which is the last one, off the URL. */
export function splitTicket(url: string): { path: string; ticket: string | null } {
  const [, path = url, ticket = null] = /^(.*)[?&]page_ticket=([\w.-]{1,100})$/s.exec(url) ?? []
  return { path, ticket }
}

/** For a page that has proven its session by the secret. */
export const ticketOf = (ctx: Context, request: Asking, path: string): string =>
  ctx.sessions.issueTicket(cookieOf(ctx, request) ?? '', path)

export const hasSessionCookie = (ctx: Context, request: Asking): boolean => cookieOf(ctx, request) !== null

/** What forms are bound to: the session, or before the sign-in a cookie of their own. */
export const formBinding = (ctx: Context, request: Asking): string | null =>
  cookieOf(ctx, request) ?? readCookie(ctx.config.url, 'form', request.headers.cookie)

const cookieOf = ({ config }: Context, { headers }: Asking): string | null =>
  readCookie(config.url, 'session', headers.cookie)

/** Whether the browser says that a page of another origin sent the request. Browsers leave out Sec-Fetch-Site on plain http. */
export function isFromElsewhere(baseUrl: string, { headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  return (
    (origin !== undefined && origin !== new URL(baseUrl).origin) ||
    (site !== undefined && site !== 'same-origin')
  )
}
