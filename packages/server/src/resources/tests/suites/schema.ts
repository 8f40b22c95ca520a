import { Type, type Static } from 'typebox'
import { orNull, Timestamp, Uuid } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

export const Suite = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    url: Type.String(),
    default_branch: orNull(Type.String()),
    created_at: Timestamp,
    created_by: UserOrNull,
  },
  { title: 'Suite' },
)

export const CreatedSuite = Type.Object(
  {
    ...Suite.properties,
    api_token: Type.String({ description: 'What results are sent with. Shown here and never again.' }),
  },
  { title: 'CreatedSuite' },
)

export const CreateSuite = Type.Object(
  {
    name: Type.String({
      maxLength: 255,
      pattern: '[A-Za-z0-9]',
      description: 'must have a letter or digit, and at most 255 characters',
    }),
    default_branch: Type.Optional(orNull(Type.String({ maxLength: 255 }))),
  },
  { title: 'CreateSuite', examples: [{ name: 'Browser tests', default_branch: 'main' }] },
)

export type CreateSuiteBody = Static<typeof CreateSuite>
