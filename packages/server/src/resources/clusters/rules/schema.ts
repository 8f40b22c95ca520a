import { Type, type Static } from 'typebox'
import { Timestamp, Uuid } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

const RuleType = Type.Union([
  Type.Literal('pipeline.trigger_build.pipeline'),
  Type.Literal('pipeline.artifacts_read.pipeline'),
])
export type RuleType = Static<typeof RuleType>

export const Rule = Type.Object(
  {
    uuid: Uuid,
    graphql_id: Type.String(),
    organization_uuid: Uuid,
    url: Type.String(),
    type: RuleType,
    source_type: Type.Literal('pipeline'),
    source_uuid: Uuid,
    target_type: Type.Literal('pipeline'),
    target_uuid: Uuid,
    effect: Type.Literal('allow'),
    action: Type.Union([Type.Literal('trigger_build'), Type.Literal('artifacts_read')]),
    conditions: Type.Array(Type.String()),
    created_at: Timestamp,
    created_by: UserOrNull,
  },
  { title: 'Rule' },
)

const PipelineName = Type.String({ minLength: 1, maxLength: 100, description: 'UUID or slug of a pipeline.' })

export const CreateRule = Type.Object(
  {
    type: RuleType,
    value: Type.Object({
      source_pipeline: PipelineName,
      target_pipeline: PipelineName,
      conditions: Type.Optional(Type.Array(Type.String({ maxLength: 10_000 }), { maxItems: 50 })),
    }),
  },
  {
    title: 'CreateRule',
    examples: [
      {
        type: 'pipeline.trigger_build.pipeline',
        value: { source_pipeline: 'app', target_pipeline: 'deploy', conditions: ['build.branch == "main"'] },
      },
    ],
  },
)

export type CreateRuleBody = Static<typeof CreateRule>
