import { Type, type Static } from 'typebox'
import { MemberRole, SsoMode } from '../schema.ts'
import { orNull, Timestamp, Uuid } from '../../schema.ts'
import { TeamRole } from '../schema.ts'
import { PersonOrNull } from '../user/schema.ts'

const TimestampOrNull = orNull(Timestamp)

export const InvitationState = Type.Union([
  Type.Literal('pending'),
  Type.Literal('accepted'),
  Type.Literal('revoked'),
  Type.Literal('expired'),
])
export type InvitationState = Static<typeof InvitationState>

export const Invitation = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    url: Type.String(),
    accept_url: Type.Optional(
      Type.String({
        description:
          'The link to pass on to the invited person. Only in the response that creates the invitation.',
      }),
    ),
    email: Type.String(),
    state: InvitationState,
    role: MemberRole,
    sso_mode: SsoMode,
    teams: Type.Array(Type.Object({ id: Uuid, graphql_id: Type.String(), slug: Type.String() })),
    created_at: Timestamp,
    created_by: PersonOrNull,
    accepted_at: TimestampOrNull,
    accepted_by: PersonOrNull,
    revoked_at: TimestampOrNull,
    revoked_by: PersonOrNull,
    expired_at: TimestampOrNull,
  },
  { title: 'Invitation' },
)

export const InvitationPage = Type.Object(
  {
    items: Type.Array(Invitation),
    links: Type.Record(Type.String(), Type.String(), {
      description: '`self`, and `first`, `prev` and `next` where they exist.',
    }),
  },
  { title: 'InvitationPage' },
)

export const CreateInvitations = Type.Object(
  {
    emails: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }),
    role: Type.Optional(Type.Union(MemberRole.anyOf, { default: 'member' })),
    sso_mode: Type.Optional(Type.Union(SsoMode.anyOf, { default: 'required' })),
    teams: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.String({ format: 'uuid', description: 'must be the UUID of a team' }),
          role: Type.Optional(Type.Union(TeamRole.anyOf, { default: 'member' })),
        }),
        { maxItems: 250, description: 'The teams that the invited person joins on accepting.' },
      ),
    ),
  },
  {
    title: 'CreateInvitations',
    examples: [
      {
        emails: ['ada@example.com'],
        role: 'member',
        sso_mode: 'optional',
        teams: [{ id: '01885682-55a7-44f5-84f3-0402fb452e66', role: 'maintainer' }],
      },
    ],
  },
)

export type CreateInvitationsBody = Static<typeof CreateInvitations>
