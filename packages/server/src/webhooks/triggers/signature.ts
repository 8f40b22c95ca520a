// Whether a request to a trigger proves that its sender knows the secret.
import type { IncomingHttpHeaders } from 'node:http'
import { hasSignature, headerOf, isSame } from '../../source-hosts/signature.ts'
import type { TriggerFields } from '../../resources/pipelines/triggers/queries.ts'

interface Sent {
  headers: IncomingHttpHeaders
  bytes: Buffer
}

export function isGenuine(
  { signature, signature_header }: Pick<TriggerFields, 'signature' | 'signature_header'>,
  secret: string | null,
  { headers, bytes }: Sent,
): boolean {
  if (signature === 'none') return true
  const name = signature_header?.toLowerCase()
  if (secret === null || name === undefined) return false
  if (signature === 'hmac_sha256') return hasSignature(headers, [name], bytes, secret)
  const given = headerOf(headers, name)
  return given !== null && isSame(given.replace(/^bearer\s+/i, ''), secret)
}

const idHeaders = ['idempotency-key', 'webhook-id', 'x-gitlab-event-uuid']

/** What the sender calls the delivery, and sends again with each repetition; null: nothing. */
export function deliveryIdOf(headers: IncomingHttpHeaders): string | null {
  const named = Object.keys(headers)
    .filter((name) => /^x-(?:[\w-]+-)?delivery(?:-id)?$/.test(name))
    .toSorted()
  return headerOf(headers, ...idHeaders, ...named)
}
