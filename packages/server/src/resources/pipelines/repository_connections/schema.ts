import { Type, type Static } from 'typebox'
import { oneOf, optional, orNull, text, Timestamp, timestamp, Uuid } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

const ConnectionType = oneOf(
  [
    'github',
    'github_app',
    'github_enterprise_app',
    'gitlab',
    'bitbucket',
    'bitbucket_server',
    'azure_devops',
    'gitea',
    'forgejo',
    'gogs',
    'git',
  ],
  '`github_app` is github.com, `github_enterprise_app` a GitHub of your own, both by a GitHub App; `git` is a plain git server, without an API.',
)
export type ConnectionType = Static<typeof ConnectionType>

export const RepositoryConnection = Type.Object(
  {
    id: Uuid,
    type: ConnectionType,
    display_name: text('Name of the connection, for people.'),
    url: text('Where people see the host.'),
    host: Type.Object(
      {
        type: text('As the `provider.id` of pipelines with repositories there.'),
        url: text('The same as `url`.'),
      },
      { description: 'The source host.' },
    ),
    api_url: text('Where commit statuses are sent.'),
    repository_host: text(
      'Pipelines whose repository is on this host, and at the port of `url`, belong to the connection. Addresses of ssh, and those of a port that no connection has, belong to the oldest connection of the host.',
    ),
    token: orNull(text('All but the last characters are masked.')),
    app_id: orNull(text('Of a GitHub App.')),
    installation_id: orNull(text('Where the GitHub App is installed.')),
    private_key: orNull(text('The fingerprint of the key of the GitHub App, as GitHub shows it.')),
    webhook_secret: orNull(text('All but the last characters are masked.')),
    checkout_enabled: Type.Boolean({
      description: 'Whether jobs check out the repositories of their pipelines with its token or App.',
    }),
    problem: orNull(text('Why the last commit status or comment could not be sent; null when it was.')),
    problem_at: orNull(
      timestamp('When a commit status or comment could last not be sent; null when the last one was.'),
    ),
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
  api_url: optional(Address, 'Address of the host’s API, where it does not follow from `url`.'),
  repository_host: optional(
    Type.String({
      maxLength: 255,
      pattern: '^[A-Za-z0-9.-]*$',
      description:
        'Host of the repositories that belong to the connection. Must be a host name, for where repositories have another than url.',
    }),
  ),
  token: optional(
    Type.String({
      maxLength: 4096,
      pattern: '^[\\x21-\\x7e]*$',
      description: 'Access token. Must be printable and without spaces.',
    }),
  ),
  app_id: optional(Id('The App ID or the client ID of a GitHub App, as its settings show it.')),
  installation_id: optional(Id('The number at the end of the address of the settings of the installation.')),
  private_key: optional(Type.String({ maxLength: 20_000 }), 'Private key of the GitHub App, in PEM form.'),
  webhook_secret: optional(Type.String({ maxLength: 1000 }), 'Secret that webhooks are signed with.'),
  checkout_enabled: Type.Optional(
    Type.Boolean({
      description:
        'Default true. Whoever may edit a pipeline then chooses what its jobs read of all that the token or App reads.',
    }),
  ),
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
