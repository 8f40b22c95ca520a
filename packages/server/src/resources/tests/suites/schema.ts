import { Type, type Static } from 'typebox'
import { boolean, optional, orNull, text, Timestamp, Uuid } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

export const Suite = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    url: Type.String(),
    default_branch: orNull(text('Branch that is built when none is named, and shown first.')),
    emoji: orNull(text('Emoji in colon syntax, such as `:rocket:`; null when none is set.')),
    color: orNull(text('Background of the emoji, such as `#FFE0F1`; null when none is set.')),
    application_name: orNull(text('What the tests are of, for people; null when none is set.')),
    created_at: Timestamp,
    created_by: UserOrNull,
    api_token: Type.Optional(
      orNull(
        text('What results are sent with; only with `show_api_token=true`. Null: the suite is too old.'),
      ),
    ),
  },
  { title: 'Suite' },
)

export const ShowToken = {
  show_api_token: Type.Optional(
    boolean(
      'Add `api_token`, for those who manage the suite and have the scope `write_suites`. Default false.',
    ),
  ),
}

export const CreatedSuite = Type.Object(
  {
    ...Suite.properties,
    api_token: text('What results are sent with.'),
  },
  { title: 'CreatedSuite' },
)

const Name = Type.String({
  maxLength: 255,
  pattern: '[A-Za-z0-9]',
  description: 'Name, for people. Must have a letter or digit, and at most 255 characters.',
})

/** An empty text stands for null, as some clients send it. */
const settings = {
  default_branch: optional(
    Type.String({ maxLength: 255 }),
    'Branch that is built when none is named, and shown first.',
  ),
  emoji: optional(
    Type.String({ maxLength: 100, pattern: '^(:[^\\s:]+:)?$' }),
    'Emoji in colon syntax, such as `:rocket:`; null when none is set.',
  ),
  color: optional(
    Type.String({ pattern: '^(#[0-9A-Fa-f]{6})?$' }),
    'Background of the emoji, such as `#FFE0F1`; null when none is set.',
  ),
  application_name: optional(Type.String({ maxLength: 255 }), 'What the tests are of, for people.'),
  oidc_policy: optional(
    Type.String({ maxLength: 10_000 }),
    'Kept for clients that send it. Must be empty: results are sent with the token of the suite.',
  ),
}

export const CreateSuite = Type.Object(
  {
    name: Name,
    ...settings,
    team_ids: optional(
      Type.Array(Type.String({ format: 'uuid' }), { maxItems: 250 }),
      'UUIDs of teams whose members manage the suite.',
    ),
  },
  { title: 'CreateSuite', examples: [{ name: 'Browser tests', default_branch: 'main' }] },
)

export const UpdateSuite = Type.Object(
  { name: Type.Optional(Name), ...settings },
  { title: 'UpdateSuite', examples: [{ default_branch: 'trunk' }] },
)

export type CreateSuiteBody = Static<typeof CreateSuite>
export type UpdateSuiteBody = Static<typeof UpdateSuite>
