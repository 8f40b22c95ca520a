// Reads requests into the parameters of queries and build requests.
import type { BuildState } from '@millrace/engine/states.ts'
import type { Caller } from '../../../auth/caller.ts'
import type { Author, PullRequest } from '../../../conductor/build.ts'
import { badRequest, invalidFields, refused, type FieldError } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import { badVariableNames } from '../../pipelines/variable-names.ts'
import { readTime } from '../../../http/iso-time.ts'
import { withoutUserinfo } from '../../../lib/userinfo.ts'
import { jobStates } from '../../job/schema.ts'
import { stateFilters, type CreateBuildBody, type ListQuery } from './schema.ts'

export interface BuildFilter {
  /** Exact names; null: any, or those of `branchPatterns`. */
  branches: string[] | null
  /** For SQL's `like`. */
  branchPatterns: string[] | null
  commits: string[] | null
  states: StateFilter | null
  createdFrom: string | null
  createdTo: string | null
  finishedFrom: string | null
  /** Whether few builds ended since `finishedFrom`, so that its index leads. */
  fewFinished: boolean
  creatorId: string | null
  metaData: ReadonlyArray<[key: string, value: string]>
  includePaused: boolean
}

export interface StateFilter {
  shown: string[]
  /** Also builds that are blocked, whatever state they show. */
  blocked: boolean
  /** Builds leave these states; only few are in them at any time. */
  isPassing: boolean
}

export function readFilter(query: ListQuery): BuildFilter {
  const { branch, commit, creator } = query
  if (creator !== undefined && !isUuid(creator)) {
    throw refused(`Unknown creator "${creator.slice(0, 100)}"; accepted is the id of a user.`)
  }
  const hasPattern = branch?.some((name) => name.includes('*')) ?? false
  return {
    branches: hasPattern ? null : (branch ?? null),
    branchPatterns: hasPattern ? (branch ?? []).map(likePattern) : null,
    commits: commit ?? null,
    states: query.state === undefined ? null : readStates(query.state),
    createdFrom: readTime('created_from', query.created_from),
    createdTo: readTime('created_to', query.created_to),
    finishedFrom: readTime('finished_from', query.finished_from),
    fewFinished: false,
    creatorId: creator ?? null,
    metaData: Object.entries(query.meta_data ?? {}),
    includePaused: query.include_paused ?? true,
  }
}

/** Whether the filter keeps the list from being read to its end. */
export const isNarrowed = (filter: BuildFilter): boolean =>
  filter.branches !== null ||
  filter.branchPatterns !== null ||
  filter.commits !== null ||
  filter.creatorId !== null ||
  filter.metaData.length > 0 ||
  filter.createdFrom !== null ||
  filter.finishedFrom !== null

/** `*` stands for any run of characters; everything else for itself. */
export const likePattern = (pattern: string): string =>
  pattern.replace(/[\\%_]/g, '\\$&').replace(/\*+/g, '%')

const passing: readonly BuildState[] = ['creating', 'scheduled', 'running', 'failing', 'blocked', 'canceling']

function readStates(given: readonly string[]): StateFilter {
  refuseUnknown('state', given, stateFilters)
  const states = new Set(
    given.flatMap((state) => (state === 'finished' ? ['passed', 'failed', 'blocked', 'canceled'] : [state])),
  )
  const isPassing = [...states].every((state) => passing.some((known) => known === state))
  const blocked = states.delete('blocked')
  return { shown: [...states], blocked, isPassing }
}

export function readJobStates(given: readonly string[] | undefined): readonly string[] | null {
  if (given === undefined) return null
  refuseUnknown('job_states', given, jobStates)
  return given
}

function refuseUnknown(name: string, given: readonly string[], accepted: readonly string[]): void {
  const unknown = given.find((value) => !accepted.includes(value))
  if (unknown === undefined) return
  throw refused(`Unknown ${name} "${unknown.slice(0, 100)}"; accepted are ${accepted.join(', ')}.`)
}

type Given = Readonly<Record<string, string | number | boolean>>

/** Numbers and booleans become texts. Throws one error for all fields. */
export function readMaps(body: CreateBuildBody): {
  env: Record<string, string>
  metaData: Record<string, string>
} {
  const env = asTexts(body.env ?? {})
  const metaData = asTexts(body.meta_data ?? {})
  const errors = [...badVariableNames(env), ...badEntries(metaData)]
  if (errors.length > 0) throw invalidFields(errors.slice(0, 100))
  return { env, metaData }
}

const asTexts = (given: Given) =>
  Object.fromEntries(Object.entries(given).map(([key, value]) => [key, String(value)]))

const mostMetaDataBytes = 100 * 1024

function badEntries(metaData: Record<string, string>): FieldError[] {
  return Object.entries(metaData).flatMap(([key, value]) => {
    const field = `meta_data.${key.slice(0, 60)}`
    if (key.trim() === '' || key.length > 255)
      return [{ field, code: 'must have a key of 1 to 255 characters' }]
    if (Buffer.byteLength(value) <= mostMetaDataBytes) return []
    return [{ field, code: `must have at most ${mostMetaDataBytes} bytes` }]
  })
}

export function readPullRequest(body: CreateBuildBody): PullRequest | null {
  const { pull_request_id: id } = body
  if (!id) return null
  return {
    id: String(id),
    base: body.pull_request_base_branch || null,
    repository: body.pull_request_repository ? withoutUserinfo(body.pull_request_repository) : null,
    labels: body.pull_request_labels ?? [],
    draft: null,
  }
}

/** Some clients send an empty author. */
export function readAuthor(body: CreateBuildBody, caller: Caller): Author {
  const name = body.author?.name || null
  const email = body.author?.email || null
  return name === null && email === null
    ? { name: caller.user.name, email: caller.user.email }
    : { name, email }
}

const retryable = ['canceled', 'expired', 'failed', 'soft_failed', 'timed_out'] as const

/** null: every failure that can be retried. */
export function readRetryStates(given: string | null | undefined): string[] | null {
  const states = (given ?? '')
    .split(',')
    .map((state) => state.trim())
    .filter((state) => state !== '')
  const unknown = states.filter((state) => !retryable.some((known) => known === state))
  if (unknown.length > 0) {
    throw badRequest(
      `Invalid states: ${unknown.join(', ').slice(0, 200)}. Valid states are ${retryable.join(', ')}.`,
    )
  }
  return states.length === 0 ? null : states
}
