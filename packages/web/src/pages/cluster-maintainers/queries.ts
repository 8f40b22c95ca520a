import { call, type Answer } from '../../api/call.ts'
import { query } from '../../api/queries.ts'
import type { ClusterAddress } from '../cluster/queries.ts'

const maintainers = '/v2/organizations/{org}/clusters/{cluster}/maintainers'

export type Maintainer = Answer<`GET ${typeof maintainers}`>[number]

/** A person or a team. */
export type Actor = { user: string } | { team: string }

export const maintainersQuery = ({ org, cluster }: ClusterAddress) =>
  query(`GET ${maintainers}`, { params: { org, cluster }, query: { per_page: 100 } })

export const addMaintainer = ({ org, cluster }: ClusterAddress, actor: Actor) =>
  call(`POST ${maintainers}`, { params: { org, cluster }, body: actor })

export const deleteMaintainer = ({ org, cluster }: ClusterAddress, maintainer: string) =>
  call(`DELETE ${maintainers}/{maintainer}`, { params: { org, cluster, maintainer } })

export const actorOf = ({ actor }: Maintainer): Actor =>
  actor.type === 'user' ? { user: actor.id } : { team: actor.id }
