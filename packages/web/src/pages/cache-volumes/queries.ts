import { call, type Answer } from '../../api/call.ts'
import { query } from '../../api/queries.ts'
import type { ClusterAddress } from '../cluster/queries.ts'

const volumes = '/v2/organizations/{org}/clusters/{cluster}/cache_volumes'

export type CacheVolume = Answer<`GET ${typeof volumes}`>[number]

export const volumesQuery = ({ org, cluster }: ClusterAddress) =>
  query(`GET ${volumes}`, { params: { org, cluster } })

export const deleteVolumes = ({ org, cluster }: ClusterAddress, tag: string) =>
  call(`DELETE ${volumes}`, { params: { org, cluster }, body: { tag } })
