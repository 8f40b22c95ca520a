import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { query } from '../../api/queries.ts'

const sso = '/v2/organizations/{org}/sso'

export type Sso = Answer<`GET ${typeof sso}`>
type SsoChange = NonNullable<Operations[`PUT ${typeof sso}`]['body']>

export const ssoQuery = (org: string) => query(`GET ${sso}`, { params: { org } })

export const updateSso = (org: string, body: SsoChange) => call(`PUT ${sso}`, { params: { org }, body })

export const deleteSso = (org: string) => call(`DELETE ${sso}`, { params: { org } })
