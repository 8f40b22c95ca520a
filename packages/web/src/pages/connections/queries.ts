import { call, type Answer } from '../../api/call.ts'
import type { Schemas } from '../../api/operations.ts'
import { query } from '../../api/queries.ts'

const connections = '/v2/organizations/{org}/repository_connections'

export type Connection = Answer<`GET ${typeof connections}`>[number]
type NewConnection = Schemas['CreateRepositoryConnection']
type ConnectionChange = Schemas['UpdateRepositoryConnection']

export const connectionsQuery = (org: string) =>
  query(`GET ${connections}`, { params: { org }, query: { per_page: 100 } })

export const createConnection = (org: string, body: NewConnection, idempotencyKey: string) =>
  call(`POST ${connections}`, { params: { org }, body, idempotencyKey })

export const updateConnection = (org: string, connection: string, body: ConnectionChange) =>
  call(`PATCH ${connections}/{connection}`, { params: { org, connection }, body })

export const deleteConnection = (org: string, connection: string) =>
  call(`DELETE ${connections}/{connection}`, { params: { org, connection } })
