// Bytes and headers to a webhook delivery.
import type { IncomingHttpHeaders } from 'node:http'
import { parseBody } from '../../http/json-body.ts'
import { badRequest } from '../../lib/errors.ts'
import { compiledModule } from '../../lib/package-files.ts'
import { runInThread, ThreadLimitExceeded } from '../../lib/threads.ts'
import { readBitbucket, readBitbucketAbout } from './bitbucket.ts'
import type { WebhookDelivery, HostKind, Received, Tiding } from './event.ts'
import { readGithub, readGithubAbout } from './github.ts'
import { readGitlab, readGitlabAbout } from './gitlab.ts'
import type { Sender } from './identify.ts'
import { readPlain } from './plain.ts'

interface Reader {
  about(payload: object): { action: string | null; repositories: string[] }
  tidings(received: Received): Tiding[]
}

const readers: Readonly<Record<Exclude<HostKind, 'git'>, Reader>> = {
  github: { about: readGithubAbout, tidings: (received) => readGithub(received, 'github') },
  gitea: { about: readGithubAbout, tidings: (received) => readGithub(received, 'gitea') },
  gitlab: { about: readGitlabAbout, tidings: readGitlab },
  bitbucket: { about: readBitbucketAbout, tidings: readBitbucket },
}

export interface Sent {
  sender: Sender
  headers: IncomingHttpHeaders
  bytes: Uint8Array
}

const mostInlineBytes = 256 * 1024
const mostValues = 500_000
const mostCpuMs = 10_000

/** A push of thousands of commits is megabytes of JSON, and is read in a thread. */
export async function readWebhookDelivery(sent: Sent): Promise<WebhookDelivery> {
  if (sent.bytes.length <= mostInlineBytes) return readHere(sent)
  const module = compiledModule('resources/deliver/read.ts')
  return runInThread<typeof readHere>(module, 'readHere', sent, mostCpuMs).catch((error: unknown) => {
    throw error instanceof ThreadLimitExceeded ? badRequest('The payload takes too long to read.') : error
  })
}

export function readHere({ sender, headers, bytes }: Sent): WebhookDelivery {
  if (sender.host === 'git') {
    const text = decode(bytes)
    return { ...sender, host: 'git', action: null, repositories: [], tidings: readPlain(text) }
  }
  const payload = parseBody(unwrap(headers, decode(bytes)), mostValues) as object
  const { about, tidings } = readers[sender.host]
  return { ...sender, ...about(payload), tidings: tidings({ event: sender.event, payload }) }
}

function decode(bytes: Uint8Array): string {
  if (bytes.length === 0) throw badRequest('The request has no body.')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw badRequest('The body is not UTF-8.')
  }
}

/** Some hosts send the JSON as a field of a form, unless told otherwise. */
function unwrap(headers: IncomingHttpHeaders, text: string): string {
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')) return text
  const payload = new URLSearchParams(text).get('payload')
  if (payload === null) throw badRequest('The form has no field named payload.')
  return payload
}
