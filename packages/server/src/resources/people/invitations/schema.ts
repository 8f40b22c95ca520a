import { Type, type Static } from 'typebox'
import { MemberRole, SsoMode, TeamRole } from '../schema.ts'
import { oneOf, orNull, text, Timestamp, timestamp, Uuid } from '../../schema.ts'
import { Person } from '../user/schema.ts'

export const InvitationState = oneOf(['pending', 'accepted', 'revoked', 'expired'])
export type InvitationState = Static<typeof InvitationState>

export const Invitation = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    url: Type.String(),
    accept_url: Type.Optional(
      text('The link to pass on to the invited person. Only in the response that creates the invitation.'),
    ),
    email: Type.String(),
    state: Type.Union(InvitationState.anyOf, {
      description: 'Whether the invitation waits, was accepted or revoked, or has expired.',
    }),
    role: MemberRole,
    sso_mode: SsoMode,
    teams: Type.Array(Type.Object({ id: Uuid, graphql_id: Type.String(), slug: Type.String() }), {
      description: 'The teams that the person joins on accepting.',
    }),
    created_at: Timestamp,
    created_by: orNull(Person),
    accepted_at: orNull(timestamp('When the invitation was accepted; null until then.')),
    accepted_by: orNull(Person, 'Who accepted the invitation; null until then.'),
    revoked_at: orNull(timestamp('When the invitation was revoked; null unless it was.')),
    revoked_by: orNull(Person, 'Who revoked the invitation; null unless somebody did.'),
    expired_at: orNull(timestamp('When it expired; null unless it did.')),
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
    emails: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: 100,
      description: 'The addresses to invite.',
    }),
    role: Type.Optional(Type.Union(MemberRole.anyOf, { default: 'member' })),
    sso_mode: Type.Optional(
      Type.Union(SsoMode.anyOf, {
        default: 'required',
        description: 'Whether single sign-on is `required` or `optional` for the person.',
      }),
    ),
    teams: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.String({ format: 'uuid', description: 'UUID. Must be the UUID of a team.' }),
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
