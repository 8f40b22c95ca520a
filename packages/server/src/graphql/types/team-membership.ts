// Memberships of users and pipelines in teams. They have no UUID of their own in REST: the id holds that of the team and that
// of the user or pipeline, and `uuid` is made of both.
import { v5 } from 'uuid'
import { atUrl, nodeAtUrl, reference } from '../fields.ts'
import { globalId } from '../ids.ts'
import { addressed, byId, givenId, idOf, ifGiven, written, writtenEdge } from '../mutations.ts'
import type { Node } from '../node.ts'
import type { Fields, Part } from '../table.ts'

export const teamMembershipPart: Part = {
  nodes: {
    TeamMember: {
      ...idsWith('TeamMember', 'user_id', 'It holds the ids of the team and of the user.'),
      createdAt: 'DateTime!',
      role: 'TeamMemberRole!',
      team: reference('Team'),
      user: reference('User', { user: 'user_id' }),
    },
    TeamPipeline: {
      ...idsWith('TeamPipeline', 'pipeline_id', 'It holds the ids of the team and of the pipeline.'),
      accessLevel: 'PipelineAccessLevels!',
      createdAt: 'DateTime!',
      pipeline: atUrl('Pipeline', 'pipeline_url', 'pipeline_id'),
      team: reference('Team'),
    },
  },
  enums: {
    PipelineAccessLevels: 'BUILD_AND_READ MANAGE_BUILD_AND_READ READ_ONLY',
  },
  mutations: {
    teamMemberCreate: {
      route: 'POST /members',
      at: { teamID: 'Team' },
      input: {
        role: ifGiven('TeamMemberRole', {
          description: 'Without it, the one that the team gives to new members.',
        }),
        userID: idOf('User', 'user_id', 'ID!'),
      },
      payload: { team: addressed('Team'), teamMemberEdge: writtenEdge('TeamMemberEdge') },
    },
    teamMemberUpdate: {
      route: 'PUT',
      at: byId('TeamMember'),
      input: { role: 'TeamMemberRole!' },
      payload: { teamMember: written('TeamMember!') },
    },
    teamMemberDelete: {
      route: 'DELETE',
      at: byId('TeamMember'),
      payload: { deletedTeamMemberID: givenId, team: addressed('Team') },
    },
    teamPipelineCreate: {
      route: 'POST /pipelines',
      at: { teamID: 'Team' },
      input: {
        accessLevel: {
          type: 'PipelineAccessLevels',
          defaultValue: 'read_only',
          toBody: (level) => level ?? 'read_only',
        },
        pipelineID: idOf('Pipeline', 'pipeline_id', 'ID!'),
      },
      payload: {
        pipeline: {
          type: 'Pipeline',
          resolve: ({ row }, _, context) =>
            nodeAtUrl(context, 'Pipeline', row['pipeline_url'], row['pipeline_id']),
        },
        team: addressed('Team'),
        teamPipeline: written('TeamPipeline'),
        teamPipelineEdge: writtenEdge('TeamPipelineEdge'),
      },
    },
    teamPipelineUpdate: {
      route: 'PUT',
      at: byId('TeamPipeline'),
      input: { accessLevel: 'PipelineAccessLevels!' },
      payload: { teamPipeline: written('TeamPipeline!') },
    },
    teamPipelineDelete: {
      route: 'DELETE',
      at: byId('TeamPipeline'),
      input: { force: { type: 'Boolean', description: 'Nothing needs it here.' } },
      payload: { deletedTeamPipelineID: givenId, team: addressed('Team') },
    },
  },
}

export function idsWith(type: string, column: string, description: string): Fields {
  const idsOf = async (source: Node) => [source.address['team'] ?? '', await source.text(column)] as const
  return {
    id: { type: 'ID!', description, resolve: async (source) => globalId(type, ...(await idsOf(source))) },
    uuid: {
      type: 'ID!',
      async resolve(source) {
        const [team, second] = await idsOf(source)
        return v5(`${type} ${second}`, team)
      },
    },
  }
}
