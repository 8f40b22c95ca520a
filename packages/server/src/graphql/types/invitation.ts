import { uuidOf } from '../ids.ts'
import { type Input } from '../mutations.ts'
import { organizationOf, orgOfId } from '../fields.ts'
import { listOf, rowOf } from '../rest.ts'
import { Thing, type Asked, type Part } from '../node.ts'

export const invitationPart: Part = {
  sdl: /* GraphQL */ `
    extend type Mutation {
      organizationInvitationCreate(
        input: OrganizationInvitationCreateInput!
      ): OrganizationInvitationCreatePayload
    }
    type OrganizationInvitation implements Node {
      createdAt: DateTime!
      email: String!
      id: ID!
      role: OrganizationMemberRole!
      state: OrganizationInvitationStates!
      uuid: String!
    }
    enum OrganizationInvitationStates {
      ACCEPTED
      EXPIRED
      PENDING
      REVOKED
    }
    type OrganizationInvitationEdge {
      cursor: String!
      node: OrganizationInvitation
    }
    input OrganizationInvitationTeamAssignmentInput {
      id: ID!
      role: TeamMemberRole!
    }
    input OrganizationInvitationCreateInput {
      clientMutationId: String
      emails: [String!]!
      organizationID: ID!
      role: OrganizationMemberRole
      teams: [OrganizationInvitationTeamAssignmentInput!]
    }
    type OrganizationInvitationCreatePayload {
      clientMutationId: String
      invitationEdges: [OrganizationInvitationEdge]
      organization: Organization
    }
  `,
  resolvers: {
    Mutation: {
      async organizationInvitationCreate(_: unknown, { input }: Input<InvitationInput>, asked: Asked) {
        const org = await orgOfId(asked, input.organizationID)
        const { emails, role, teams } = input
        const body = {
          emails,
          ...(role ? { role: role.toLowerCase() } : {}),
          ...(teams
            ? { teams: teams.map(({ id, role }) => ({ id: uuidOf('Team', id), role: role.toLowerCase() })) }
            : {}),
        }
        const created = await asked.rest.write('POST', '/v2/organizations/:org/invitations', { org }, body)
        const rows = Array.isArray(created) ? created : listOf(created['items'])
        return {
          clientMutationId: input.clientMutationId,
          invitationEdges: rows.map((row) => ({
            cursor: '',
            node: new Thing('OrganizationInvitation', org, rowOf(row)),
          })),
          organization: organizationOf(asked.rest, org),
        }
      },
    },
  },
}

type InvitationInput = {
  emails: string[]
  organizationID: string
  role?: string | null
  teams?: Array<{ id: string; role: string }> | null
}
