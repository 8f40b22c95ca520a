import { Type, type Static } from 'typebox'
import { boolean, orNull, text, Timestamp, Uuid } from '../../schema.ts'

const fields = {
  id: Uuid,
  description: Type.String(),
  scopes: Type.Array(Type.String(), { description: 'What the token may be used for.' }),
  organization_slugs: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'The organizations that the token reaches; null: all of its owner.',
  }),
  created_at: Timestamp,
  expires_at: orNull(Timestamp),
  last_used_at: Type.Union([Timestamp, Type.Null()], {
    description: 'When it was last used, to the minute.',
  }),
  last_used_ip: Type.Union([Type.String(), Type.Null()], { description: 'From where it was last used.' }),
  program: orNull(
    text('The program that you have connected, as it calls itself; null: the token was made by hand.'),
  ),
  is_machine: boolean(
    'Whether a machine uses it: builds that it starts count as a machine’s in fair queues.',
  ),
  current: boolean('Whether the request was made with this token.'),
}

export const UserAccessToken = Type.Object(fields, { title: 'UserAccessToken' })

export const CreatedUserAccessToken = Type.Object(
  { ...fields, token: text('Shown only in this response.') },
  { title: 'CreatedUserAccessToken' },
)

export const createUserAccessToken = (scopes: readonly string[]) =>
  Type.Object(
    {
      description: Type.String({ minLength: 1, maxLength: 500 }),
      scopes: Type.Array(Type.Enum([...scopes]), {
        minItems: 1,
        maxItems: 100,
        description: 'What the token may be used for.',
      }),
      organization_slugs: Type.Optional(
        Type.Union([Type.Array(Type.String(), { minItems: 1, maxItems: 100 }), Type.Null()], {
          description: 'The organizations that the token reaches; null: all of its owner.',
          default: null,
        }),
      ),
      expires_in_days: Type.Optional(
        Type.Union([Type.Integer({ minimum: 1, maximum: 3650 }), Type.Null()], {
          description: 'After how many days the token expires; null: never.',
          default: null,
        }),
      ),
      is_machine: Type.Optional(
        Type.Boolean({
          description:
            'Whether a machine uses it: builds that it starts count as a machine’s in fair queues. Tokens that it creates are marked too.',
          default: false,
        }),
      ),
    },
    {
      title: 'CreateUserAccessToken',
      examples: [
        { description: 'Dashboard', scopes: ['read_builds', 'read_pipelines'], expires_in_days: 90 },
      ],
    },
  )

export type CreateUserAccessTokenBody = Static<ReturnType<typeof createUserAccessToken>>
