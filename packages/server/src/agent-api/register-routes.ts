// Puts the agent API on the server. It has its own rules for tokens and bodies, so it has its own corner of Fastify:
// bodies are taken as they come, whatever they say they are, and every route reads its own.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type pg from 'pg'
import { Gauge } from 'prom-client'
import { startDispatcher, type Dispatcher } from '../conductor/dispatch.ts'
import { noteJobHeard } from '../conductor/lost-agents.ts'
import type { Context } from '../context.ts'
import type { RawQuery } from '../http/query.ts'
import { allowSlowBody } from '../http/slow-bodies.ts'
import { badRequest, notFound, unauthorized } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { otherJob, type AgentRoute, type AgentRequest, type Speakers, type TokenKind } from './route.ts'
import { findSuite } from './suite-token.ts'
import * as tokens from './tokens.ts'
import { requireTrust } from './trust.ts'

/** Before the server closes, every agent that waits is let go: nobody closes the connection under its feet. */
export async function registerAgentRoutes(
  app: FastifyInstance,
  ctx: Context,
  pool: pg.Pool,
  routes: readonly AgentRoute[],
): Promise<void> {
  const dispatcher = await startDispatcher(ctx, pool)
  app.addHook('preClose', dispatcher.stop)
  measure(app, dispatcher)
  const speakers = new WeakMap<FastifyRequest, Speakers[TokenKind]>()
  await app.register(async (corner) => {
    corner.removeAllContentTypeParsers()
    corner.addContentTypeParser(
      '*',
      { parseAs: 'buffer' },
      async (_request: FastifyRequest, body: Buffer) => body,
    )
    for (const route of routes) {
      corner.route({
        method: route.method,
        url: route.url,
        bodyLimit: route.bodyLimitBytes,
        exposeHeadRoute: false,
        onRequest: async (request) => {
          speakers.set(request, await findSpeaker(ctx, route, request))
          if (route.token !== 'none') allowSlowBody(request)
        },
        handler: async (request, reply) => {
          const input = { ctx, dispatcher, request: describe(request, reply) }
          return answer(route, request, reply, input, speakers.get(request) ?? {})
        },
      })
    }
  })
}

function measure(app: FastifyInstance, dispatcher: Dispatcher): void {
  const waiting = new Gauge({
    name: 'millrace_agents_waiting',
    help: 'Agents that this process holds until there is a job for them.',
    registers: [app.metrics],
    collect() {
      waiting.set(dispatcher.countWaiting())
    },
  })
}

async function answer(
  route: AgentRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  input: Pick<Parameters<AgentRoute['run']>[0], 'ctx' | 'dispatcher' | 'request'>,
  speaker: Speakers[TokenKind],
): Promise<FastifyReply> {
  const params = request.params as Record<string, string>
  const given = await route.run({ ...input, params, query: request.query as RawQuery }, speaker)
  if (given === undefined) return reply
  void reply.code(given.status)
  if (given.headers !== undefined) void reply.headers(given.headers)
  return reply.send(given.body)
}

function describe(request: FastifyRequest, reply: FastifyReply): AgentRequest {
  return {
    ip: request.ip,
    userAgent: request.headers['user-agent']?.slice(0, 500) ?? null,
    body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    gone: () => untilGone(reply),
    reply,
  }
}

function untilGone({ raw }: FastifyReply): AbortSignal {
  if (raw.closed) return AbortSignal.abort()
  const leaving = new AbortController()
  raw.once('close', () => leaving.abort())
  return leaving.signal
}

async function findSpeaker(
  ctx: Context,
  route: AgentRoute,
  request: FastifyRequest,
): Promise<Speakers[TokenKind]> {
  if (/%00/.test(request.url)) throw badRequest('The URL contains a NUL character.')
  if (route.token === 'none') return {}
  const token = readToken(request.headers.authorization)
  if (token === null) throw unauthorized('Send the token as "Authorization: Token …".')
  switch (route.token) {
    case 'registration':
      return { registration: await tokens.findRegistration(ctx, token, request.ip) }
    case 'joining':
      return { joining: await tokens.findJoining(ctx, token, request.ip) }
    case 'session':
      return { agent: await tokens.findSession(ctx, token, request.ip) }
    case 'ended_session':
      return { agent: await tokens.findEndedSession(ctx.db, token) }
    case 'session_or_job':
      return { agent: await findAgentOfEither(ctx, route, token, request.ip) }
    case 'suite':
      return { suite: await findSuite(ctx.db, token) }
    case 'job':
    case 'ended_job': {
      const find = route.token === 'job' ? tokens.findRunningJob : tokens.findEndedJob
      const job = await find(ctx, token)
      if (!route.isLast) await noteJobHeard(ctx, job)
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
  return tokens.getAgent(ctx.db, job.organizationId, job.agent.id)
}

async function refuseForks(ctx: Context, { forks }: AgentRoute, job: tokens.RunningJob): Promise<void> {
  if (typeof forks === 'object' && forks !== null) await requireTrust(ctx.db, job, forks.refused)
}

/** The id of another job is answered the same whether there is such a job or not. */
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

function readToken(header: string | undefined): string | null {
  const match = /^Token +([\x21-\x7e]{1,500}) *$/i.exec(header ?? '')
  return match?.[1] ?? null
}
