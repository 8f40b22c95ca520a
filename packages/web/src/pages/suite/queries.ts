import type { Answer } from '../../api/call.ts'
import { listQuery, query } from '../../api/queries.ts'
import type { View } from './search.ts'

const suite = '/v2/organizations/{org}/suites/{suite}'

export interface SuiteAddress {
  org: string
  suite: string
}

export type KnownTest = Answer<`GET ${typeof suite}/tests/{test}`>

const orders = {
  slowest: { sort_by: 'duration_avg' },
  flaky: { sort_by: 'reliability', order: 'asc', label: 'flaky' },
  failing: { sort_by: 'last_failed', tags: 'result:~failed' },
} as const

export const testsQuery = (params: SuiteAddress, view: Exclude<View, 'quarantined'>, q: string) =>
  listQuery(`GET ${suite}/tests`, {
    params: { ...params },
    query: { per_page: 50, ...orders[view], ...(q === '' ? {} : { search: q }) },
  })

export const mutedQuery = (params: SuiteAddress) =>
  query(`GET ${suite}/tests/muted`, { params: { ...params } })

export const skippedQuery = (params: SuiteAddress) =>
  query(`GET ${suite}/tests/skipped`, { params: { ...params } })
