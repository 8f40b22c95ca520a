import { Type, type Static } from 'typebox'
import { optional, orNull, text, Timestamp, Uuid } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

export const Suite = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    url: Type.String(),
    default_branch: orNull(text('Branch that is built when none is named, and shown first.')),
    created_at: Timestamp,
    created_by: UserOrNull,
  },
  { title: 'Suite' },
)

export const CreatedSuite = Type.Object(
  {
    ...Suite.properties,
    api_token: text('What results are sent with. Shown here and never again.'),
  },
  { title: 'CreatedSuite' },
)

export const CreateSuite = Type.Object(
  {
    name: Type.String({
      maxLength: 255,
      pattern: '[A-Za-z0-9]',
      description: 'Name, for people. Must have a letter or digit, and at most 255 characters.',
    }),
    default_branch: optional(
      Type.String({ maxLength: 255 }),
      'Branch that is built when none is named, and shown first.',
    ),
  },
  { title: 'CreateSuite', examples: [{ name: 'Browser tests', default_branch: 'main' }] },
)

export type CreateSuiteBody = Static<typeof CreateSuite>
