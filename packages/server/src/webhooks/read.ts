import type { IncomingHttpHeaders } from 'node:http'
import { parseBody } from '../http/json-body.ts'
import { badRequest } from '../lib/errors.ts'
import { compiledModule } from '../lib/package-files.ts'
import { ThreadLimitExceeded } from '../lib/thread.ts'
import { runInThread, type WorkOwner } from '../lib/threads.ts'
import type { WebhookContent } from '../source-hosts/host.ts'
import { hostOfType, type Sender } from '../source-hosts/hosts.ts'

export type WebhookDelivery = Sender & WebhookContent

interface Sent {
  sender: Sender
  headers: IncomingHttpHeaders
  bytes: Uint8Array
}

const mostInlineBytes = 256 * 1024
const mostValues = 500_000
const mostCpuMs = 10_000

/** A push of thousands of commits is megabytes of JSON, so a thread reads it. */
export async function readWebhookDelivery(sent: Sent, owner: WorkOwner): Promise<WebhookDelivery> {
  if (sent.bytes.length <= mostInlineBytes) return readHere(sent)
  const module = compiledModule('webhooks/read.ts')
  return runInThread<typeof readHere>(owner, module, 'readHere', sent, mostCpuMs).catch((error: unknown) => {
    throw error instanceof ThreadLimitExceeded ? badRequest('The payload takes too long to read.') : error
  })
}

export function readHere({ sender, headers, bytes }: Sent): WebhookDelivery {
  const text = decode(bytes)
  const json = () => parseBody(unwrap(headers, text), mostValues) as object
  return { ...sender, ...hostOfType(sender.host).webhook.read({ event: sender.event, text, json }) }
}

function decode(bytes: Uint8Array): string {
  if (bytes.length === 0) throw badRequest('The request has no body.')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw badRequest('The body is not UTF-8.')
  }
}

/** Some hosts can send the JSON as a field of a form. */
function unwrap(headers: IncomingHttpHeaders, text: string): string {
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')) return text
  const payload = new URLSearchParams(text).get('payload')
  if (payload === null) throw badRequest('The form has no field named payload.')
  return payload
}
