import { Type, type Static } from 'typebox'
import { orNull, text, Timestamp, Uuid } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

export const ClusterToken = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    description: text('What the token is for.'),
    allowed_ip_addresses: text('CIDRs separated by spaces.'),
    expires_at: orNull(Timestamp),
    url: Type.String(),
    cluster_url: Type.String(),
    created_at: Timestamp,
    created_by: UserOrNull,
  },
  { title: 'ClusterToken' },
)

export const CreatedClusterToken = Type.Object(
  {
    ...ClusterToken.properties,
    description: Type.String(),
    token: text('What agents connect with. Shown here and never again.'),
  },
  { title: 'CreatedClusterToken' },
)

const Description = Type.String({
  minLength: 1,
  maxLength: 1000,
  pattern: '\\S',
  description: 'Description, for people. Must not be blank.',
})
const AllowedIpAddresses = orNull(
  Type.String({ maxLength: 10_000, description: 'CIDRs separated by spaces; empty allows any address.' }),
)
const ExpiresAt = orNull(text('An ISO 8601 time; null never expires.'))

export const CreateClusterToken = Type.Object(
  {
    description: Description,
    allowed_ip_addresses: Type.Optional(AllowedIpAddresses),
    expires_at: Type.Optional(ExpiresAt),
  },
  {
    title: 'CreateClusterToken',
    examples: [{ description: 'Windows agents', allowed_ip_addresses: '10.0.0.0/8 192.168.1.4' }],
  },
)

export const UpdateClusterToken = Type.Object(
  {
    description: Type.Optional(Description),
    allowed_ip_addresses: Type.Optional(AllowedIpAddresses),
    expires_at: Type.Optional(ExpiresAt),
  },
  { title: 'UpdateClusterToken', examples: [{ expires_at: '2030-01-01T00:00:00Z' }] },
)

export type CreateClusterTokenBody = Static<typeof CreateClusterToken>
export type UpdateClusterTokenBody = Static<typeof UpdateClusterToken>
