import { addressOf, type Answer } from '../../api/call.ts'
import { listQuery } from '../../api/queries.ts'
import { filterOf, type AuditSearch } from './search.ts'

const events = '/v2/organizations/{org}/audit_events'

export type AuditEvent = Answer<`GET ${typeof events}`>['items'][number]

export const auditEventsQuery = (org: string, search: AuditSearch) =>
  listQuery(`GET ${events}`, { params: { org }, query: { ...filterOf(search), per_page: 100 } })

/** The address of the same events as CSV. */
export const csvAddress = (org: string, search: AuditSearch) =>
  addressOf(`${events}.csv`, { org }, filterOf(search))
