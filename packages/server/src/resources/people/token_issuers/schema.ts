import { Type, type Static } from 'typebox'
import { orNull, text, Timestamp, timestamp, Uuid, uuid } from '../../schema.ts'

const claims =
  'What the token must say, by the name of the claim: one of these texts, or a list with one of them. Texts are compared exactly.'
const jwks =
  'The keys of the issuer (RFC 7517); null: they are found at the issuer (OpenID Connect Discovery).'
const keys = 'Public keys of RSA, ECDSA or Ed25519.'
const audience = 'What the token must have as its audience. By default the `url` of this.'

export const TokenIssuer = Type.Object(
  {
    id: Uuid,
    url: text('Address in the API, which programs send as `resource` when they exchange a token.'),
    issuer: text('The `iss` of its tokens.'),
    audience: text(audience),
    jwks: orNull(
      Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.String()), { description: keys }) }),
      jwks,
    ),
    claims: Type.Record(Type.String(), Type.Array(Type.String()), { description: claims }),
    service_account: Type.Object(
      { id: uuid('The id of the user.'), name: Type.String() },
      { description: 'Whose tokens are given.' },
    ),
    scopes: Type.Array(Type.String(), { description: 'What the tokens may be used for.' }),
    most_minutes: Type.Integer({ description: 'After how many minutes they expire, at most.' }),
    created_at: Timestamp,
    updated_at: timestamp('When it was last changed.'),
  },
  { title: 'TokenIssuer' },
)

const shortText = (limit: number) => Type.String({ minLength: 1, maxLength: limit, pattern: '\\S' })

const fields = (scopes: readonly string[]) => ({
  issuer: Type.String({ maxLength: 1000, description: 'The `iss` of its tokens: a URL.' }),
  audience: Type.String({ ...shortText(1000), description: audience }),
  jwks: orNull(
    Type.Object({
      keys: Type.Array(Type.Record(Type.String({ maxLength: 50 }), Type.Unknown()), {
        minItems: 1,
        maxItems: 20,
        description: keys,
      }),
    }),
    jwks,
  ),
  claims: Type.Record(
    Type.String({ minLength: 1, maxLength: 200 }),
    Type.Array(shortText(1000), { minItems: 1, maxItems: 100 }),
    { minProperties: 1, maxProperties: 20, description: claims },
  ),
  service_account_id: uuid('Whose tokens are given.'),
  scopes: Type.Array(Type.Enum([...scopes]), {
    minItems: 1,
    maxItems: 100,
    description: 'What the tokens may be used for.',
  }),
  most_minutes: Type.Integer({
    minimum: 1,
    maximum: 60,
    description: 'After how many minutes they expire, at most.',
  }),
})

const example = {
  issuer: 'https://tokens.example.com',
  claims: { sub: ['release-server'] },
  service_account_id: '01885682-55a7-44f5-84f3-0402fb452e66',
  scopes: ['write_builds'],
}

export const createTokenIssuer = (scopes: readonly string[]) => {
  const { audience: aud, jwks: set, most_minutes: minutes, ...required } = fields(scopes)
  return Type.Object(
    {
      ...required,
      audience: Type.Optional(aud),
      jwks: Type.Optional(set),
      most_minutes: Type.Optional(minutes),
    },
    { title: 'CreateTokenIssuer', examples: [example] },
  )
}

export const updateTokenIssuer = (scopes: readonly string[]) =>
  Type.Partial(Type.Object(fields(scopes)), {
    title: 'UpdateTokenIssuer',
    examples: [{ claims: { sub: ['release-server', 'build-server'] } }],
  })

export type CreateTokenIssuerBody = Static<ReturnType<typeof createTokenIssuer>>
export type UpdateTokenIssuerBody = Static<ReturnType<typeof updateTokenIssuer>>
