import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { query } from '../../api/queries.ts'

const settings = '/v2/organizations/{org}/pipeline-settings'

export type PipelineSettings = Answer<`GET ${typeof settings}`>
type PipelineSettingsChange = NonNullable<Operations[`PATCH ${typeof settings}`]['body']>
type Export = NonNullable<Operations[`PUT ${typeof settings}/build-export`]['body']>

export const pipelineSettingsQuery = (org: string) => query(`GET ${settings}`, { params: { org } })

export const updatePipelineSettings = (org: string, body: PipelineSettingsChange) =>
  call(`PATCH ${settings}`, { params: { org }, body })

type Switch = 'public-pipelines' | 'hosted-agents-ssh'

export const turnOn = (org: string, name: Switch | 'advanced-queue-metrics') =>
  call(`PUT ${settings}/${name}`, { params: { org } })

export const turnOff = (org: string, name: Switch) => call(`DELETE ${settings}/${name}`, { params: { org } })

export const enableExport = (org: string, body: Export) =>
  call(`PUT ${settings}/build-export`, { params: { org }, body })

export const disableExport = (org: string) => call(`DELETE ${settings}/build-export`, { params: { org } })
