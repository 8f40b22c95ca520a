// The result of one test as it is stored: with limited lengths, and only text that PostgreSQL accepts. Other fields that senders
// add (spans of queries and requests) are ignored.
import { isUuid, newId } from '../../../lib/ids.ts'
import { clean } from './clean.ts'
import { readTags, type Tags } from './tags.ts'

export interface TestResult {
  id: string
  scope: string
  name: string
  location: string | null
  fileName: string | null
  result: 'passed' | 'failed' | 'skipped' | 'unknown'
  failureReason: string | null
  failureExpanded: FailurePart[]
  durationSeconds: number | null
  tags: Tags | null
}

export interface FailurePart {
  expanded: string[]
  backtrace: string[]
}

/** A larger upload is refused as a whole. */
export const mostResults = 5000

const longestName = 1000
const longestReason = 4000
/** The limit of a failure's text beyond its reason. */
const longestExpansion = 16_000

/** null: not a result. */
export function readResult(given: unknown): TestResult | null {
  const name = textIn(given, 'name')
  const history = fieldIn(given, 'history')
  if (name === null || typeof fieldIn(history, 'start_at') !== 'number') return null
  const id = fieldIn(given, 'id')
  const result = makeResult({
    scope: textIn(given, 'scope') ?? '',
    name,
    location: textIn(given, 'location'),
    fileName: textIn(given, 'file_name'),
    result: resultIn(given),
    failureReason: textIn(given, 'failure_reason'),
    failureExpanded: partsIn(fieldIn(given, 'failure_expanded')),
    durationSeconds: secondsIn(fieldIn(history, 'duration')),
  })
  if (result.name.trim() === '') return null
  const tagged = { ...result, tags: readTags(fieldIn(given, 'tags')) }
  return typeof id === 'string' && isUuid(id) ? { ...tagged, id } : tagged
}

/** Limits the lengths, and gives the result an id. */
export function makeResult(
  given: Omit<TestResult, 'id' | 'tags' | 'failureExpanded'> & { failureExpanded: readonly FailurePart[] },
): TestResult {
  const bound = (text: string | null, longest: number) => (text === null ? null : clean(text, longest))
  return {
    id: newId(),
    scope: clean(given.scope, longestName),
    name: clean(given.name, longestName),
    location: bound(given.location, longestName),
    fileName: bound(given.fileName, longestName),
    result: given.result,
    failureReason: bound(given.failureReason, longestReason),
    failureExpanded: boundParts(given.failureExpanded),
    durationSeconds: secondsIn(given.durationSeconds),
    tags: null,
  }
}

function resultIn(given: unknown): TestResult['result'] {
  const result = fieldIn(given, 'result')
  if (result === 'passed' || result === 'failed' || result === 'skipped') return result
  return result === 'pending' ? 'skipped' : 'unknown'
}

/** Durations of more than some thirty years are ignored. */
const secondsIn = (given: unknown): number | null =>
  typeof given === 'number' && given >= 0 && given < 1e9 ? given : null

function partsIn(given: unknown): FailurePart[] {
  if (!Array.isArray(given)) return []
  const lines = (value: unknown) =>
    Array.isArray(value) ? value.filter((line): line is string => typeof line === 'string') : []
  return given.map((part: unknown) => ({
    expanded: lines(fieldIn(part, 'expanded')),
    backtrace: lines(fieldIn(part, 'backtrace')),
  }))
}

function boundParts(parts: readonly FailurePart[]): FailurePart[] {
  let left = longestExpansion
  const take = (lines: readonly string[]) => {
    const taken: string[] = []
    for (const line of lines) {
      if (left <= 0) break
      taken.push(clean(line, left))
      left -= line.length + 1
    }
    return taken
  }
  return parts
    .slice(0, 100)
    .map(({ expanded, backtrace }) => ({ expanded: take(expanded), backtrace: take(backtrace) }))
    .filter(({ expanded, backtrace }) => expanded.length + backtrace.length > 0)
}

function textIn(given: unknown, key: string): string | null {
  const value = fieldIn(given, key)
  return typeof value === 'string' ? value : null
}

const fieldIn = (given: unknown, key: string): unknown =>
  typeof given === 'object' && given !== null && Object.hasOwn(given, key)
    ? Reflect.get(given, key)
    : undefined
