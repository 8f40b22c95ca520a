import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { notFound } from '../lib/errors.ts'
import { countUnrouted } from './access.ts'
import { pathOf } from './query.ts'

/** An unknown path is 404: a page for browsers, JSON for others. `answerBrowser` returns null when it is not a browser. */
export function answerUnknownPaths(
  app: FastifyInstance,
  ctx: Context,
  answerBrowser: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null,
): void {
  app.setNotFoundHandler(async (request, reply) => {
    await countUnrouted(ctx, request)
    const { method, url } = request
    const page = method === 'GET' || method === 'HEAD' ? answerBrowser(request, reply) : null
    if (page !== null) return page
    throw notFound(`There is nothing at ${method} ${pathOf(url).slice(0, 200)}`)
  })
}
