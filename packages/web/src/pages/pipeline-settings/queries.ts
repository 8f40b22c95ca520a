import type { QueryClient } from '@tanstack/react-query'
import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { keyOf } from '../../api/queries.ts'

const pipelines = '/v2/organizations/{org}/pipelines'
const trends = '/v2/organizations/{org}/pipeline-trends'
const one = `${pipelines}/{pipeline}` as const

export interface PipelineAddress {
  org: string
  /** Its slug. */
  pipeline: string
}

export type Pipeline = Answer<`GET ${typeof one}`>
export type PipelineChange = NonNullable<Operations[`PATCH ${typeof one}`]['body']>

export const updatePipeline = (params: PipelineAddress, body: PipelineChange) =>
  call(`PATCH ${one}`, { params, body })

/** After a change of the pipeline. */
export const reloadPipeline = (queryClient: QueryClient) =>
  Promise.all([
    queryClient.invalidateQueries({ queryKey: keyOf(`GET ${one}`) }),
    reloadPipelines(queryClient),
  ])

export const reloadPipelines = (queryClient: QueryClient) =>
  Promise.all([
    queryClient.invalidateQueries({ queryKey: keyOf(`GET ${pipelines}`) }),
    queryClient.invalidateQueries({ queryKey: keyOf(`GET ${trends}`) }),
  ])
