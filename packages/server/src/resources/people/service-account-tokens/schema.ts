import { Type, type Static } from 'typebox'
import { orNull, text, Timestamp, Uuid } from '../../schema.ts'

const fields = {
  id: Uuid,
  description: Type.String(),
  scopes: Type.Array(Type.String(), { description: 'What the token may be used for.' }),
  created_at: Timestamp,
  expires_at: Timestamp,
  last_used_at: orNull(Timestamp, 'When it was last used, to the minute.'),
  last_used_ip: orNull(Type.String(), 'From where it was last used.'),
}

export const ServiceAccountToken = Type.Object(fields, { title: 'ServiceAccountToken' })

export const CreatedServiceAccountToken = Type.Object(
  { ...fields, token: text('Shown only in this response.') },
  { title: 'CreatedServiceAccountToken' },
)

export const createServiceAccountToken = (scopes: readonly string[]) =>
  Type.Object(
    {
      description: Type.String({ minLength: 1, maxLength: 500 }),
      scopes: Type.Array(Type.Enum([...scopes]), {
        minItems: 1,
        maxItems: 100,
        description: 'What the token may be used for.',
      }),
      expires_in_days: Type.Integer({
        minimum: 1,
        maximum: 366,
        description: 'After how many days the token expires.',
      }),
    },
    {
      title: 'CreateServiceAccountToken',
      examples: [{ description: 'Release server', scopes: ['write_builds'], expires_in_days: 90 }],
    },
  )

export type CreateServiceAccountTokenBody = Static<ReturnType<typeof createServiceAccountToken>>
