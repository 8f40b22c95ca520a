import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { query } from '../../api/queries.ts'

const settings = '/v2/organizations/{org}/api-settings'

export type ApiSettings = Answer<`GET ${typeof settings}`>
export type ApiSettingsChange = NonNullable<Operations[`PATCH ${typeof settings}`]['body']>

export const apiSettingsQuery = (org: string) => query(`GET ${settings}`, { params: { org } })

export const updateApiSettings = (org: string, body: ApiSettingsChange) =>
  call(`PATCH ${settings}`, { params: { org }, body })
