import { Type, type Static } from 'typebox'
import { boolean, optional, orNull, text, Timestamp, Uuid } from '../../schema.ts'
import { UserOrNull, User } from '../../people/user/schema.ts'

export const PipelineTemplate = Type.Object(
  {
    uuid: Uuid,
    graphql_id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    configuration: text('The steps as YAML.'),
    available: boolean('Whether members who are not administrators may use it.'),
    url: Type.String(),
    web_url: Type.String(),
    created_at: Timestamp,
    created_by: UserOrNull,
    updated_at: Timestamp,
    updated_by: orNull(User, 'Who last changed it; null when that user is gone.'),
  },
  { title: 'PipelineTemplate' },
)

const Name = Type.String({
  maxLength: 255,
  pattern: '\\S',
  description: 'Name, for people. Must not be blank.',
})
const Configuration = text('YAML, as in a pipeline.')
const optionalFields = {
  description: optional(Type.String({ maxLength: 10_000 })),
  available: Type.Optional(boolean('Whether it may be used.')),
}

export const CreatePipelineTemplate = Type.Object(
  { name: Name, configuration: Configuration, ...optionalFields },
  {
    title: 'CreatePipelineTemplate',
    examples: [
      { name: 'Go service', configuration: 'steps:\n  - command: go test ./...\n', available: true },
    ],
  },
)

export const UpdatePipelineTemplate = Type.Object(
  { name: Type.Optional(Name), configuration: Type.Optional(Configuration), ...optionalFields },
  { title: 'UpdatePipelineTemplate', examples: [{ available: true }] },
)

export type CreatePipelineTemplateBody = Static<typeof CreatePipelineTemplate>
export type UpdatePipelineTemplateBody = Static<typeof UpdatePipelineTemplate>
