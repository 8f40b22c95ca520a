// Asks a person whether a program may have an access token, and sends the browser back to the program with a code.
import type { Scope } from '../../auth/scopes.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../lib/errors.ts'
import { listOrganizations } from '../../resources/people/access-tokens/queries.ts'
import { html } from '../html.ts'
import type { Page, Redirect } from '../page.ts'
import { allowsRedirect, isLoopback, readClient, type Client } from './clients.ts'
import { insertCode } from './codes.ts'
import { consentForm, nothingToGive } from './consent-form.ts'
import { grantDays, grantOf, scopesToGive } from './grant.ts'
import { readScopes } from './scopes.ts'

export const authorizePath = '/-/oauth/authorize'

/** What a program sends along with the person. The form of the page repeats it. */
const parameters = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'resource',
]

interface Asked {
  clientId: string
  client: Client
  redirectUri: string
  state: string | null
  challenge: string
  scopes: Scope[]
}

const showConsent: Page = {
  method: 'GET',
  url: authorizePath,
  permission: 'token',
  scope: 'write_user',
  async handler(input) {
    const { ctx, caller, query, formField } = input
    const asked = readAsked(ctx, query)
    const scopes = scopesToGive(input, asked.scopes)
    if (scopes.length === 0) return nothingToGive(asked.client.name, asked.scopes)
    const organizations = await listOrganizations(ctx.db, caller)
    const given = parameters.flatMap((name) => {
      const value = query.get(name)
      return value === null ? [] : [[name, value] as const]
    })
    return consentForm({
      program: asked.client.name,
      action: authorizePath,
      formsTo: [originOf(asked.redirectUri)],
      note: html`Programs choose their own names: allow this only if you have just started it. The answer goes
      to ${placeOf(asked.redirectUri)}.`,
      scopes,
      organizations,
      given,
      formField,
      user: caller.user,
      days: grantDays,
    })
  },
}

const decide: Page = {
  method: 'POST',
  url: authorizePath,
  permission: 'token',
  scope: 'write_user',
  async handler(input) {
    const { ctx, caller, form } = input
    const asked = readAsked(ctx, form)
    if (form.get('choice') !== 'allow') return backTo(ctx, asked, { error: 'access_denied' })
    const request = await grantOf(input, asked.client.name, asked.scopes)
    const code = await insertCode(
      ctx.db,
      { ...asked, userId: caller.user.id, tokenRequest: request },
      ctx.now(),
    )
    return backTo(ctx, asked, { code })
  },
}

/**
 * Throws, and the person sees why. Nothing leads the browser to the program before the person has decided, because anybody can
 * register a program and make a link.
 */
function readAsked(ctx: Context, given: URLSearchParams): Asked {
  const clientId = given.get('client_id') ?? ''
  const client = readClient(ctx.keys, clientId)
  if (client === null) throw badRequest('This program is not registered here. Let it register again.')
  const redirectUri = given.get('redirect_uri') ?? ''
  if (!URL.canParse(redirectUri) || !allowsRedirect(client, redirectUri))
    throw badRequest(`${client.name} has not registered the address that the answer should go to.`)
  const challenge = given.get('code_challenge') ?? ''
  if (given.get('response_type') !== 'code' || given.get('code_challenge_method') !== 'S256')
    throw badRequest(`${client.name} must ask with response_type=code and code_challenge_method=S256.`)
  if (!/^[\w-]{43}$/.test(challenge)) throw badRequest(`${client.name} sent no valid code_challenge.`)
  const resource = given.get('resource')
  if (resource !== null && !isOurs(ctx, resource))
    throw badRequest(`${client.name} asks for a token for ${resource}, which is not this server.`)
  const scopes = readScopes(given.get('scope') ?? '')
  if (scopes.length === 0) throw badRequest(`${client.name} names no scope that programs can have here.`)
  return { clientId, client, redirectUri, state: given.get('state'), challenge, scopes }
}

const isOurs = (ctx: Context, resource: string) =>
  URL.canParse(resource) && new URL(resource).origin === new URL(ctx.config.url).origin

/** Where forms of the page may lead to, for the browser. */
function originOf(uri: string): string {
  const { protocol, origin } = new URL(uri)
  return origin === 'null' ? protocol : origin
}

function placeOf(uri: string): string {
  if (isLoopback(uri)) return 'a program on your machine'
  const { protocol, host } = new URL(uri)
  return protocol === 'https:' ? host : `the application that opens ${protocol} links`
}

function backTo(
  ctx: Context,
  { redirectUri, state }: Asked,
  answer: { code: string } | { error: string },
): Redirect {
  const to = new URL(redirectUri)
  const members = { ...answer, ...(state === null ? {} : { state }), iss: ctx.config.url }
  for (const [name, value] of Object.entries(members)) to.searchParams.set(name, value)
  return { to: to.href }
}

/** Programs that were made for Buildkite know this path in advance. */
const redirectToConsent: Page = {
  method: 'GET',
  url: '/oauth/authorize',
  permission: 'anonymous',
  async handler({ query }) {
    return { to: `${authorizePath}?${query.toString()}` }
  },
}

export const authorizePages: readonly Page[] = [showConsent, decide, redirectToConsent]
