// Bodies that operations of the REST API accept in a world, where the document's example cannot know the ids. A text `$name`
// is the id of that name, `$$name` a secret, `$uuid` a new UUID, `$unique` a new name, `$remote` the address of another server.
import { password } from '../world/world.ts'

const both = (path: string, bodies: readonly unknown[]): Array<[string, readonly unknown[]]> => [
  [`PUT ${path}`, bodies],
  [`PATCH ${path}`, bodies],
]

const org = '/v2/organizations/{org}'

const services: readonly unknown[] = [
  { provider: 'webhook', settings: { url: '$remote/hook', events: ['build.finished'], version: 2 } },
  {
    provider: 'webhook',
    scope: 'some_projects',
    scope_uuids: ['$pipeline_uuid'],
    settings: { url: '$remote/odd/hook' },
  },
  { provider: 'webhook', scope: 'some_teams', scope_uuids: ['$team'], settings: { url: '$remote/hook' } },
  {
    provider: 'webhook',
    scope: 'some_clusters',
    scope_uuids: ['$cluster'],
    settings: { url: '$remote/hook' },
  },
  { provider: 'chat', settings: { url: '$remote/chat' }, build_states: { build_failed: true } },
  { provider: 'cloud_event_bus', settings: { account_id: '123456789012', region: 'eu-central-1' } },
  { provider: 'monitoring_pipeline_visibility', settings: { api_key: 'a'.repeat(32), site: 'datadoghq.eu' } },
  { provider: 'open_telemetry_tracing', settings: { endpoint: '$remote/v1/traces' } },
  { provider: 'event_log_api', settings: {} },
]

export const bodies: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ['POST /v2/user/access-tokens', [{ description: '$unique', scopes: ['read_user'], expires_in_days: 3 }]],
  ['PUT /v2/user/password', [{ current_password: password, new_password: password }]],
  ...both('/v2/user', [{ name: '$unique' }]),
  [`POST ${org}/clusters/{cluster}/agent-images`, [{ name: '$unique', dockerfile: 'RUN true' }]],
  [`DELETE ${org}/clusters/{cluster}/cache_volumes`, [{ tag: '$volume_tag' }]],
  [
    `POST ${org}/clusters/{cluster}/tokens`,
    [
      { description: '$unique' },
      { description: '$unique', allowed_ip_addresses: '10.0.0.0/8 ::1', expires_at: '2040-01-01T00:00:00Z' },
    ],
  ],
  ...both(`${org}/clusters/{cluster}/tokens/{token}`, [{ description: '$unique' }]),
  [
    `POST ${org}/clusters`,
    [{ name: '$unique', emoji: ':rocket:', color: '#FFE0F1', maintainers: [{ user: '$user' }] }],
  ],
  ...both(`${org}/clusters/{cluster}`, [{ name: '$unique', hosted_git_mirror_enabled: false }]),
  [
    `POST ${org}/budgets`,
    [
      { pipeline_id: '$pipeline_uuid', amount: 0.5 },
      { team_id: '$team', amount: 20 },
    ],
  ],
  ...both(`${org}/budgets/{budget}`, [{ amount: 7.25 }]),
  [`POST ${org}/clusters/{cluster}/queues`, [{ key: '$unique', description: 'any' }]],
  [`POST ${org}/clusters/{cluster}/maintainers`, [{ user: '$user' }]],
  [
    `POST ${org}/clusters/{cluster}/secrets`,
    [{ key: '$unique_key', value: 'v', policy: '- build_branch: main\n' }],
  ],
  [
    `POST ${org}/invitations`,
    [{ emails: ['$unique@example.com'], teams: [{ id: '$team', role: 'member' }] }],
  ],
  ...['', '/pipelines/{pipeline}/builds/{build}'].map((at): [string, readonly unknown[]] => [
    `PUT ${org}${at}/jobs/{job}/unblock`,
    [{ fields: { 'release-name': 'Glacier' } }, { unblocker: '$user' }],
  ]),
  ...both(`${org}/pipeline-settings`, [{ default_branch: 'main', default_cluster_id: '$cluster' }]),
  [`POST ${org}/pipeline-templates`, [{ name: '$unique', configuration: '$yaml', available: true }]],
  ...both(`${org}/pipeline-templates/{template}`, [{ name: '$unique', configuration: '$yaml' }]),
  [
    `POST ${org}/pipelines`,
    [
      {
        name: '$unique',
        repository: 'git@git.example.com:acme/app.git',
        cluster_id: '$cluster',
        configuration: '$yaml',
      },
      {
        name: '$unique',
        repository: 'https://git.example.com/a.git',
        cluster_id: '$cluster',
        steps: [{ type: 'script', command: 'a' }],
      },
      {
        name: '$unique',
        repository: 'https://github.com/acme/app',
        cluster_id: '$cluster',
        teams: { $team: 'read_only' },
        tags: ['a'],
      },
    ],
  ],
  ...both(`${org}/pipelines/{pipeline}`, [
    { description: 'any', configuration: '$yaml', branch_configuration: 'main', tags: ['x'] },
    { cluster_id: '$cluster', default_timeout_in_minutes: 5, cancel_running_branch_builds: true },
  ]),
  [
    `POST ${org}/repository_connections`,
    [
      { type: 'gitea', url: 'https://$unique.example.com', token: 'b9d3a7e1c5f80246', webhook_secret: 'any' },
      {
        type: 'github',
        url: 'https://$unique.example.com',
        api_url: '$remote/odd',
        token: 'b9d3a7e1c5f80246',
      },
    ],
  ],
  [
    `POST ${org}/rules`,
    [
      {
        type: 'pipeline.artifacts_read.pipeline',
        value: {
          source_pipeline: '$pipeline',
          target_pipeline: '$target_pipeline',
          conditions: ['build.branch == "main"'],
        },
      },
      {
        type: 'pipeline.trigger_build.pipeline',
        value: { source_pipeline: '$target_pipeline', target_pipeline: '$pipeline' },
      },
    ],
  ],
  [`POST ${org}/services`, services],
  ...both(`${org}/services/{service}`, [
    { branch_configuration: 'main', settings: { url: '$remote/other' } },
  ]),
  [
    `PUT ${org}/sso`,
    [
      {
        issuer: '$remote',
        client_id: 'fuzz',
        client_secret: 'a secret of the provider',
        group_teams: [{ group: 'all', team_id: '$team' }],
        email_domains: ['example.com'],
        provision: true,
        enabled: true,
      },
    ],
  ],
  ...['/v2/organizations/{org}/suites', '/v2/analytics/organizations/{org}/suites'].flatMap(
    (path): Array<[string, readonly unknown[]]> => [
      [`POST ${path}`, [{ name: '$unique', default_branch: 'main' }]],
      [`POST ${path}/{suite}/tests/find`, [{ scope: 'Basket', name: 'adds an item' }]],
    ],
  ),
  [
    `POST /v2/analytics/organizations/{org}/suites/{suite}/test_plan`,
    [{ identifier: '$unique', parallelism: 2, tests: { files: [{ path: 'basket.spec' }, { path: 'b' }] } }],
  ],
  [
    `POST ${org}/token_issuers`,
    [
      {
        issuer: 'https://tokens.example.com',
        claims: { sub: ['fuzz'] },
        service_account_id: '$service_account',
        scopes: ['read_builds'],
      },
    ],
  ],
  ...both(`${org}/token_issuers/{token_issuer}`, [
    { most_minutes: 5 },
    { claims: { sub: ['fuzz', '$unique'] } },
  ]),
  ...both(`${org}/service_accounts/{service_account}`, [{ name: '$unique', owner_ids: ['$user'] }]),
  [`POST ${org}/service_accounts`, [{ name: '$unique', owner_ids: ['$user'] }]],
  [`POST ${org}/teams/{team}/members`, [{ user_id: '$user', role: 'maintainer' }]],
  [`POST ${org}/teams/{team}/pipelines`, [{ pipeline_id: '$pipeline_uuid', access_level: 'build_and_read' }]],
  [`POST ${org}/teams/{team}/suites`, [{ suite_id: '$suite_uuid', access_level: ['read', 'edit'] }]],
  [`POST ${org}/teams`, [{ name: '$unique', privacy: 'visible', default_member_role: 'member' }]],
  ...both(`${org}/teams/{team}`, [{ name: '$unique' }]),
  [
    'POST /v1/uploads',
    [
      {
        format: 'json',
        run_env: { key: '$unique', branch: 'main' },
        data: [
          {
            id: '$uuid',
            scope: 'Basket',
            name: 'adds an item',
            result: 'failed',
            failure_reason: 'no item',
            history: { start_at: 1, duration: 0.5 },
          },
        ],
      },
    ],
  ],
])
