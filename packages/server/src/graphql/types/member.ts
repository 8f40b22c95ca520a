// Users, members of organizations and invitations.
import { badRequest } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import { urlOf } from '../addresses.ts'
import { connect, type Connection, type PageArgs } from '../connections.ts'
import { reference, self } from '../fields.ts'
import { globalId, uuidOf } from '../ids.ts'
import { addressed, ifGiven } from '../mutations.ts'
import { Node, nodeAt, type GraphqlContext } from '../node.ts'
import { listOf, rowOf, textOf } from '../rest.ts'
import type { Part } from '../table.ts'
import { findTeam } from './team.ts'

const organization = urlOf('Organization')

export const memberPart: Part = {
  nodes: {
    User: { avatar: self('Avatar!'), email: 'String!', name: 'String!', uuid: 'String!' },
    OrganizationMember: {
      id: {
        type: 'ID!',
        description: 'It holds the ids of the organization and of the user.',
        async resolve(member, _, { rest }) {
          const { id } = await rest.get(organization, member.address)
          return globalId('OrganizationMember', textOf(id), await member.text('id'))
        },
      },
      organization: reference('Organization!'),
      role: 'OrganizationMemberRole!',
      user: {
        type: 'User!',
        resolve: ({ address, known }, _, context) =>
          nodeAt(context, 'User', { ...address, user: textOf(known['id']) }, known),
      },
      uuid: { type: 'String!', description: 'The UUID of the user.' },
    },
    OrganizationInvitation: {
      createdAt: 'DateTime!',
      email: 'String!',
      role: 'OrganizationMemberRole!',
      state: 'OrganizationInvitationStates!',
      uuid: 'String!',
    },
  },
  objects: {
    // Members have no avatar in REST.
    Avatar: { url: { type: 'String!', resolve: (user) => user.text('avatar_url') } },
  },
  enums: {
    OrganizationMemberRole: 'ADMIN MEMBER',
    OrganizationInvitationStates: 'ACCEPTED EXPIRED PENDING REVOKED',
  },
  inputs: { OrganizationInvitationTeamAssignmentInput: { id: 'ID!', role: 'TeamMemberRole!' } },
  mutations: {
    organizationInvitationCreate: {
      route: 'POST /invitations',
      at: { organizationID: 'Organization' },
      input: {
        emails: '[String!]!',
        role: ifGiven('OrganizationMemberRole'),
        teams: ifGiven('[OrganizationInvitationTeamAssignmentInput!]', {
          toBody: (teams) =>
            listOf(teams)
              .map(rowOf)
              .map(({ id, role }) => ({ id: uuidOf('Team', textOf(id)), role })),
        }),
      },
      payload: {
        invitationEdges: {
          type: '[OrganizationInvitationEdge]',
          resolve: ({ address, row }) =>
            listOf(row).map((invitation) => ({
              cursor: '',
              node: new Node('OrganizationInvitation', address, rowOf(invitation)),
            })),
        },
        organization: addressed('Organization'),
      },
    },
  },
}

type MemberArgs = PageArgs & { email?: string | null; role?: string[] | null; team?: unknown }

export async function listMembers(
  { address }: Node,
  args: MemberArgs,
  context: GraphqlContext,
): Promise<Connection> {
  const { email, role, team } = args
  const onlyRole = role?.length === 1 ? role[0] : undefined
  if (team === null || team === undefined) {
    const query = { ...(email ? { email } : {}), ...(onlyRole ? { role: onlyRole } : {}) }
    const list = { url: `${organization}/members`, params: address, query }
    return connect(context.rest, list, args, (row) => new Node('OrganizationMember', address, row))
  }
  if (email || onlyRole) throw badRequest('Give `team` without `email` and `role`.')
  const params = { ...address, team: await teamNamed(context, address.org, textOf(team)) }
  return connect(context.rest, { url: `${urlOf('Team')}/members`, params }, args, (row) =>
    nodeAt(context, 'OrganizationMember', { ...address, user: textOf(row['user_id']) }),
  )
}

async function teamNamed({ rest }: GraphqlContext, org: string, name: string): Promise<string> {
  const slug = name.startsWith(`${org}/`) ? name.slice(org.length + 1) : name
  const team = isUuid(slug) ? slug : await findTeam(rest, org, slug)
  if (team === null) throw badRequest(`\`team\` must be "${org}/SLUG" or the UUID of a team.`)
  return team
}
