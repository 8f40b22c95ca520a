import { Type, type Static } from 'typebox'
import { oneOf, optional, orNull, text, Timestamp, Uuid, uuid } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

const RuleType = oneOf(
  ['pipeline.trigger_build.pipeline', 'pipeline.artifacts_read.pipeline'],
  'Kind of the rule.',
)
export type RuleType = Static<typeof RuleType>

const NamedPipeline = (description: string) =>
  orNull(Type.Object({ id: Uuid, name: Type.String(), slug: text('Last word of its address.') }), description)

export const Rule = Type.Object(
  {
    uuid: Uuid,
    graphql_id: Type.String(),
    organization_uuid: uuid('UUID of the organization that it belongs to.'),
    url: Type.String(),
    description: orNull(text('What the rule is for, for people.')),
    document: text('JSON text with the type as `rule`, and `value` as it was written.'),
    type: RuleType,
    source_type: Type.Literal('pipeline', { description: 'Kind of what the rule lets act.' }),
    source_uuid: uuid('UUID of what the rule lets act.'),
    target_type: Type.Literal('pipeline', { description: 'Kind of what it may act on.' }),
    target_uuid: uuid('UUID of what it may act on.'),
    source: NamedPipeline('What the rule lets act; null when the caller may not see it.'),
    target: NamedPipeline('What it may act on; null when the caller may not see it.'),
    effect: Type.Literal('allow', { description: 'What the rule does: `allow`.' }),
    action: oneOf(['trigger_build', 'artifacts_read'], 'What the source may do with the target.'),
    conditions: Type.Array(Type.String(), {
      description: 'Conditions that must all hold for the rule to count.',
    }),
    created_at: Timestamp,
    created_by: UserOrNull,
  },
  { title: 'Rule' },
)

const PipelineName = Type.String({ minLength: 1, maxLength: 100, description: 'UUID or slug of a pipeline.' })

const Description = optional(Type.String({ maxLength: 10_000 }), 'What the rule is for, for people.')

const RuleValue = Type.Object(
  {
    source_pipeline: PipelineName,
    target_pipeline: PipelineName,
    conditions: Type.Optional(
      Type.Array(Type.String({ maxLength: 10_000 }), {
        maxItems: 50,
        description: 'Conditions that must all hold for the rule to count.',
      }),
    ),
  },
  { description: 'What the rule is about.' },
)

export const CreateRule = Type.Object(
  { type: RuleType, description: Description, value: RuleValue },
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

export const UpdateRule = Type.Object(
  { description: Description, value: Type.Optional(RuleValue) },
  { title: 'UpdateRule', examples: [{ description: 'Deploys of the app' }] },
)

export type CreateRuleBody = Static<typeof CreateRule>
export type UpdateRuleBody = Static<typeof UpdateRule>
export type RuleValueBody = Static<typeof RuleValue>
