// Tickets for what a browser asks for by itself and so without a header: downloads, and pages that the server renders.
import { Type } from 'typebox'
import type { Context } from '../context.ts'
import { countRequest, unauthenticated } from '../http/access.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { findSession, ticketOf } from '../http/session-cookie.ts'
import { checker } from '../lib/check.ts'
import { validationFailed } from '../lib/errors.ts'
import { localPath } from './page.ts'

const checkBody = checker(Type.Object({ path: Type.String({ maxLength: 8000 }) }))

export const pageTicketEndpoint = (ctx: Context): Endpoint => ({
  methods: ['POST'],
  url: '/-/page-tickets',
  body: 'json',
  bodyLimitBytes: 16_384,
  async admit(request) {
    const proven = await findSession(ctx, request, null, { ticket: false })
    if (proven === null) throw unauthenticated(ctx)
    await countRequest(ctx, request, proven.found)
  },
  async handle(request, reply) {
    const body = checkBody(request.body)
    if (!body.ok) throw validationFailed(body.reason)
    const path = localPath(ctx.config.url, body.value.path)
    if (path === null) throw validationFailed('path must be a path of this server.')
    void reply.code(201)
    return { ticket: ticketOf(ctx, request, path) }
  },
})
