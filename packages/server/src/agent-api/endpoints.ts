// Agent routes as endpoints: whose token it is, before the body is read. Every route reads its own body.
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Dispatcher } from '../conductor/dispatch/dispatcher.ts'
import { noteJobRequest } from '../conductor/lost-agents.ts'
import type { Context } from '../context.ts'
import { sendAnswer } from '../http/answer.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { askForPassword } from '../http/error-handler.ts'
import type { RawQuery } from '../http/query.ts'
import { holdAgentRequest } from '../http/limits/agent-requests.ts'
import { untilGone } from '../http/limits/gone.ts'
import { allowSlowBody } from '../http/slow-bodies.ts'
import { badRequest, notFound, unauthorized } from '../lib/errors.ts'
import type { Owner } from '../lib/holdings.ts'
import { isUuid } from '../lib/ids.ts'
import { otherJob, type AgentRoute, type AgentRequest, type TokenOwners, type TokenKind } from './route.ts'
import { findSuite } from './suite-token.ts'
import * as tokens from './tokens.ts'
import { requireTrust } from './trust.ts'

export function agentEndpoints(
  ctx: Context,
  dispatcher: Dispatcher,
  routes: readonly AgentRoute[],
): Endpoint[] {
  const owners = new WeakMap<FastifyRequest, TokenOwners[TokenKind]>()
  return routes.map((route) => ({
    methods: [route.method],
    url: route.url,
    body: 'bytes',
    bodyLimitBytes: route.bodyLimitBytes,
    makesNoWork: route.makesNoWork,
    async admit(request) {
      const owner = await authenticate(ctx, route, request)
      owners.set(request, owner)
      const sender = senderOf(owner)
      if (sender === null) return
      // The agents of a whole fleet register with one token, at once after a restart.
      const isJoining = 'registration' in owner || 'joining' in owner
      const holder = isJoining ? { ...sender, sender: request.id } : sender
      holdAgentRequest(ctx, holder, untilGone(request))
      allowSlowBody(request, sender)
    },
    ...(route.takesBasic ? { errorHandler: askForPassword } : {}),
    async handle(request, reply) {
      const input = {
        ctx,
        dispatcher,
        request: describe(request),
        params: request.params as Record<string, string>,
        query: request.query as RawQuery,
      }
      return sendAnswer(reply, await route.run(input, owners.get(request) ?? {}))
    },
  }))
}

/** null: the route takes no token. */
function senderOf(owner: TokenOwners[TokenKind]): Owner | null {
  if ('job' in owner) return { organizationId: owner.job.organizationId, sender: owner.job.id }
  if ('agent' in owner) return { organizationId: owner.agent.organizationId, sender: owner.agent.id }
  if ('suite' in owner) return { organizationId: owner.suite.organizationId, sender: owner.suite.id }
  if ('registration' in owner) return senderOfRegistration(owner.registration)
  if (!('joining' in owner)) return null
  const { joining } = owner
  if (joining.kind === 'own') return senderOfRegistration(joining.registration)
  return { organizationId: joining.hosted.organization.id, sender: joining.hosted.hostedAgentId }
}

const senderOfRegistration = ({ organization, tokenId }: tokens.Registration): Owner => ({
  organizationId: organization.id,
  sender: tokenId,
})

const describe = (request: FastifyRequest): AgentRequest => ({
  id: request.id,
  ip: request.ip,
  headers: request.headers,
  userAgent: request.headers['user-agent']?.slice(0, 500) ?? null,
  body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
  gone: () => untilGone(request),
})

async function authenticate(
  ctx: Context,
  route: AgentRoute,
  request: FastifyRequest,
): Promise<TokenOwners[TokenKind]> {
  if (/%00/.test(request.url)) throw badRequest('The URL contains a NUL character.')
  if (route.token === 'none') return {}
  const token = readToken(route, request.headers.authorization)
  if (token === null) throw unauthorized('Send the token as "Authorization: Token …".')
  switch (route.token) {
    case 'registration':
      return { registration: await tokens.findRegistration(ctx, token, request.ip) }
    case 'joining':
      return { joining: await tokens.findJoining(ctx, token, request.ip) }
    case 'session':
      return { agent: await tokens.findSession(ctx, token, request.ip) }
    case 'ended_session':
      return { agent: await tokens.findEndedSession(ctx, token) }
    case 'session_or_job':
      return { agent: await findAgentOfEither(ctx, route, token, request.ip) }
    case 'suite':
      return { suite: await findSuite(ctx.db, token) }
    case 'job':
    case 'ended_job': {
      const find = route.token === 'job' ? tokens.findRunningJob : tokens.findEndedJob
      const job = await find(ctx, token)
      if (!route.isLast) noteJobRequest(ctx, job)
      await requireReach(ctx, route, job, (request.params as Record<string, string>)['job'])
      await refuseForks(ctx, route, job)
      return { job }
    }
  }
}

async function findAgentOfEither(
  ctx: Context,
  route: AgentRoute,
  token: string,
  ip: string,
): Promise<tokens.Agent> {
  if (!token.startsWith('mrjt_')) return tokens.findSession(ctx, token, ip)
  const job = await tokens.findRunningJob(ctx, token)
  await refuseForks(ctx, route, job)
  return tokens.getAgent(ctx, job.organizationId, job.agent.id)
}

async function refuseForks(ctx: Context, { forks }: AgentRoute, job: tokens.RunningJob): Promise<void> {
  if (typeof forks === 'object' && forks !== null) await requireTrust(ctx.db, job, forks.refused)
}

/** The id of another job gets the same answer whether that job exists or not. */
async function requireReach(
  ctx: Context,
  { reach }: AgentRoute,
  job: tokens.RunningJob,
  named: string | undefined,
): Promise<void> {
  if (named === undefined || named.toLowerCase() === job.id) return
  if (!isUuid(named)) throw notFound('No job found')
  if (reach === 'job') throw otherJob()
  const { rows } = await sql`
    select from jobs where organization_id = ${job.organizationId} and build_id = ${job.buildId} and id = ${named}`.execute(
    ctx.db,
  )
  if (rows.length === 0) throw otherJob()
}

function readToken({ takesBasic }: AgentRoute, header: string | undefined): string | null {
  const [, pair] = (takesBasic && /^Basic +([\w+/=]{1,1000}) *$/i.exec(header ?? '')) || []
  if (pair !== undefined) return Buffer.from(pair, 'base64').toString('latin1').split(':')[1] ?? null
  const match = /^Token +([\x21-\x7e]{1,500}) *$/i.exec(header ?? '')
  return match?.[1] ?? null
}
