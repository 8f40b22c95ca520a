import { badRequest } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import { connect, connectionSdl, type Connection, type PageArgs } from '../connections.ts'
import { globalId } from '../ids.ts'
import { organizationOf, userOf, userOfMember } from '../fields.ts'
import { textOf, type Rest } from '../rest.ts'
import { findTeam } from './team.ts'
import { Thing, type Asked, type Part } from '../node.ts'

export const organizationMemberPart: Part = {
  sdl: /* GraphQL */ `
    ${connectionSdl('OrganizationMember')}
    type OrganizationMember implements Node {
      "It holds the ids of the organization and of the user."
      id: ID!
      organization: Organization!
      role: OrganizationMemberRole!
      user: User!
      "The UUID of the user."
      uuid: String!
    }
    enum OrganizationMemberRole {
      ADMIN
      MEMBER
    }
  `,
  resolvers: {
    OrganizationMember: {
      async id(member: Thing, _: object, { rest }: Asked) {
        const organization = await rest.get('/v2/organizations/:org', { org: member.org })
        return globalId('OrganizationMember', textOf(organization['id']), await member.text('id'))
      },
      organization: ({ org }: Thing, _: object, { rest }: Asked) => organizationOf(rest, org),
      user: ({ org, known }: Thing, _: object, { rest }: Asked) =>
        'email' in known ? userOfMember(org, known) : userOf(rest, org, textOf(known['id'])),
    },
  },
}

type MemberArgs = PageArgs & { email?: string | null; role?: string[] | null; team?: unknown }

export async function listMembers({ org }: Thing, args: MemberArgs, { rest }: Asked): Promise<Connection> {
  const roles = (args.role ?? []).map((role) => role.toLowerCase())
  if (args.team !== null && args.team !== undefined) return membersOfTeam(rest, org, args, roles)
  const query = {
    ...(args.email ? { email: args.email } : {}),
    ...(roles.length === 1 && roles[0] !== undefined ? { role: roles[0] } : {}),
  }
  const list = { url: '/v2/organizations/:org/members', params: { org }, query }
  return connect(rest, list, args, (row) => new Thing('OrganizationMember', org, row))
}

async function membersOfTeam(
  rest: Rest,
  org: string,
  args: MemberArgs,
  roles: readonly string[],
): Promise<Connection> {
  if (args.email || roles.length === 1) throw badRequest('Give `team` without `email` and `role`.')
  const name = typeof args.team === 'string' ? args.team : ''
  const slug = name.startsWith(`${org}/`) ? name.slice(org.length + 1) : name
  const team = isUuid(slug) ? slug : await findTeam(rest, org, slug)
  if (team === null) throw badRequest(`\`team\` must be "${org}/SLUG" or the UUID of a team.`)
  const list = { url: '/v2/organizations/:org/teams/:team/members', params: { org, team } }
  return connect(rest, list, args, (row) => {
    const user = textOf(row['user_id'])
    return new Thing('OrganizationMember', org, { id: user }, () =>
      rest.get('/v2/organizations/:org/members/:user', { org, user }),
    )
  })
}
