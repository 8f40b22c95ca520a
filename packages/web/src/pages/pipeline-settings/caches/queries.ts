import { call, type Answer } from '../../../api/call.ts'
import { listQuery, query } from '../../../api/queries.ts'
import type { PipelineAddress } from '../queries.ts'

const caches = '/v2/organizations/{org}/pipelines/{pipeline}/caches'

export type Cache = Answer<`GET ${typeof caches}`>[number]

export const cachesQuery = (params: PipelineAddress) =>
  listQuery(`GET ${caches}`, { params, query: { per_page: 100 } })

export const cacheUsesQuery = (params: PipelineAddress) =>
  query('GET /v2/organizations/{org}/pipelines/{pipeline}/cache_uses', { params, query: { per_page: 30 } })

export const deleteCache = (params: PipelineAddress, cache: string) =>
  call(`DELETE ${caches}/{cache}`, { params: { ...params, cache } })

export const deleteCaches = (params: PipelineAddress) => call(`DELETE ${caches}`, { params })
