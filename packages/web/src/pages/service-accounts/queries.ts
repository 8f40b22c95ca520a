import { call, type Answer } from '../../api/call.ts'
import type { Schemas } from '../../api/operations.ts'
import { listQuery } from '../../api/queries.ts'

const accounts = '/v2/organizations/{org}/service_accounts'
const tokens = `${accounts}/{service_account}/tokens` as const

export type ServiceAccount = Answer<`GET ${typeof accounts}`>[number]

export const accountsQuery = (org: string) =>
  listQuery(`GET ${accounts}`, { params: { org }, query: { per_page: 100 } })

export const createAccount = (org: string, body: Schemas['CreateServiceAccount'], idempotencyKey: string) =>
  call(`POST ${accounts}`, { params: { org }, body, idempotencyKey })

export const updateAccount = (org: string, id: string, body: Schemas['UpdateServiceAccount']) =>
  call(`PATCH ${accounts}/{service_account}`, { params: { org, service_account: id }, body })

export const deleteAccount = (org: string, id: string) =>
  call(`DELETE ${accounts}/{service_account}`, { params: { org, service_account: id } })

export const tokensQuery = (org: string, id: string) =>
  listQuery(`GET ${tokens}`, { params: { org, service_account: id }, query: { per_page: 100 } })

export const createToken = (
  { org, id }: { org: string; id: string },
  body: Schemas['CreateServiceAccountToken'],
  idempotencyKey: string,
) => call(`POST ${tokens}`, { params: { org, service_account: id }, body, idempotencyKey })

export const revokeToken = (org: string, id: string, token: string) =>
  call(`DELETE ${tokens}/{access_token}`, {
    params: { org, service_account: id, access_token: token },
  })
