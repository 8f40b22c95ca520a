// How each host is told a commit status.
import { createHash } from 'node:crypto'
import type { OutboundRequest, OutboundResponse } from '../../lib/outbound.ts'
import { apiHeaders } from '../repository_connections/rules.ts'
import type { ConnectionType } from '../repository_connections/schema.ts'
import type { Status, StatusState } from './rules.ts'

export interface Told extends Status {
  /** `owner/name` */
  repository: string
  commit: string
  url: string
}

const github: Readonly<Record<StatusState, string>> = {
  pending: 'pending',
  running: 'pending',
  success: 'success',
  failure: 'failure',
  canceled: 'error',
  skipped: 'failure',
}

const gitlab: Readonly<Record<StatusState, string>> = {
  ...github,
  running: 'running',
  failure: 'failed',
  canceled: 'canceled',
  skipped: 'canceled',
}

const bitbucket: Readonly<Record<StatusState, string>> = {
  pending: 'INPROGRESS',
  running: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  canceled: 'STOPPED',
  skipped: 'STOPPED',
}

export function requestFor(
  type: Exclude<ConnectionType, 'git'>,
  apiUrl: string,
  token: string,
  status: Told,
): OutboundRequest {
  const { path, body } = wordsFor(type, status)
  return {
    method: 'POST',
    url: `${apiUrl}${path}`,
    headers: apiHeaders(type, token),
    body: JSON.stringify(body),
  }
}

function wordsFor(type: Exclude<ConnectionType, 'git'>, status: Told): { path: string; body: object } {
  const { repository, commit, context, description, url } = status
  const path = repository.split('/').map(encodeURIComponent).join('/')
  switch (type) {
    case 'github':
    case 'gitea':
    case 'forgejo':
      return {
        path: `/repos/${path}/statuses/${commit}`,
        body: { state: github[status.state], target_url: url, description, context },
      }
    case 'gitlab':
      return {
        path: `/projects/${encodeURIComponent(repository)}/statuses/${commit}`,
        body: { state: gitlab[status.state], target_url: url, description, name: context },
      }
    case 'bitbucket':
      return {
        path: `/repositories/${path}/commit/${commit}/statuses/build`,
        body: { key: keyOf(context), name: context, state: bitbucket[status.state], url, description },
      }
  }
}

/** Bitbucket takes keys of 40 characters at most. */
const keyOf = (context: string): string =>
  context.length <= 40 ? context : createHash('sha1').update(context).digest('hex')

/** Null: it was taken. */
export function refusalIn(type: ConnectionType, { status, body }: OutboundResponse): string | null {
  if (status >= 200 && status < 300) return null
  const text = body.toString().slice(0, 300)
  // GitLab refuses to be told what it knows.
  if (type === 'gitlab' && status === 400 && text.includes('Cannot transition status')) return null
  const hint = hints[status] ?? ''
  return `The host answered ${status}${hint}${text === '' ? '' : `: ${text.replace(/\s+/g, ' ')}`}`
}

const hints: Readonly<Record<number, string>> = {
  401: ' (is the token valid?)',
  403: ' (may the token write commit statuses?)',
  404: ' (may the token see the repository, and is the commit there?)',
}
