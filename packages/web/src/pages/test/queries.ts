import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { query } from '../../api/queries.ts'
import type { TestAddress } from '../../api/resource-queries.ts'

const test = '/v2/organizations/{org}/suites/{suite}/tests/{test}'

export type Execution = Answer<`GET ${typeof test}/executions`>[number]

type Quarantine = NonNullable<Operations[`PUT ${typeof test}/mute`]['body']>

export const executionsQuery = (params: TestAddress) =>
  query(`GET ${test}/executions`, { params: { ...params } })

export const quarantine = (params: TestAddress, verb: 'mute' | 'skip', body: Quarantine) =>
  verb === 'mute'
    ? call(`PUT ${test}/mute`, { params: { ...params }, body })
    : call(`PUT ${test}/skip`, { params: { ...params }, body })

export const enable = (params: TestAddress) => call(`PUT ${test}/enable`, { params: { ...params } })
