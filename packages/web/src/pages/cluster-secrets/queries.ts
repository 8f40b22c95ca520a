import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { listQuery } from '../../api/queries.ts'
import type { ClusterAddress } from '../cluster/queries.ts'

const secrets = '/v2/organizations/{org}/clusters/{cluster}/secrets'

export type Secret = Answer<`GET ${typeof secrets}`>[number]
type NewSecret = NonNullable<Operations[`POST ${typeof secrets}`]['body']>
type SecretChange = NonNullable<Operations[`PATCH ${typeof secrets}/{secret}`]['body']>

export const secretsQuery = ({ org, cluster }: ClusterAddress) =>
  listQuery(`GET ${secrets}`, { params: { org, cluster }, query: { per_page: 100 } })

export const createSecret = ({ org, cluster }: ClusterAddress, body: NewSecret, idempotencyKey: string) =>
  call(`POST ${secrets}`, { params: { org, cluster }, body, idempotencyKey })

export const updateSecret = ({ org, cluster }: ClusterAddress, secret: string, body: SecretChange) =>
  call(`PATCH ${secrets}/{secret}`, { params: { org, cluster, secret }, body })

export const updateSecretValue = ({ org, cluster }: ClusterAddress, secret: string, value: string) =>
  call(`PUT ${secrets}/{secret}/value`, { params: { org, cluster, secret }, body: { value } })

export const deleteSecret = ({ org, cluster }: ClusterAddress, secret: string) =>
  call(`DELETE ${secrets}/{secret}`, { params: { org, cluster, secret } })
