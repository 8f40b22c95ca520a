// Programs give back what they got (RFC 7009). A token that is unknown is no error: it is worth nothing already.
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { userAgentOf } from '../../http/access.ts'
import { requireClient } from './clients.ts'
import { formOf } from './form.ts'
import { revokeOfClient } from './refresh-tokens.ts'

export async function revokeToken(ctx: Context, request: FastifyRequest) {
  const form = formOf(request)
  const { id } = requireClient(ctx.keys, form)
  const by = { ip: request.ip, userAgent: userAgentOf(request) }
  const asked = { token: form.get('token') ?? '', clientId: id, request: by }
  await revokeOfClient(ctx.db, asked)
  return {}
}
