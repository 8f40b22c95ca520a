import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { query } from '../../api/queries.ts'

const retention = '/v2/organizations/{org}/retention'

export type Retention = Answer<`GET ${typeof retention}`>
export type Preview = Answer<`GET ${typeof retention}/preview`>
export type RetentionChange = NonNullable<Operations[`PATCH ${typeof retention}`]['body']>

export const retentionQuery = (org: string) => query(`GET ${retention}`, { params: { org } })

export const updateRetention = (org: string, body: RetentionChange) =>
  call(`PATCH ${retention}`, { params: { org }, body })

/** Tries settings out. null: as the installation has it. */
export const previewRetention = (org: string, tried: RetentionChange) =>
  call(`GET ${retention}/preview`, {
    params: { org },
    query: given(tried),
  })

export const given = (tried: RetentionChange) =>
  Object.fromEntries(Object.entries(tried).filter(([, value]) => value !== null))
