import type { Static } from 'typebox'
import { graphqlId } from '../../../lib/ids.ts'
import { presentUserOrNull } from '../../people/user/present.ts'
import type { ClusterRow } from './queries.ts'
import type { Cluster } from './schema.ts'

type Wire = Static<typeof Cluster>

export const clusterUrl = (url: string, orgSlug: string, clusterId: string): string =>
  `${url}/v2/organizations/${orgSlug}/clusters/${clusterId}`

/** The fields that every member sees. Lists have no others. */
export function presentCluster(url: string, orgSlug: string, cluster: ClusterRow): Wire {
  const self = clusterUrl(url, orgSlug, cluster.id)
  return {
    id: cluster.id,
    graphql_id: graphqlId('Cluster', cluster.id),
    default_queue_id: cluster.default_queue_id,
    name: cluster.name,
    description: cluster.description,
    emoji: cluster.emoji,
    color: cluster.color,
    maintainers: {
      users: cluster.user_maintainers.map(({ id, user }) => ({
        id,
        actor: {
          id: user.id,
          graphql_id: graphqlId('User', user.id),
          name: user.name,
          email: user.email,
          type: 'user',
        },
      })),
      teams: cluster.team_maintainers.map(({ id, team }) => ({
        id,
        actor: { id: team.id, graphql_id: graphqlId('Team', team.id), name: team.name, slug: team.slug },
      })),
    },
    url: self,
    web_url: `${url}/organizations/${orgSlug}/clusters/${cluster.id}`,
    queues_url: `${self}/queues`,
    default_queue_url:
      cluster.default_queue_id === null ? null : `${self}/queues/${cluster.default_queue_id}`,
    created_at: cluster.created_at,
    created_by: presentUserOrNull(url, cluster.created_by),
  }
}

/** Get and update show these fields to callers who may manage the cluster. */
export const presentManagedCluster = (url: string, orgSlug: string, cluster: ClusterRow): Wire => ({
  ...presentCluster(url, orgSlug, cluster),
  hosted: cluster.hosted,
  hosted_git_mirror_enabled: cluster.hosted_git_mirror_enabled,
  hosted_container_cache_enabled: cluster.hosted_container_cache_enabled,
})
