import { Type, type Static } from 'typebox'
import { TeamActor } from '../../clusters/clusters/schema.ts'
import { AccessLevel } from '../team-access/schema.ts'
import { described, text, Timestamp, Uuid } from '../../schema.ts'

const Level = Type.Union(AccessLevel.anyOf, {
  description: 'What the members of the team may do with the pipeline.',
})

export const TeamPipeline = Type.Object(
  {
    pipeline_id: Uuid,
    pipeline_url: text('Address of the pipeline in the API.'),
    pipeline_name: text('Name of the pipeline.'),
    pipeline_slug: text('Name of the pipeline in URLs.'),
    access_level: Level,
    created_at: Timestamp,
  },
  { title: 'TeamPipeline' },
)

export const PipelineTeam = Type.Object(
  {
    team: described(TeamActor, 'UUID of a team of the organization.'),
    access_level: Level,
    created_at: Timestamp,
  },
  { title: 'PipelineTeam' },
)

export const CreateTeamPipeline = Type.Object(
  {
    pipeline_id: Type.String({
      format: 'uuid',
      description: 'UUID of the pipeline. Must be the UUID of a pipeline.',
    }),
    access_level: Level,
  },
  {
    title: 'CreateTeamPipeline',
    examples: [{ pipeline_id: '01885682-55a7-44f5-84f3-0402fb452e66', access_level: 'build_and_read' }],
  },
)

export const UpdateTeamPipeline = Type.Object(
  { access_level: Level },
  { title: 'UpdateTeamPipeline', examples: [{ access_level: 'read_only' }] },
)

export type CreateTeamPipelineBody = Static<typeof CreateTeamPipeline>
