// A fake site for connected services, over real HTTP: an OAuth 2 server with PKCE, implemented from the RFCs and
// independent of our client, and the APIs of a chat workspace and an issue tracker, which check the token.
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { buildSchema, graphql } from 'graphql'

interface SitePost {
  channel: string
  text: string
  delivery: string | undefined
}

interface SiteIssue {
  id: string
  teamId: string
  title: string
  description: string
  state: 'unstarted' | 'completed'
  comments: string[]
}

interface OAuthSite {
  origin: string
  /** The environment that makes it the site of both providers. */
  env: Record<string, string>
  /** The redirect URIs of the registered app. */
  redirectUris: string[]
  channels: string[]
  posts: SitePost[]
  issues: Map<string, SiteIssue>
  /** Token requests, by grant type and outcome. */
  grants: Array<{ type: string; outcome: string }>
  revoked: string[]
  /** Valid access tokens. */
  tokens: Set<string>
  /** The lifetime of new access tokens; null: they never expire and have no refresh token. */
  expiresIn: number | null
  /** Replaces the site's responses while it is set. */
  answering: ((path: string, response: ServerResponse) => boolean) | null
  /** Whether the tracker closes the connection after it has created the next issue. */
  losesAnswer: boolean
  /** The URL that the user is redirected to after agreeing. */
  agree(authorizeUrl: string): Promise<URL>
  close(): Promise<void>
}

interface Code {
  redirectUri: string
  challenge: string
  isUsed: boolean
}

export const teamId = 'd6b7a5e2-0c43-4c5e-9a51-1f0e2f3b7a10'

/** `hasErrorStatus`: whether errors of the token endpoint have status 400, as in the RFC, or 200 with `ok: false`. */
export async function anOAuthSite({ hasErrorStatus = true } = {}): Promise<OAuthSite> {
  const client = { id: `client-${randomUUID()}`, secret: `secret-${randomUUID()}` }
  const codes = new Map<string, Code>()
  const refreshTokens = new Set<string>()
  const site: OAuthSite = {
    origin: '',
    env: {},
    redirectUris: [],
    channels: ['#builds', '#alerts', 'C123'],
    posts: [],
    issues: new Map(),
    grants: [],
    revoked: [],
    tokens: new Set(),
    expiresIn: null,
    answering: null,
    losesAnswer: false,
    agree: async () => new URL('http://nowhere'),
    close: async () => {},
  }

  const issue = (): Record<string, unknown> => {
    const token = `access-${randomUUID()}`
    site.tokens.add(token)
    if (site.expiresIn === null) return { access_token: token, token_type: 'bot' }
    const refresh = `refresh-${randomUUID()}`
    refreshTokens.add(refresh)
    return { access_token: token, token_type: 'Bearer', expires_in: site.expiresIn, refresh_token: refresh }
  }

  const exchange = (form: URLSearchParams): Record<string, unknown> | string => {
    if (form.get('client_id') !== client.id || form.get('client_secret') !== client.secret)
      return 'invalid_client'
    if (form.get('grant_type') === 'refresh_token') {
      // Valid for one use.
      return refreshTokens.delete(form.get('refresh_token') ?? '') ? issue() : 'invalid_grant'
    }
    const code = codes.get(form.get('code') ?? '')
    const hash = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (code === undefined || code.isUsed || code.redirectUri !== form.get('redirect_uri'))
      return 'invalid_grant'
    if (code.challenge !== hash) return 'invalid_grant'
    code.isUsed = true
    return issue()
  }

  const answerGrant = (form: URLSearchParams, response: ServerResponse) => {
    const outcome = exchange(form)
    site.grants.push({
      type: form.get('grant_type') ?? '',
      outcome: typeof outcome === 'string' ? outcome : 'granted',
    })
    if (typeof outcome !== 'string') return json(response, 200, { ok: true, ...outcome })
    if (hasErrorStatus) return json(response, 400, { error: outcome, error_description: 'No.' })
    return json(response, 200, { ok: false, error: outcome })
  }

  const answerRevoke = (form: URLSearchParams, response: ServerResponse) => {
    const token = form.get('token') ?? ''
    site.tokens.delete(token)
    refreshTokens.delete(token)
    site.revoked.push(token)
    return json(response, 200, { ok: true, revoked: true })
  }

  const tokenOf = (request: IncomingMessage) =>
    /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''

  const answerChat = (method: string, request: IncomingMessage, body: string, response: ServerResponse) => {
    if (!site.tokens.has(tokenOf(request))) return json(response, 200, { ok: false, error: 'invalid_auth' })
    if (method === 'auth.test') return json(response, 200, { ok: true, team: 'Acme', team_id: 'T0ACME' })
    const { channel, text: said } = JSON.parse(body) as { channel: string; text: string }
    if (!site.channels.includes(channel))
      return json(response, 200, { ok: false, error: 'channel_not_found' })
    const delivery = request.headers['x-millrace-delivery']
    site.posts.push({ channel, text: said, delivery: typeof delivery === 'string' ? delivery : undefined })
    return json(response, 200, { ok: true, channel: 'C123', ts: `${Date.now()}`, message: { text: said } })
  }

  const answerTracker = async (request: IncomingMessage, body: string, response: ServerResponse) => {
    if (!site.tokens.has(tokenOf(request))) {
      const extensions = { code: 'AUTHENTICATION_ERROR' }
      return json(response, 400, { errors: [{ message: 'Authentication required', extensions }] })
    }
    const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> }
    const result = await graphql({
      schema: trackerSchema,
      source: query,
      variableValues: variables,
      rootValue: trackerRoot(site.issues),
    })
    if (site.losesAnswer && query.includes('issueCreate')) {
      site.losesAnswer = false
      return void response.destroy()
    }
    return json(response, result.data === undefined ? 400 : 200, result)
  }

  const server = createServer((request, response) => {
    text(request).then(
      async (body) => {
        const { pathname } = new URL(request.url ?? '/', 'http://site')
        if (site.answering?.(pathname, response)) return
        const form = new URLSearchParams(body)
        if (pathname === '/seed') return json(response, 200, issue())
        if (pathname === '/token') return answerGrant(form, response)
        if (pathname === '/revoke') return answerRevoke(form, response)
        if (pathname === '/graphql') return answerTracker(request, body, response)
        return answerChat(pathname.replace('/api/', ''), request, body, response)
      },
      () => response.destroy(),
    )
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  site.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const urls = { AUTHORIZE_URL: '/authorize?kind=site', TOKEN_URL: '/token', REVOKE_URL: '/revoke' }
  const settings = (name: string, api: string) =>
    Object.fromEntries(
      Object.entries({ ...urls, API_URL: api }).map(([key, path]) => [`${name}_${key}`, site.origin + path]),
    )
  for (const [name, api] of [
    ['MILLRACE_CHAT_WORKSPACE', '/api'],
    ['MILLRACE_ISSUE_TRACKER', '/graphql'],
  ] as const) {
    Object.assign(site.env, settings(name, api), {
      [`${name}_CLIENT_ID`]: client.id,
      [`${name}_CLIENT_SECRET`]: client.secret,
    })
  }
  site.agree = async (authorizeUrl) => {
    const { searchParams: asked, origin, pathname } = new URL(authorizeUrl)
    const get = (name: string) => asked.get(name) ?? ''
    if (origin !== site.origin || pathname !== '/authorize') throw new Error(`Not this site: ${authorizeUrl}`)
    if (get('client_id') !== client.id || get('response_type') !== 'code')
      throw new Error('unauthorized_client')
    if (!site.redirectUris.includes(get('redirect_uri'))) throw new Error('redirect_uri is not registered')
    if (get('code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(get('code_challenge'))) {
      throw new Error('PKCE is required')
    }
    if (get('state').length < 20) throw new Error('state is too easy to guess')
    const code = randomUUID()
    codes.set(code, { redirectUri: get('redirect_uri'), challenge: get('code_challenge'), isUsed: false })
    const back = new URL(get('redirect_uri'))
    back.searchParams.set('code', code)
    back.searchParams.set('state', get('state'))
    return back
  }
  site.close = () =>
    new Promise((closed) => {
      server.closeAllConnections()
      server.close(() => closed())
    })
  return site
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify(body))
}

/** The part of a tracker's schema for issues and teams. */
const trackerSchema = buildSchema(`
  input IdComparator { eq: ID, in: [ID!] }
  input StringComparator { eq: String, in: [String!] }
  input TeamFilter { id: IdComparator, key: StringComparator }
  input IssueFilter { id: IdComparator }
  input StateFilter { type: StringComparator }
  input IssueCreateInput { id: String, teamId: String!, title: String, description: String }
  input IssueUpdateInput { stateId: String }
  input CommentCreateInput { issueId: String!, body: String }
  type Organization { id: ID!, name: String! }
  type State { id: ID!, type: String!, position: Float! }
  type States { nodes: [State!]! }
  type Team { id: ID!, key: String!, states(filter: StateFilter): States! }
  type Teams { nodes: [Team!]! }
  type Issue { id: ID!, state: State!, team: Team! }
  type Issues { nodes: [Issue!]! }
  type Payload { success: Boolean! }
  type Query {
    organization: Organization!
    teams(filter: TeamFilter, first: Int): Teams!
    issues(filter: IssueFilter, first: Int): Issues!
  }
  type Mutation {
    issueCreate(input: IssueCreateInput!): Payload!
    issueUpdate(id: String!, input: IssueUpdateInput!): Payload!
    commentCreate(input: CommentCreateInput!): Payload!
  }`)

const states = [
  { id: 'todo', type: 'unstarted', position: 1 },
  { id: 'released', type: 'completed', position: 3 },
  { id: 'done', type: 'completed', position: 2 },
]

const team = {
  id: teamId,
  key: 'ENG',
  states: ({ filter }: { filter?: { type?: { eq?: string } } }) => ({
    nodes: states.filter(({ type }) => filter?.type?.eq === undefined || filter.type.eq === type),
  }),
}

function trackerRoot(issues: Map<string, SiteIssue>) {
  const get = (id: string) => {
    const found = issues.get(id)
    if (found === undefined) throw new Error('Entity not found: Issue')
    return found
  }
  return {
    organization: { id: 'W0', name: 'Acme' },
    teams: ({ filter }: { filter: { id?: { eq: string }; key?: { eq: string } } }) => ({
      nodes: filter.id?.eq === teamId || filter.key?.eq === 'ENG' ? [team] : [],
    }),
    issues: ({ filter }: { filter: { id: { eq: string } } }) => {
      const found = issues.get(filter.id.eq)
      return {
        nodes: found ? [{ id: found.id, state: states.find(({ type }) => type === found.state), team }] : [],
      }
    },
    issueCreate: ({
      input,
    }: {
      input: { id: string; teamId: string; title: string; description: string }
    }) => {
      if (input.teamId !== teamId) throw new Error('Entity not found: Team')
      if (issues.has(input.id)) throw new Error('Entity already exists: Issue')
      issues.set(input.id, { ...input, state: 'unstarted', comments: [] })
      return { success: true }
    },
    issueUpdate: ({ id, input }: { id: string; input: { stateId: string } }) => {
      if (input.stateId !== 'done') throw new Error('Not the first state of its kind')
      get(id).state = 'completed'
      return { success: true }
    },
    commentCreate: ({ input }: { input: { issueId: string; body: string } }) => {
      get(input.issueId).comments.push(input.body)
      return { success: true }
    },
  }
}
