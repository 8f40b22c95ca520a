import type { Static } from 'typebox'
import { graphqlId } from '../../../lib/ids.ts'
import { clusterUrl } from '../clusters/present.ts'
import { presentUserOrNull } from '../../people/user/present.ts'
import type { ClusterTokenRow } from './queries.ts'
import type { ClusterToken } from './schema.ts'

export function presentClusterToken(
  url: string,
  orgSlug: string,
  token: ClusterTokenRow,
): Static<typeof ClusterToken> {
  const cluster = clusterUrl(url, orgSlug, token.cluster_id)
  return {
    id: token.id,
    graphql_id: graphqlId('ClusterToken', token.id),
    description: token.description,
    allowed_ip_addresses: token.allowed_ip_addresses,
    expires_at: token.expires_at,
    url: `${cluster}/tokens/${token.id}`,
    cluster_url: cluster,
    created_at: token.created_at,
    created_by: presentUserOrNull(url, token.created_by),
  }
}
