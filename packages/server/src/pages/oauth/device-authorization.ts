import type { FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { requireClient } from './clients.ts'
import { devicePath } from './device-page.ts'
import { deviceSeconds, firstIntervalSeconds, insertDevice } from './devices.ts'
import { oauthError } from './errors.ts'
import { formOf } from './form.ts'
import { readScopes } from './scopes.ts'

export async function authorizeDevice(ctx: Context, request: FastifyRequest) {
  await ctx.signInLimits.beginDevice(request.ip)
  const form = formOf(request)
  const { id, client } = requireClient(ctx.keys, form)
  const scopes = readScopes(form.get('scope') ?? '')
  if (scopes.length === 0)
    throw oauthError('invalid_scope', `${client.name} names no scope that programs can have here.`)
  const asking = { clientId: id, program: client.name, scopes, ip: request.ip }
  const { deviceCode, userCode } = await insertDevice(ctx.db, ctx.keys, asking, ctx.now())
  const page = `${ctx.config.url}${devicePath}`
  return {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${userCode}`,
    expires_in: deviceSeconds,
    interval: firstIntervalSeconds,
  }
}
