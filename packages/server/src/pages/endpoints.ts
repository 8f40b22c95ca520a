// Web pages as endpoints: finds the session that the request proves, checks the page's access rule, and accepts only forms of our
// own pages.
import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FoundToken } from '../auth/find-tokens.ts'
import type { Context } from '../context.ts'
import { admit, countRequest, userAgentOf, type Rule } from '../http/access.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { keepForTheRest, sayWhenToRetry, toApiError } from '../http/error-handler.ts'
import { pathOf } from '../http/query.ts'
import {
  findSession,
  formBinding,
  hasSessionCookie,
  isFromElsewhere,
  splitTicket,
} from '../http/session-cookie.ts'
import { ApiError, forbidden, notFound } from '../lib/errors.ts'
import { isStorable } from '../lib/unstorable.ts'
import { readCookie, writeCookie } from '../http/cookies.ts'
import { html } from './html.ts'
import { layout, pageHeaders } from './layout.ts'
import { missingPage } from './missing-page.ts'
import type { MemberInput, Page, PageAnswer, PageInput, Redirect, Session } from './page.ts'
import type { Site } from './site.ts'
import { sendShell, wantsPage } from './web.ts'

export const pageEndpoints = (ctx: Context, pages: readonly Page[]): Endpoint[] =>
  pages.map((page) => ({
    methods: [page.method],
    url: page.url,
    body: 'form',
    bodyLimitBytes: 16_384,
    // Pages of other sites may not read ours.
    onSend: async (_request, reply) => void reply.removeHeader('Access-Control-Allow-Origin'),
    errorHandler: answerError,
    handle: async (request, reply) => sendPage(ctx, request, reply, await answer(ctx, page, request)),
  }))

/** null: the request does not come from a browser. */
export function answerMissingPage(
  ctx: Context,
  site: Site | null,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | null {
  if (!wantsPage(request)) return null
  if (site === null) return sendPage(ctx, request, reply, missingPage(pathOf(request.url)))
  return sendShell(site, request, reply)
}

async function answer(ctx: Context, page: Page, request: FastifyRequest): Promise<PageAnswer | Redirect> {
  if (page.method === 'POST') refuseForeignForm(ctx, request)
  const { path, ticket } = splitTicket(request.url)
  const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
  const params = request.params as Record<string, string>
  const slug = params['org'] ?? null
  if (slug !== null && !isStorable(slug)) throw notFound('No organization found')
  const accepted = { ticket: true, formSecret: form.get('page_secret') }
  const proven = await findSession(ctx, request, slug, accepted)
  // A browser that opens a page by itself proves nothing yet.
  const isUnproven = proven === null && hasSessionCookie(ctx, request)
  if (isUnproven && page.method === 'GET' && ticket !== 'none') return proveFirst(path)
  const session = proven === null ? null : toSession(proven)
  const input: PageInput = {
    ctx,
    params,
    query: new URL(path, ctx.config.url).searchParams,
    form,
    formField: html`<input type="hidden" name="form_code" value="${formCode(ctx, request)}" /><input
        type="hidden"
        name="page_secret"
        value=""
      />`,
    session,
    isUnproven,
    cookie: (name) => readCookie(ctx.config.url, name, request.headers.cookie),
    visitor: { ip: request.ip, userAgent: userAgentOf(request) },
  }
  if (page.permission === 'anonymous') return page.handler(input)
  if (proven === null || session === null) return signInFirst(page, path)
  const rule = { ...page, feature: null, params: {} }
  const { caller, org } = await countAndAdmit(ctx, rule, proven.found, request)
  const member: MemberInput = {
    ...input,
    session,
    caller,
    async enter(wanted, permission) {
      if (org?.slug === wanted && page.permission === permission) return org
      const again = await findSession(ctx, request, wanted, accepted)
      if (again === null) throw forbidden('You are not signed in any more.')
      const within = { ...rule, permission, url: '/organizations/:org' }
      const entered = await countAndAdmit(ctx, within, again.found, request)
      if (entered.org === null) throw notFound('No organization found')
      return entered.org
    },
  }
  return page.handler(member)
}

const toSession = ({ found, value }: { found: FoundToken; value: string }): Session | null =>
  found.session !== null
    ? {
        ...found.session,
        value,
        user: found.user,
        scopes: found.scopes,
        organizationIds: found.organization_ids,
      }
    : null

/** Requests for pages count too. */
async function countAndAdmit(ctx: Context, rule: Rule, token: FoundToken, request: FastifyRequest) {
  await countRequest(ctx, request, token)
  return admit(ctx, rule, token, request)
}

/** Accepts a form that was sent from our own origin, with the code that the server put into it for this cookie. */
function refuseForeignForm(ctx: Context, request: FastifyRequest): void {
  if (isFromElsewhere(ctx.config.url, request)) {
    const own = new URL(ctx.config.url).origin
    throw forbidden(`This form was not sent from a page of ${own}. Open that address and try again.`)
  }
  const given = request.body instanceof URLSearchParams ? request.body.get('form_code') : null
  const bound = formBinding(ctx, request)
  const code = Buffer.from(given ?? '', 'hex')
  if (bound === null || !ctx.keys.verify('form', bound, code)) {
    throw forbidden('This form has expired. Go back, reload the page and try again.')
  }
}

const newBindings = new WeakMap<FastifyRequest, string>()

function formCode(ctx: Context, request: FastifyRequest): string {
  const known = formBinding(ctx, request)
  const bound = known ?? randomBytes(24).toString('hex')
  if (known === null) newBindings.set(request, bound)
  return ctx.keys.sign('form', bound).toString('hex')
}

const signInFirst = ({ method }: Page, path: string): Redirect => ({
  to: method === 'GET' ? `/sign-in?next=${encodeURIComponent(path)}` : '/sign-in',
})

/** The same for everybody. Its script asks for the page with a ticket, or with "none" if the browser has no secret. */
const proveFirst = (path: string): PageAnswer => ({
  title: 'One moment',
  content: html`<noscript
      ><p class="problem" role="alert">The pages of Millrace need JavaScript.</p></noscript
    >
    <div id="again" hidden>
      <p>The server did not open this page for you.</p>
      <p><a class="primary" href="${path}">Try again</a></p>
      <p><a href="/sign-in?page_ticket=none">Sign in</a></p>
    </div>`,
  script: { does: 'prove', path },
})

function sendPage(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  made: PageAnswer | Redirect,
): FastifyReply {
  const binding = newBindings.get(request)
  const cookies = [
    ...(made.cookies ?? []),
    ...(binding === undefined ? [] : [writeCookie(ctx.config.url, 'form', binding, 3600)]),
  ]
  if (cookies.length > 0) void reply.header('Set-Cookie', cookies)
  if ('to' in made) return reply.headers(pageHeaders()).code(303).header('Location', made.to).send()
  return reply
    .headers(pageHeaders(made.formsTo))
    .code(made.status ?? 200)
    .type('text/html; charset=utf-8')
    .send(layout(made.title, made.content, made.script))
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = toApiError(error) ?? unknown(error, request)
  keepForTheRest(error, request, reply)
  sayWhenToRetry(known, reply)
  void reply
    .headers(pageHeaders())
    .code(known.status)
    .type('text/html; charset=utf-8')
    .send(layout('That did not work', html`<p>${known.message}</p>`))
}

function unknown(error: unknown, request: FastifyRequest): ApiError {
  request.log.error({ err: error, request_id: request.id }, 'A page failed because of a bug.')
  return new ApiError(
    500,
    `Something went wrong on our side. The request id ${request.id} finds it in the log.`,
  )
}
