// What is kept of a request: enough to see what was sent, and none of its secrets.
import type { IncomingHttpHeaders } from 'node:http'

const mostHeaders = 50
const longestHeader = 1000
const longestBody = 64 * 1024
const secretName = /auth|cookie|token|secret|signature|password|key|session|credential/i
const redacted = '[redacted]'

interface DescribedRequest {
  headers: Record<string, string>
  /** Its beginning, if it is long. */
  body: string
  body_bytes: number
}

export function describeRequest(
  { headers, bytes }: { headers: IncomingHttpHeaders; bytes: Buffer },
  signatureHeader: string | null,
  secret: string | null,
): DescribedRequest {
  const conceal = (text: string) => (secret === null ? text : text.replaceAll(secret, redacted))
  const shown = Object.entries(headers)
    .slice(0, mostHeaders)
    .map(([name, value]) => {
      const isSecret =
        name === signatureHeader?.toLowerCase() || (secretName.test(name) && name !== 'idempotency-key')
      return [name, isSecret ? redacted : storable(conceal(String(value))).slice(0, longestHeader)] as const
    })
  // Beyond the limit there may be the rest of a secret.
  const kept = bytes.subarray(0, longestBody + (secret === null ? 0 : Buffer.byteLength(secret)))
  const body = storable(conceal(kept.toString())).slice(0, longestBody)
  return { headers: Object.fromEntries(shown), body: body.toWellFormed(), body_bytes: bytes.length }
}

const storable = (text: string) => text.replaceAll('\0', '\u{fffd}').toWellFormed()
