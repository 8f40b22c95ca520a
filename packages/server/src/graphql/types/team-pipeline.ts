import { badRequest } from '../../lib/errors.ts'
import { connectionSdl } from '../connections.ts'
import { readGlobalId, uuidOf } from '../ids.ts'
import { type Input } from '../mutations.ts'
import { pipelineOf, teamOf } from '../fields.ts'
import { toTeamPipeline } from './memberships.ts'
import type { Asked, Part, Thing } from '../node.ts'

export const teamPipelinePart: Part = {
  sdl: /* GraphQL */ `
    ${connectionSdl('TeamPipeline')}
    extend type Mutation {
      teamPipelineCreate(input: TeamPipelineCreateInput!): TeamPipelineCreatePayload
      teamPipelineUpdate(input: TeamPipelineUpdateInput!): TeamPipelineUpdatePayload
      teamPipelineDelete(input: TeamPipelineDeleteInput!): TeamPipelineDeletePayload
    }
    type TeamPipeline implements Node {
      accessLevel: PipelineAccessLevels!
      createdAt: DateTime!
      "It holds the ids of the team and of the pipeline."
      id: ID!
      pipeline: Pipeline
      team: Team
      uuid: ID!
    }
    enum PipelineAccessLevels {
      BUILD_AND_READ
      MANAGE_BUILD_AND_READ
      READ_ONLY
    }
    input TeamPipelineCreateInput {
      accessLevel: PipelineAccessLevels = READ_ONLY
      clientMutationId: String
      pipelineID: ID!
      teamID: ID!
    }
    type TeamPipelineCreatePayload {
      clientMutationId: String
      pipeline: Pipeline
      team: Team
      teamPipeline: TeamPipeline
      teamPipelineEdge: TeamPipelineEdge
    }
    input TeamPipelineUpdateInput {
      accessLevel: PipelineAccessLevels!
      clientMutationId: String
      id: ID!
    }
    type TeamPipelineUpdatePayload {
      clientMutationId: String
      teamPipeline: TeamPipeline!
    }
    input TeamPipelineDeleteInput {
      clientMutationId: String
      "Nothing needs it here."
      force: Boolean
      id: ID!
    }
    type TeamPipelineDeletePayload {
      clientMutationId: String
      deletedTeamPipelineID: ID!
      team: Team
    }
  `,
  resolvers: {
    Mutation: {
      async teamPipelineCreate(
        _: unknown,
        { input }: Input<{ teamID: string; pipelineID: string; accessLevel?: string | null }>,
        { rest, places }: Asked,
      ) {
        const team = uuidOf('Team', input.teamID)
        const { org } = await places.get('Team', team)
        const access_level = (input.accessLevel ?? 'READ_ONLY').toLowerCase()
        const body = { pipeline_id: uuidOf('Pipeline', input.pipelineID), access_level }
        const node = toTeamPipeline(org, team, await rest.write('POST', pipelines, { org, team }, body))
        return {
          clientMutationId: input.clientMutationId,
          pipeline: await pipelineIn(node, {}, { rest }),
          team: teamOf(rest, org, team),
          teamPipeline: node,
          teamPipelineEdge: { cursor: '', node },
        }
      },
      async teamPipelineUpdate(
        _: unknown,
        { input }: Input<{ id: string; accessLevel: string }>,
        asked: Asked,
      ) {
        const place = await placeOf(asked, input.id)
        const body = { access_level: input.accessLevel.toLowerCase() }
        const row = await asked.rest.write('PUT', `${pipelines}/:team_pipeline`, place, body)
        const teamPipeline = toTeamPipeline(place.org, place.team, row)
        return { clientMutationId: input.clientMutationId, teamPipeline }
      },
      async teamPipelineDelete(_: unknown, { input }: Input<{ id: string }>, asked: Asked) {
        const place = await placeOf(asked, input.id)
        await asked.rest.write('DELETE', `${pipelines}/:team_pipeline`, place)
        return {
          clientMutationId: input.clientMutationId,
          deletedTeamPipelineID: input.id,
          team: teamOf(asked.rest, place.org, place.team),
        }
      },
    },
    TeamPipeline: {
      pipeline: pipelineIn,
      team: async (source: Thing, _: object, { rest }: Asked) =>
        teamOf(rest, source.org, await source.text('team_id')),
    },
  },
}

const pipelines = '/v2/organizations/:org/teams/:team/pipelines'

async function pipelineIn(source: Thing, _: object, { rest }: Pick<Asked, 'rest'>): Promise<Thing> {
  return pipelineOf(rest, source.org, await source.text('pipeline_slug'), await source.text('pipeline_id'))
}

async function placeOf({ places }: Asked, id: string) {
  const read = readGlobalId(id)
  if (read?.type !== 'TeamPipeline' || read.second === null) {
    throw badRequest(`${JSON.stringify(id.slice(0, 100))} is not the id of a TeamPipeline.`)
  }
  const { org } = await places.get('Team', read.uuid)
  return { org, team: read.uuid, team_pipeline: read.second }
}
