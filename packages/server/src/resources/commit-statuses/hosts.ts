// How each host is told a commit status.
import { createHash } from 'node:crypto'
import type { OutboundRequest, OutboundResponse } from '../../lib/outbound.ts'
import type { Permissions } from '../repository_connections/installation-token.ts'
import { apiHeaders, type HostKind } from '../repository_connections/rules.ts'
import { checkNameOf, type Status, type StatusState } from './rules.ts'

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
  kind: Exclude<HostKind, 'git'>,
  apiUrl: string,
  token: string,
  status: Told,
): OutboundRequest {
  const { path, body } = wordsFor(kind, status)
  return {
    method: 'POST',
    url: `${apiUrl}${path}`,
    headers: apiHeaders(kind, token),
    body: JSON.stringify(body),
  }
}

/** What a token must be good for. */
export const permissionsFor = ({ context }: Pick<Status, 'context'>): Permissions =>
  checkNameOf(context) === null ? { statuses: 'write' } : { checks: 'write' }

const conclusions: Readonly<Partial<Record<StatusState, string>>> = {
  success: 'success',
  failure: 'failure',
  canceled: 'cancelled',
  skipped: 'neutral',
}

const mostAnnotations = 50

/** A new check of the same name takes the place of the one before. */
function checkRun(name: string, { commit, url, state, description, output = {} }: Told): object {
  const conclusion = conclusions[state]
  const text = (value: unknown, usual: string) =>
    typeof value === 'string' && value.trim() !== '' ? value.slice(0, longestOutput) : usual
  const { annotations, text: more } = output
  return {
    name,
    head_sha: commit,
    details_url: url,
    ...(conclusion === undefined ? { status: 'in_progress' } : { status: 'completed', conclusion }),
    output: {
      title: text(output.title, description),
      summary: text(output.summary, description),
      ...(typeof more === 'string' ? { text: more.slice(0, longestOutput) } : {}),
      ...(Array.isArray(annotations) ? { annotations: annotations.slice(0, mostAnnotations) } : {}),
    },
  }
}

const longestOutput = 65_000

function wordsFor(kind: Exclude<HostKind, 'git'>, status: Told): { path: string; body: object } {
  const { repository, commit, description, url } = status
  const path = repository.split('/').map(encodeURIComponent).join('/')
  const check = checkNameOf(status.context)
  if (check !== null && kind === 'github') {
    return { path: `/repos/${path}/check-runs`, body: checkRun(check, status) }
  }
  // Where there are no checks, a status says as much of it as can be said.
  const context = check ?? status.context
  switch (kind) {
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
export function refusalIn(
  kind: HostKind,
  context: string,
  { status, body }: OutboundResponse,
): string | null {
  if (status >= 200 && status < 300) return null
  const text = body.toString().slice(0, 300)
  // GitLab refuses to be told what it knows.
  if (kind === 'gitlab' && status === 400 && text.includes('Cannot transition status')) return null
  const isForbiddenCheck = status === 403 && checkNameOf(context) !== null
  const hint = isForbiddenCheck ? ' (only the token of a GitHub App may write checks)' : (hints[status] ?? '')
  return `The host answered ${status}${hint}${text === '' ? '' : `: ${text.replace(/\s+/g, ' ')}`}`
}

const hints: Readonly<Record<number, string>> = {
  401: ' (is the token valid?)',
  403: ' (may the token write commit statuses?)',
  404: ' (may the token see the repository, and is the commit there?)',
}
