// Access to the metrics: with the token; if no token is set, from the same machine while the server listens on a loopback
// address only. A proxy on the same machine forwards requests of others, so its headers are refused.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { unauthorized } from '../lib/errors.ts'
import { isInRanges } from '../lib/ip-ranges.ts'

export interface MetricsAccess {
  /** The address that the server listens on. */
  host: string
  token: string | undefined
}

const loopback = '127.0.0.0/8 ::1/128'
const proxyHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'x-forwarded-host', 'via']

export function requireMetricsAccess({ host, token }: MetricsAccess, { headers, raw }: FastifyRequest): void {
  if (token !== undefined) {
    if (isSame(token, /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? '')) return
    throw unauthorized('The metrics need "Authorization: Bearer …" with the value of MILLRACE_METRICS_TOKEN.')
  }
  const isLocal = isLoopback(host) && isLoopback(raw.socket.remoteAddress ?? '')
  if (isLocal && proxyHeaders.every((name) => headers[name] === undefined)) return
  throw unauthorized(
    'The metrics are shown to the same machine only. Set MILLRACE_METRICS_TOKEN and send it as "Authorization: Bearer …".',
  )
}

const isLoopback = (address: string): boolean => address === 'localhost' || isInRanges(address, loopback)

const digest = (text: string) => createHash('sha256').update(text).digest()
const isSame = (one: string, other: string) => timingSafeEqual(digest(one), digest(other))
