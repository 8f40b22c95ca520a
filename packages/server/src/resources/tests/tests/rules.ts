import { badRequest } from '../../../lib/errors.ts'
import { readTime } from '../../../http/iso-time.ts'
import type { Days, TestFilter, TestOrder } from './queries.ts'
import type { Period } from './schema.ts'

const hourMs = 60 * 60 * 1000

const hours: Readonly<Record<Period, number>> = {
  '1hour': 1,
  '4hours': 4,
  '1day': 24,
  '7days': 7 * 24,
  '14days': 14 * 24,
  '28days': 28 * 24,
  '90days': 90 * 24,
}

interface Window {
  period?: Period | undefined
  min_timestamp?: string | undefined
  max_timestamp?: string | undefined
}

/** Results are added up by the day, so the days of both ends count as a whole. */
export function readDays({ period, min_timestamp: from, max_timestamp: to }: Window, now: Date): Days {
  if (period !== undefined && (from !== undefined || to !== undefined)) {
    throw badRequest('period cannot be combined with min_timestamp or max_timestamp.')
  }
  const last = readTime('max_timestamp', to) ?? now.toISOString()
  const first =
    readTime('min_timestamp', from) ??
    new Date(new Date(last).getTime() - hours[period ?? '7days'] * hourMs).toISOString()
  if (first > last) throw badRequest('min_timestamp must be before max_timestamp.')
  return { first: dayOf(first), last: dayOf(last) }
}

/** PostgreSQL knows no year 0. */
const dayOf = (time: string): string => (time < '0001' ? '0001-01-01' : time.slice(0, 10))

interface ListQuery {
  label?: string | undefined
  labels?: string | undefined
  state?: TestFilter['state'] | undefined
  owners?: string | undefined
  search?: string | undefined
  tags?: string | undefined
  sort_by?: TestOrder['by'] | undefined
  order?: TestOrder['direction'] | undefined
}

export function readFilter({ label, labels, state, owners, search, tags }: ListQuery): TestFilter {
  if (label !== undefined && labels !== undefined) throw badRequest('label cannot be combined with labels.')
  const names = label === undefined ? split('labels', labels ?? '') : [label]
  const isExcluded = (name: string) => label === undefined && name.startsWith('!')
  return {
    state: state ?? null,
    withLabels: names.filter((name) => !isExcluded(name)),
    withoutLabels: names.filter(isExcluded).map((name) => name.slice(1)),
    owners: owners === undefined ? null : split('owners', owners),
    search: search?.trim() || null,
    ...readTags(tags ?? ''),
  }
}

const mostNames = 20

function split(field: string, given: string): string[] {
  const names = given
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (names.length > mostNames) throw badRequest(`${field} may name ${mostNames}.`)
  return names
}

const results = /^result:([~^]?)(passed|failed)$/

/** `result:…` is how the test ended, any other `name:value` a tag of its executions. */
function readTags(given: string): Pick<TestFilter, 'result' | 'tags'> {
  const written = split('tags', given)
  const [result, ...more] = written.filter((tag) => tag.startsWith('result:'))
  if (more.length > 0) throw badRequest('tags may name one result.')
  return {
    result: result === undefined ? null : readResult(result),
    tags: Object.fromEntries(written.filter((tag) => !tag.startsWith('result:')).map(readTag)),
  }
}

function readResult(given: string): TestFilter['result'] {
  const [, sign, ended] = results.exec(given) ?? []
  if (ended !== 'passed' && ended !== 'failed') {
    throw badRequest(
      'tags may have one of result:~failed, result:^failed, result:~passed and result:^passed.',
    )
  }
  return { ended, how: sign === '^' ? 'all' : 'some' }
}

function readTag(given: string): [name: string, value: string] {
  const end = given.indexOf(':')
  if (end < 1) throw badRequest('tags must be written as name:value.')
  return [given.slice(0, end), given.slice(end + 1)]
}

export const readOrder = ({
  sort_by: by = 'duration_avg',
  order: direction = 'desc',
}: ListQuery): TestOrder => ({
  by,
  direction,
})
