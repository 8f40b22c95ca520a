import { Type, type Static } from 'typebox'
import { boolean, orNull, text, Timestamp } from '../../schema.ts'

const GroupTeam = Type.Object({
  group: Type.String({ minLength: 1, maxLength: 255, description: 'A group as the provider names it.' }),
  team_id: Type.String({ format: 'uuid', description: 'Must be the UUID of a team of the organization.' }),
})
const groupTeamsText = 'The teams that the members of a group are in. Applied when they sign in.'

const Scopes = Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,100}$' }), {
  maxItems: 20,
  description: 'The scopes that the provider is asked for. `openid` is always one of them.',
})
const GroupsClaim = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'The claim with the groups of a person: a text or a list of texts. Default `groups`.',
})
const EmailDomains = Type.Array(
  Type.String({
    maxLength: 253,
    pattern: '^[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+$',
    description: 'must be the domain of e-mail addresses, such as example.com',
  }),
  {
    maxItems: 100,
    description: 'Domains whose addresses count as verified although the provider does not say so.',
  },
)
const Provision = boolean(
  'Whether a person without an invitation becomes a member by signing in. Default false.',
)
const SsoRequired = boolean(
  'Whether every member must use it. Otherwise only members whose `sso_mode` is `required`.',
)
const ClientId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'The name of this installation at the provider.',
})
const Enabled = boolean('Disabled, it admits nobody and is required of nobody.')

export const Sso = Type.Object(
  {
    url: Type.String(),
    enabled: Enabled,
    issuer: Type.Union([Type.String(), Type.Null()], {
      description: 'The address of the provider. null: single sign-on is not set up.',
    }),
    client_id: orNull(ClientId),
    scopes: Scopes,
    groups_claim: GroupsClaim,
    group_teams: Type.Array(GroupTeam, { description: groupTeamsText }),
    email_domains: EmailDomains,
    provision: Provision,
    sso_required: SsoRequired,
    redirect_uri: text('To be registered at the provider.'),
    sign_in_url: text('Where members sign in.'),
    created_at: orNull(Timestamp),
    updated_at: orNull(Timestamp),
  },
  { title: 'Sso' },
)

export const UpdateSso = Type.Object(
  {
    issuer: Type.Optional(
      Type.String({ maxLength: 1000, description: 'The address of the provider, as its tokens name it.' }),
    ),
    client_id: Type.Optional(ClientId),
    client_secret: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1000, description: 'Never shown again.' }),
    ),
    scopes: Type.Optional(Scopes),
    groups_claim: Type.Optional(GroupsClaim),
    group_teams: Type.Optional(Type.Array(GroupTeam, { maxItems: 500, description: groupTeamsText })),
    email_domains: Type.Optional(EmailDomains),
    provision: Type.Optional(Provision),
    sso_required: Type.Optional(SsoRequired),
    enabled: Type.Optional(Enabled),
  },
  {
    title: 'UpdateSso',
    description: 'The first time, `issuer`, `client_id` and `client_secret` are required.',
    examples: [
      {
        issuer: 'https://login.example.com',
        client_id: 'millrace',
        client_secret: 'a secret of the provider',
        groups_claim: 'groups',
        group_teams: [],
        email_domains: ['example.com'],
        provision: true,
        sso_required: false,
      },
    ],
  },
)

export type UpdateSsoBody = Static<typeof UpdateSso>
