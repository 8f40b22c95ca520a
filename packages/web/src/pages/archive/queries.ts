import { call, type Answer } from '../../api/call.ts'
import { listQuery } from '../../api/queries.ts'

const pipelines = '/v2/organizations/{org}/pipelines'

export type Pipeline = Answer<`GET ${typeof pipelines}`>[number]

export const archivedQuery = (org: string) =>
  listQuery(`GET ${pipelines}`, {
    params: { org },
    query: { archived: true, include_viewer: true, per_page: 100 },
  })

export const unarchive = (org: string, pipeline: string) =>
  call(`POST ${pipelines}/{pipeline}/unarchive`, { params: { org, pipeline } })

export const archive = (org: string, pipeline: string) =>
  call(`POST ${pipelines}/{pipeline}/archive`, { params: { org, pipeline } })
