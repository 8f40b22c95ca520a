import { addressOf, type Answer } from '../../api/call.ts'
import { query } from '../../api/queries.ts'
import type { InsightSearch } from './search.ts'

const insights = '/v2/organizations/{org}/insights'

export type SlowerStep = Answer<`GET ${typeof insights}/slower_steps`>[number]

const filterOf = ({ group, period, sort, pipeline, queue }: InsightSearch) => ({
  ...(group === undefined ? {} : { group_by: group }),
  ...(period === undefined ? {} : { period }),
  ...(sort === undefined ? {} : { sort }),
  ...(pipeline === undefined ? {} : { pipeline: [pipeline] }),
  ...(queue === undefined ? {} : { queue }),
})

export const mostGroups = 100

export const insightsQuery = (org: string, search: InsightSearch) => ({
  ...query(`GET ${insights}`, { params: { org }, query: { ...filterOf(search), per_page: mostGroups } }),
  refetchInterval: 15_000,
})

export const slowerQuery = (org: string) =>
  query(`GET ${insights}/slower_steps`, { params: { org }, query: { per_page: 20 } })

/** The address of all groups as CSV. */
export const csvAddress = (org: string, search: InsightSearch) =>
  addressOf(`${insights}.csv`, { org }, filterOf(search))
