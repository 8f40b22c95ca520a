import { Type, type Static } from 'typebox'
import { TeamActor } from '../../clusters/clusters/schema.ts'
import { AccessLevel } from '../team-access/schema.ts'
import { Timestamp, Uuid } from '../../schema.ts'

export const TeamPipeline = Type.Object(
  {
    pipeline_id: Uuid,
    pipeline_url: Type.String(),
    access_level: AccessLevel,
    created_at: Timestamp,
  },
  { title: 'TeamPipeline' },
)

export const PipelineTeam = Type.Object(
  { team: TeamActor, access_level: AccessLevel, created_at: Timestamp },
  { title: 'PipelineTeam' },
)

export const CreateTeamPipeline = Type.Object(
  {
    pipeline_id: Type.String({ format: 'uuid', description: 'must be the UUID of a pipeline' }),
    access_level: AccessLevel,
  },
  {
    title: 'CreateTeamPipeline',
    examples: [{ pipeline_id: '01885682-55a7-44f5-84f3-0402fb452e66', access_level: 'build_and_read' }],
  },
)

export const UpdateTeamPipeline = Type.Object(
  { access_level: AccessLevel },
  { title: 'UpdateTeamPipeline', examples: [{ access_level: 'read_only' }] },
)

export type CreateTeamPipelineBody = Static<typeof CreateTeamPipeline>
