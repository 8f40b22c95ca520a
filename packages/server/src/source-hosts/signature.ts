// Headers and signatures of webhook deliveries.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** The first of these headers that is set. */
export function headerOf(headers: IncomingHttpHeaders, ...names: readonly string[]): string | null {
  const values = names.map((name) => headers[name])
  return values.find((value): value is string => typeof value === 'string' && value !== '') ?? null
}

export const digest = (value: string | Buffer): Buffer => createHash('sha256').update(value).digest()

export const isSame = (given: string, secret: string): boolean =>
  timingSafeEqual(digest(given), digest(secret))

/** Whether one of these headers has the HMAC of the body, made with the secret. */
export function hasSignature(
  headers: IncomingHttpHeaders,
  names: readonly string[],
  body: Buffer,
  secret: string,
): boolean {
  const expected = createHmac('sha256', secret).update(body).digest()
  return names.some((name) => {
    const hex = /^(?:sha256=)?([0-9a-f]{64})$/i.exec(headerOf(headers, name) ?? '')?.[1]
    return hex !== undefined && timingSafeEqual(Buffer.from(hex, 'hex'), expected)
  })
}
