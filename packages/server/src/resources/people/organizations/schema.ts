import { Type, type Static } from 'typebox'
import {
  boolean,
  described,
  Emoji,
  integer,
  orNull,
  text,
  Timestamp,
  timestamp,
  Uuid,
  viewerOf,
} from '../../schema.ts'

export const Organization = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    url: Type.String(),
    web_url: Type.String(),
    name: Type.String(),
    slug: Type.String(),
    emoji: orNull(text('Emoji in colon syntax, such as `:rocket:`; null when none is set.')),
    pipelines_url: text('Address of the organization’s pipelines in the API.'),
    agents_url: text('Address of the organization’s agents in the API.'),
    emojis_url: text('Address of the organization’s emoji in the API.'),
    created_at: Timestamp,
    teams_enabled: Type.Optional(
      boolean('Whether teams decide who sees which pipeline. Absent in lists and webhooks.'),
    ),
    viewer: viewerOf({
      create_pipelines: boolean('Whether the caller may create pipelines.'),
      administer: boolean('Whether the caller is an administrator.'),
      view_teams: boolean('Whether the caller may see members and teams.'),
      manage_services: boolean('Whether the caller may manage notification services.'),
      view_audit_log: boolean('Whether the caller may read the audit log.'),
    }),
  },
  { title: 'Organization' },
)

export const UpdateOrganization = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        maxLength: 255,
        pattern: '[\\p{L}\\p{N}]',
        description: 'Name, for people. Must contain a letter or a digit.',
      }),
    ),
    emoji: Type.Optional(Emoji),
  },
  { title: 'UpdateOrganization', examples: [{ name: 'Acme Inc', emoji: ':rocket:' }] },
)

export type UpdateOrganizationBody = Static<typeof UpdateOrganization>

const RateLimit = Type.Object(
  {
    limit: integer('The most that is allowed.'),
    current: integer('Requests counted in the running window.'),
    reset: integer('Seconds until the window ends.'),
    reset_at: timestamp('When the window ends.'),
    enforced: boolean('Whether requests over the limit are refused.'),
  },
  { title: 'RateLimit' },
)

export const RateLimitScopes = Type.Object(
  {
    scopes: Type.Object(
      {
        rest: described(RateLimit, 'Limit of the REST API.'),
        graphql: described(RateLimit, 'Limit of the GraphQL API.'),
      },
      { description: 'The limits by API.' },
    ),
  },
  { title: 'RateLimitScopes' },
)
