import { badRequest } from '../../lib/errors.ts'
import { connectionSdl } from '../connections.ts'
import { readGlobalId, uuidOf } from '../ids.ts'
import { type Input } from '../mutations.ts'
import { teamOf, userOf } from '../fields.ts'
import { toTeamMember } from './memberships.ts'
import type { Asked, Part, Thing } from '../node.ts'

export const teamMemberPart: Part = {
  sdl: /* GraphQL */ `
    ${connectionSdl('TeamMember')}
    extend type Mutation {
      teamMemberCreate(input: TeamMemberCreateInput!): TeamMemberCreatePayload
      teamMemberUpdate(input: TeamMemberUpdateInput!): TeamMemberUpdatePayload
      teamMemberDelete(input: TeamMemberDeleteInput!): TeamMemberDeletePayload
    }
    type TeamMember implements Node {
      createdAt: DateTime!
      "It holds the ids of the team and of the user."
      id: ID!
      role: TeamMemberRole!
      team: Team
      user: User
      uuid: ID!
    }
    input TeamMemberCreateInput {
      clientMutationId: String
      "Without it, the one that the team gives to new members."
      role: TeamMemberRole
      teamID: ID!
      userID: ID!
    }
    type TeamMemberCreatePayload {
      clientMutationId: String
      team: Team
      teamMemberEdge: TeamMemberEdge
    }
    input TeamMemberUpdateInput {
      clientMutationId: String
      id: ID!
      role: TeamMemberRole!
    }
    type TeamMemberUpdatePayload {
      clientMutationId: String
      teamMember: TeamMember!
    }
    input TeamMemberDeleteInput {
      clientMutationId: String
      id: ID!
    }
    type TeamMemberDeletePayload {
      clientMutationId: String
      deletedTeamMemberID: ID!
      team: Team
    }
  `,
  resolvers: {
    Mutation: {
      async teamMemberCreate(
        _: unknown,
        { input }: Input<{ teamID: string; userID: string; role?: string | null }>,
        { rest, places }: Asked,
      ) {
        const team = uuidOf('Team', input.teamID)
        const { org } = await places.get('Team', team)
        const role = input.role ? { role: input.role.toLowerCase() } : {}
        const body = { user_id: uuidOf('User', input.userID), ...role }
        const row = await rest.write('POST', members, { org, team }, body)
        return {
          clientMutationId: input.clientMutationId,
          team: teamOf(rest, org, team),
          teamMemberEdge: { cursor: '', node: toTeamMember(org, team, row) },
        }
      },
      async teamMemberUpdate(_: unknown, { input }: Input<{ id: string; role: string }>, asked: Asked) {
        const place = await placeOf(asked, input.id)
        const body = { role: input.role.toLowerCase() }
        const row = await asked.rest.write('PUT', `${members}/:user`, place, body)
        const teamMember = toTeamMember(place.org, place.team, row)
        return { clientMutationId: input.clientMutationId, teamMember }
      },
      async teamMemberDelete(_: unknown, { input }: Input<{ id: string }>, asked: Asked) {
        const place = await placeOf(asked, input.id)
        await asked.rest.write('DELETE', `${members}/:user`, place)
        return {
          clientMutationId: input.clientMutationId,
          deletedTeamMemberID: input.id,
          team: teamOf(asked.rest, place.org, place.team),
        }
      },
    },
    TeamMember: {
      team: async (member: Thing, _: object, { rest }: Asked) =>
        teamOf(rest, member.org, await member.text('team_id')),
      user: async (member: Thing, _: object, { rest }: Asked) =>
        userOf(rest, member.org, await member.text('user_id')),
    },
  },
}

const members = '/v2/organizations/:org/teams/:team/members'

async function placeOf({ places }: Asked, id: string) {
  const read = readGlobalId(id)
  if (read?.type !== 'TeamMember' || read.second === null) {
    throw badRequest(`${JSON.stringify(id.slice(0, 100))} is not the id of a TeamMember.`)
  }
  const { org } = await places.get('Team', read.uuid)
  return { org, team: read.uuid, user: read.second }
}
