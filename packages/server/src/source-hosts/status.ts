// A commit status in the terms of Millrace. The status.ts of each host turns it into the host's own request.
import type { OutboundResponse } from '../lib/outbound.ts'

export type StatusState = 'pending' | 'running' | 'success' | 'failure' | 'canceled' | 'skipped'

export interface Status {
  /** Begins with `check: ` for a check. */
  context: string
  state: StatusState
  description: string
  /** Only for a check. */
  output?: CheckOutput
}

/** `step_id`: the step that the check is of; without it the check is of the build. Hosts do not get it. */
export type CheckOutput = Readonly<
  Partial<Record<'title' | 'summary' | 'text' | 'annotations' | 'step_id', unknown>>
>

export interface ReportedStatus extends Status {
  /** `owner/name` */
  repository: string
  commit: string
  url: string
  /** By which events of the check tell whose it is; null: it is of no build. */
  externalId: string | null
}

export const externalIdOf = (pipelineId: string, buildId: string): string =>
  `millrace:${pipelineId}:${buildId}`

/** Null: Millrace has not made it. */
export function readExternalId(text: string | null): { pipelineId: string; buildId: string } | null {
  const [, pipelineId, buildId] = /^millrace:([0-9a-f-]{36}):([0-9a-f-]{36})$/.exec(text ?? '') ?? []
  return pipelineId === undefined || buildId === undefined ? null : { pipelineId, buildId }
}

export const checkPrefix = 'check: '

/** Null: the status is not a check. */
export const checkNameOf = (context: string): string | null =>
  context.startsWith(checkPrefix) ? context.slice(checkPrefix.length) : null

/** Hosts without checks report a check as a status of the same name. */
export const contextOf = ({ context }: Pick<Status, 'context'>): string => checkNameOf(context) ?? context

export const contextOfSlug = (slug: string): string => `millrace/${slug}`

export const longestContext = 200

/** What a fork asks for, below the context of its pipeline: others belong to other pipelines, or to other programs. */
export const contextBelow = (base: string, context: string): string =>
  context.startsWith(`${base}/`) ? context : `${base}/${context}`

export const repositoryPath = (repository: string): string =>
  repository.split('/').map(encodeURIComponent).join('/')

/** Null: the host accepted the status. */
export function refusalIn(
  context: string,
  { status, body }: Pick<OutboundResponse, 'status' | 'body'>,
): string | null {
  if (status >= 200 && status < 300) return null
  const text = body.toString().slice(0, 300)
  const isForbiddenCheck = status === 403 && checkNameOf(context) !== null
  const hint = isForbiddenCheck ? ' (only the token of a GitHub App may write checks)' : (hints[status] ?? '')
  return `The host answered ${status}${hint}${text === '' ? '' : `: ${text.replace(/\s+/g, ' ')}`}`
}

const hints: Readonly<Record<number, string>> = {
  401: ' (is the token valid?)',
  403: ' (may the token write commit statuses?)',
  404: ' (may the token see the repository, and is the commit there?)',
}
