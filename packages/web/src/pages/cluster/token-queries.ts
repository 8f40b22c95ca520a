import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { listQuery } from '../../api/queries.ts'
import type { ClusterAddress } from './queries.ts'

const tokens = '/v2/organizations/{org}/clusters/{cluster}/tokens'

export type AgentToken = Answer<`GET ${typeof tokens}`>[number]
type NewToken = NonNullable<Operations[`POST ${typeof tokens}`]['body']>
type TokenChange = NonNullable<Operations[`PATCH ${typeof tokens}/{token}`]['body']>

export const tokensQuery = ({ org, cluster }: ClusterAddress) =>
  listQuery(`GET ${tokens}`, { params: { org, cluster }, query: { per_page: 100 } })

export const createToken = ({ org, cluster }: ClusterAddress, body: NewToken, idempotencyKey: string) =>
  call(`POST ${tokens}`, { params: { org, cluster }, body, idempotencyKey })

export const updateToken = ({ org, cluster }: ClusterAddress, token: string, body: TokenChange) =>
  call(`PATCH ${tokens}/{token}`, { params: { org, cluster, token }, body })

export const deleteToken = ({ org, cluster }: ClusterAddress, token: string) =>
  call(`DELETE ${tokens}/{token}`, { params: { org, cluster, token } })
