import type { Static } from 'typebox'
import type { Organization } from '../../../auth/caller.ts'
import { graphqlId } from '../../../lib/ids.ts'
import { clusterUrl } from '../clusters/present.ts'
import { presentPersonOrNull } from '../../people/user/present.ts'
import type { SecretRow } from './queries.ts'
import type { Secret } from './schema.ts'

export function presentSecret(url: string, org: Organization, secret: SecretRow): Static<typeof Secret> {
  const cluster = clusterUrl(url, org.slug, secret.cluster_id)
  return {
    id: secret.id,
    graphql_id: graphqlId('Secret', secret.id),
    key: secret.key,
    description: secret.description,
    policy: secret.policy,
    url: `${cluster}/secrets/${secret.id}`,
    cluster_url: cluster,
    created_at: secret.created_at,
    created_by: presentPersonOrNull(secret.created_by),
    updated_at: secret.updated_at,
    updated_by: presentPersonOrNull(secret.updated_by),
    last_read_at: secret.last_read_at,
    organization: {
      id: org.id,
      slug: org.slug,
      url: `${url}/v2/organizations/${org.slug}`,
      web_url: `${url}/${org.slug}`,
    },
  }
}
