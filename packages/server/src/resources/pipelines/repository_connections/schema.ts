import { Type, type Static } from 'typebox'
import { orNull, Timestamp, Uuid } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

const Text = Type.String()

const ConnectionType = Type.Union(
  [
    Type.Literal('github'),
    Type.Literal('github_app'),
    Type.Literal('github_enterprise_app'),
    Type.Literal('gitlab'),
    Type.Literal('bitbucket'),
    Type.Literal('gitea'),
    Type.Literal('forgejo'),
    Type.Literal('git'),
  ],
  {
    description:
      '`github_app` is github.com, `github_enterprise_app` a GitHub of your own, both by a GitHub App; `git` is a plain git server, without an API.',
  },
)
export type ConnectionType = Static<typeof ConnectionType>

export const RepositoryConnection = Type.Object(
  {
    id: Uuid,
    type: ConnectionType,
    display_name: Text,
    url: Type.String({ description: 'Where people see the host.' }),
    api_url: Type.String({ description: 'Where commit statuses are sent.' }),
    repository_host: Type.String({
      description: 'Pipelines whose repository is on this host belong to the connection.',
    }),
    token: orNull(Type.String({ description: 'All but the last characters are masked.' })),
    app_id: orNull(Type.String({ description: 'Of a GitHub App.' })),
    installation_id: orNull(Type.String({ description: 'Where the GitHub App is installed.' })),
    private_key: orNull(
      Type.String({ description: 'The fingerprint of the key of the GitHub App, as GitHub shows it.' }),
    ),
    webhook_secret: orNull(Type.String({ description: 'All but the last characters are masked.' })),
    problem: orNull(
      Type.String({ description: 'Why the last commit status could not be sent; null when it was.' }),
    ),
    problem_at: orNull(Timestamp),
    created_at: Timestamp,
    created_by: UserOrNull,
  },
  { title: 'RepositoryConnection' },
)

const Address = Type.String({ maxLength: 1000 })
/** Some people have it as a number, and some as text. */
const Id = (description: string) =>
  Type.Union(
    [Type.String({ maxLength: 100 }), Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })],
    { description },
  )

const fields = {
  url: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'Left out for github, github_app, gitlab and bitbucket: the public one.',
    }),
  ),
  api_url: Type.Optional(orNull(Address)),
  repository_host: Type.Optional(
    orNull(
      Type.String({
        maxLength: 255,
        pattern: '^[A-Za-z0-9.-]*$',
        description: 'must be a host name, for where repositories have another than url',
      }),
    ),
  ),
  token: Type.Optional(
    orNull(
      Type.String({
        maxLength: 4096,
        pattern: '^[\\x21-\\x7e]*$',
        description: 'must be printable and without spaces',
      }),
    ),
  ),
  app_id: Type.Optional(orNull(Id('The App ID or the client ID of a GitHub App, as its settings show it.'))),
  installation_id: Type.Optional(
    orNull(Id('The number at the end of the address of the settings of the installation.')),
  ),
  private_key: Type.Optional(orNull(Type.String({ maxLength: 20_000 }))),
  webhook_secret: Type.Optional(orNull(Type.String({ maxLength: 1000 }))),
}

export const CreateRepositoryConnection = Type.Object(
  { type: ConnectionType, ...fields },
  {
    title: 'CreateRepositoryConnection',
    examples: [
      {
        type: 'gitea',
        url: 'https://git.example.com',
        token: 'b9d3a7e1c5f80246',
        webhook_secret: 'the secret given to webhooks there',
      },
      {
        type: 'github_app',
        app_id: '123456',
        installation_id: '7890123',
        private_key: '-----BEGIN RSA PRIVATE KEY-----\n…\n-----END RSA PRIVATE KEY-----',
        webhook_secret: 'the secret given to webhooks there',
      },
    ],
  },
)

export const UpdateRepositoryConnection = Type.Object(fields, {
  title: 'UpdateRepositoryConnection',
  examples: [{ token: 'c0ffee1234567890' }],
})

export type CreateRepositoryConnectionBody = Static<typeof CreateRepositoryConnection>
export type UpdateRepositoryConnectionBody = Static<typeof UpdateRepositoryConnection>
