import { Type, type Static } from 'typebox'
import { orNull, Timestamp, Uuid } from '../../schema.ts'
import { PersonOrNull } from '../../people/user/schema.ts'

/** Never the value. */
export const Secret = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    key: Type.String(),
    description: Type.String(),
    policy: Type.String({ description: 'YAML; empty: every job of the cluster may read the secret.' }),
    url: Type.String(),
    cluster_url: Type.String(),
    created_at: Timestamp,
    created_by: PersonOrNull,
    updated_at: Timestamp,
    updated_by: PersonOrNull,
    last_read_at: orNull(Timestamp),
    organization: Type.Object({ id: Uuid, slug: Type.String(), url: Type.String(), web_url: Type.String() }),
  },
  { title: 'ClusterSecret' },
)

const Key = Type.String({
  pattern: '^(?![Bb][Kk])(?![Bb][Uu][Ii][Ll][Dd][Kk][Ii][Tt][Ee])[A-Za-z][A-Za-z0-9_]{0,254}$',
  description:
    'must be up to 255 letters, digits and underscores, begin with a letter, and not begin with BUILDKITE or BK',
  examples: ['DEPLOY_KEY'],
})
const Value = Type.String({ pattern: '\\S', description: 'must not be blank' })
const Description = orNull(Type.String({ maxLength: 10_000 }))
const Policy = orNull(
  Type.String({
    maxLength: 50_000,
    description: 'A YAML list of rules; a job that meets every claim of one of them may read the secret.',
  }),
)

export const CreateSecret = Type.Object(
  {
    key: Key,
    value: Value,
    description: Type.Optional(Description),
    policy: Type.Optional(Policy),
  },
  {
    title: 'CreateClusterSecret',
    examples: [
      {
        key: 'DEPLOY_KEY',
        value: 'correct horse battery staple',
        description: 'Opens the staging environment',
        policy: '- pipeline_slug: deploy\n  build_branch: main\n',
      },
    ],
  },
)

export const UpdateSecret = Type.Object(
  { description: Type.Optional(Description), policy: Type.Optional(Policy) },
  { title: 'UpdateClusterSecret', examples: [{ policy: '- build_branch: [main, release]\n' }] },
)

export const UpdateSecretValue = Type.Object(
  { value: Value },
  { title: 'UpdateClusterSecretValue', examples: [{ value: 'a new value' }] },
)

export type CreateSecretBody = Static<typeof CreateSecret>
export type UpdateSecretBody = Static<typeof UpdateSecret>
