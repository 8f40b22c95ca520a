import { Type, type Static } from 'typebox'
import { orNull, text, Timestamp, timestamp, Uuid } from '../../schema.ts'
import { Person } from '../../people/user/schema.ts'

/** Never the value. */
export const Secret = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    key: text('Name that jobs ask for the secret by.'),
    description: Type.String(),
    policy: text('YAML; empty: every job of the cluster may read the secret.'),
    url: Type.String(),
    cluster_url: Type.String(),
    created_at: Timestamp,
    created_by: orNull(Person),
    updated_at: Timestamp,
    updated_by: orNull(Person, 'Who last changed it; null when that user is gone.'),
    last_read_at: orNull(timestamp('When a job last read the secret; null when none has.')),
    organization: Type.Object(
      { id: Uuid, slug: Type.String(), url: Type.String(), web_url: Type.String() },
      { description: 'The organization that it belongs to.' },
    ),
  },
  { title: 'ClusterSecret' },
)

const Key = Type.String({
  pattern: '^(?![Bb][Kk])(?![Bb][Uu][Ii][Ll][Dd][Kk][Ii][Tt][Ee])[A-Za-z][A-Za-z0-9_]{0,254}$',
  description:
    'Must be up to 255 letters, digits and underscores, begin with a letter, and not begin with BUILDKITE or BK.',
  examples: ['DEPLOY_KEY'],
})
const value = (description: string) => Type.String({ pattern: '\\S', description })
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
    value: value('The secret itself. It can be written and never read. Must not be blank.'),
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
  { value: value('The new value. It can be written and never read. Must not be blank.') },
  { title: 'UpdateClusterSecretValue', examples: [{ value: 'a new value' }] },
)

export type CreateSecretBody = Static<typeof CreateSecret>
export type UpdateSecretBody = Static<typeof UpdateSecret>
