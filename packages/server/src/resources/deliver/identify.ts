// Who sends a webhook delivery, told by its headers, and whether it is genuine.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { badRequest } from '../../lib/errors.ts'
import type { HostKind } from './event.ts'

export interface Sender {
  host: HostKind
  event: string
  /** What the sender calls this delivery; null when it does not say. */
  id: string | null
}

const longestId = 200
const longestEvent = 100

/** Gitea and Forgejo send the headers of GitHub too, so they are looked for first. */
export function identify(headers: IncomingHttpHeaders, rawBody: Buffer): Sender {
  const header = (name: string): string | null => {
    const value = headers[name]
    return typeof value === 'string' && value !== '' ? value : null
  }
  const first = (...names: readonly string[]) => names.map(header).find((value) => value !== null) ?? null
  const sender = (host: HostKind, event: string, id: string | null): Sender => {
    if (event.length > longestEvent) throw badRequest('The name of the event is too long.')
    // Long ids are told apart by what they are, not by how they begin.
    return { host, event, id: id !== null && id.length > longestId ? digest(id).toString('hex') : id }
  }

  const gitea = first('x-forgejo-event', 'x-gitea-event')
  if (gitea !== null) return sender('gitea', gitea, first('x-forgejo-delivery', 'x-gitea-delivery'))
  const gitlab = header('x-gitlab-event')
  if (gitlab !== null) {
    // The id of an event is shared by all that follow from it, so alone it does not tell deliveries apart.
    const event = header('x-gitlab-event-uuid')
    const own = event === null ? null : `${event} ${digest(rawBody).toString('hex')}`
    return sender('gitlab', gitlab, header('idempotency-key') ?? own)
  }
  const bitbucket = header('x-event-key')
  if (bitbucket !== null) return sender('bitbucket', bitbucket, header('x-request-uuid'))
  const github = header('x-github-event')
  if (github !== null) return sender('github', github, header('x-github-delivery'))
  return sender('git', 'push', header('x-millrace-delivery'))
}

/** Compared in constant time. The signature is over the bytes as they came. */
export function isGenuine(
  { host }: Sender,
  headers: IncomingHttpHeaders,
  rawBody: Buffer,
  secret: string,
): boolean {
  if (host === 'gitlab') {
    const given = headers['x-gitlab-token']
    return typeof given === 'string' && timingSafeEqual(digest(given), digest(secret))
  }
  const expected = createHmac('sha256', secret).update(rawBody).digest()
  return signatureHeaders[host].some((name) => {
    const given = headers[name]
    const hex = typeof given === 'string' ? /^(?:sha256=)?([0-9a-f]{64})$/i.exec(given)?.[1] : undefined
    return hex !== undefined && timingSafeEqual(Buffer.from(hex, 'hex'), expected)
  })
}

const signatureHeaders: Readonly<Record<Exclude<HostKind, 'gitlab'>, readonly string[]>> = {
  github: ['x-hub-signature-256'],
  gitea: ['x-forgejo-signature', 'x-gitea-signature', 'x-hub-signature-256'],
  bitbucket: ['x-hub-signature'],
  git: ['x-hub-signature-256'],
}

const digest = (value: string | Buffer) => createHash('sha256').update(value).digest()
