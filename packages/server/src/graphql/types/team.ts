import { badRequest } from '../../lib/errors.ts'
import { connect, connectionSdl, pageArgs, type PageArgs } from '../connections.ts'
import { uuidOf } from '../ids.ts'
import { bodyOf, givenOf, type Input } from '../mutations.ts'
import { organizationOf, orgOfId, userIn } from '../fields.ts'
import { textOf, type Rest, type Row } from '../rest.ts'
import { toTeamMember, toTeamPipeline } from './memberships.ts'
import { Thing, type Asked, type Part } from '../node.ts'

export const teamPart: Part = {
  sdl: /* GraphQL */ `
    ${connectionSdl('Team')}
    extend type Query {
      "The slug is that of the organization, a slash, and that of the team."
      team(slug: ID!): Team
    }
    extend type Mutation {
      teamCreate(input: TeamCreateInput!): TeamCreatePayload
      teamUpdate(input: TeamUpdateInput!): TeamUpdatePayload
      teamDelete(input: TeamDeleteInput!): TeamDeletePayload
    }
    type Team implements Node {
      createdAt: DateTime!
      createdBy: User
      defaultMemberRole: TeamMemberRole!
      description: String
      id: ID!
      isDefaultTeam: Boolean!
      members(${pageArgs}): TeamMemberConnection
      membersCanCreatePipelines: Boolean!
      name: String!
      organization: Organization
      pipelines(${pageArgs}): TeamPipelineConnection
      privacy: TeamPrivacy!
      slug: String!
      uuid: ID!
    }
    enum TeamPrivacy {
      SECRET
      VISIBLE
    }
    enum TeamMemberRole {
      MAINTAINER
      MEMBER
    }
    input TeamCreateInput {
      clientMutationId: String
      defaultMemberRole: TeamMemberRole!
      description: String
      isDefaultTeam: Boolean!
      membersCanCreatePipelines: Boolean
      name: String!
      organizationID: ID!
      privacy: TeamPrivacy!
    }
    type TeamCreatePayload {
      clientMutationId: String
      organization: Organization!
      teamEdge: TeamEdge!
    }
    input TeamUpdateInput {
      clientMutationId: String
      defaultMemberRole: TeamMemberRole
      description: String
      id: ID!
      isDefaultTeam: Boolean
      membersCanCreatePipelines: Boolean
      name: String
      privacy: TeamPrivacy
    }
    type TeamUpdatePayload {
      clientMutationId: String
      team: Team!
    }
    input TeamDeleteInput {
      clientMutationId: String
      id: ID!
    }
    type TeamDeletePayload {
      clientMutationId: String
      deletedTeamID: ID!
      organization: Organization!
    }
  `,
  resolvers: {
    Query: {
      async team(_: unknown, { slug }: { slug: string }, { rest }: Asked) {
        const [org, name, ...more] = slug.split('/')
        if (!org || !name || more.length > 0) {
          throw badRequest(
            '`slug` must be that of the organization and that of the team, such as "acme/web".',
          )
        }
        const id = await findTeam(rest, org, name)
        return id === null ? null : new Thing('Team', org, await rest.get(team, { org, team: id }))
      },
    },
    Mutation: {
      async teamCreate(_: unknown, { input }: Input<{ organizationID: string }>, asked: Asked) {
        const org = await orgOfId(asked, input.organizationID)
        const row = await asked.rest.write('POST', '/v2/organizations/:org/teams', { org }, teamBody(input))
        return {
          clientMutationId: input.clientMutationId,
          organization: organizationOf(asked.rest, org),
          teamEdge: { cursor: '', node: new Thing('Team', org, row) },
        }
      },
      async teamUpdate(_: unknown, { input }: Input<{ id: string }>, asked: Asked) {
        const place = await asked.places.get('Team', uuidOf('Team', input.id))
        const row = await asked.rest.write('PUT', team, place, teamBody(input))
        return { clientMutationId: input.clientMutationId, team: new Thing('Team', place.org, row) }
      },
      async teamDelete(_: unknown, { input }: Input<{ id: string }>, asked: Asked) {
        const place = await asked.places.get('Team', uuidOf('Team', input.id))
        await asked.rest.write('DELETE', team, place)
        return {
          clientMutationId: input.clientMutationId,
          deletedTeamID: input.id,
          organization: organizationOf(asked.rest, place.org),
        }
      },
    },
    Team: {
      createdBy: userIn('created_by'),
      isDefaultTeam: (source: Thing) => source.get('default'),
      async members({ org, ...source }: Thing, args: PageArgs, { rest }: Asked) {
        const params = { org, team: textOf(source.known['id']) }
        const list = { url: `${team}/members`, params }
        return connect(rest, list, args, (row) => toTeamMember(org, params.team, row))
      },
      organization: ({ org }: Thing, _: object, { rest }: Asked) => organizationOf(rest, org),
      async pipelines({ org, ...source }: Thing, args: PageArgs, { rest }: Asked) {
        const params = { org, team: textOf(source.known['id']) }
        const list = { url: `${team}/pipelines`, params }
        return connect(rest, list, args, (row) => toTeamPipeline(org, params.team, row))
      },
    },
  },
}

const team = '/v2/organizations/:org/teams/:team'

const teamBody = (input: object) => {
  const enums = givenOf(input, { defaultMemberRole: 'default_member_role', privacy: 'privacy' })
  return {
    ...bodyOf(input, { description: 'description' }),
    ...givenOf(input, {
      isDefaultTeam: 'is_default_team',
      membersCanCreatePipelines: 'members_can_create_pipelines',
      name: 'name',
    }),
    ...Object.fromEntries(Object.entries(enums).map(([name, value]) => [name, textOf(value).toLowerCase()])),
  }
}

/** The UUID of the team with this slug. REST finds teams by UUID only, and an organization has few. */
export async function findTeam(rest: Rest, org: string, slug: string): Promise<string | null> {
  for (let page = 1; page <= mostPages; page++) {
    const query = { page: String(page), per_page: '100' }
    const { rows, hasNext } = await rest.page('/v2/organizations/:org/teams', { org }, query)
    const found = rows.find((row: Row) => row['slug'] === slug)
    if (found !== undefined) return textOf(found['id'])
    if (!hasNext) break
  }
  return null
}

const mostPages = 10
