import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { listQuery } from '../../api/queries.ts'

const suites = '/v2/organizations/{org}/suites'

type NewSuite = NonNullable<Operations[`POST ${typeof suites}`]['body']>

export type ListedSuite = Answer<`GET ${typeof suites}`>[number]

export const suitesQuery = (org: string) =>
  listQuery(`GET ${suites}`, { params: { org }, query: { per_page: 100, include_figures: true } })

export const createSuite = (org: string, body: NewSuite, idempotencyKey: string) =>
  call(`POST ${suites}`, { params: { org }, body, idempotencyKey })
