import { call, type Answer } from '../../api/call.ts'
import type { Schemas } from '../../api/operations.ts'
import { listQuery } from '../../api/queries.ts'

const issuers = '/v2/organizations/{org}/token_issuers'

export type TokenIssuer = Answer<`GET ${typeof issuers}`>[number]
type NewIssuer = Schemas['CreateTokenIssuer']
export type IssuerScope = NewIssuer['scopes'][number]

export const issuersQuery = (org: string) =>
  listQuery(`GET ${issuers}`, { params: { org }, query: { per_page: 100 } })

export const createIssuer = (org: string, body: NewIssuer, idempotencyKey: string) =>
  call(`POST ${issuers}`, { params: { org }, body, idempotencyKey })

export const updateIssuer = (org: string, id: string, body: Schemas['UpdateTokenIssuer']) =>
  call(`PATCH ${issuers}/{token_issuer}`, { params: { org, token_issuer: id }, body })

export const deleteIssuer = (org: string, id: string) =>
  call(`DELETE ${issuers}/{token_issuer}`, { params: { org, token_issuer: id } })
