import { Type } from 'typebox'
import { Timestamp, Uuid, viewerOf } from '../../schema.ts'

export const Organization = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    url: Type.String(),
    web_url: Type.String(),
    name: Type.String(),
    slug: Type.String(),
    pipelines_url: Type.String(),
    agents_url: Type.String(),
    emojis_url: Type.String(),
    created_at: Timestamp,
    viewer: viewerOf({
      create_pipelines: Type.Boolean(),
      administer: Type.Boolean(),
      view_teams: Type.Boolean(),
      manage_services: Type.Boolean(),
      view_audit_log: Type.Boolean(),
    }),
  },
  { title: 'Organization' },
)

const RateLimit = Type.Object(
  {
    limit: Type.Integer(),
    current: Type.Integer(),
    reset: Type.Integer({ description: 'Seconds until the window ends.' }),
    reset_at: Timestamp,
    enforced: Type.Boolean(),
  },
  { title: 'RateLimit' },
)

export const RateLimitScopes = Type.Object(
  { scopes: Type.Object({ rest: RateLimit, graphql: RateLimit }) },
  { title: 'RateLimitScopes' },
)
