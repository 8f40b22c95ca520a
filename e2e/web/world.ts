// An installation with something to see: builds in every state, extreme names, a long log. Real jobs of a real agent.
// Each text that a person typed has the name of an emoji, so that a test sees where one is shown raw.
import { archiveBuilds } from './archived-builds.ts'
import { eventually, millrace, type Client, type Json, type Settings } from '../millrace.ts'

const org = '/v2/organizations/default'

export interface World {
  /** Paths of pages. */
  failed: string
  blocked: string
  waiting: string
  passed: string
  archived: string
  cluster: string
  /** One whose agents Millrace starts. */
  hostedCluster: string
  queue: string
  agent: string
  longName: string
  template: string
  suite: string
  test: string
  team: string
  service: string
  stoppedService: string
  delivery: string
}

const failing = `env: { BUILDKITE_SKIP_CHECKOUT: "true" }
steps:
  - label: ":jest: Build"
    key: build
    command: |
      echo "--- Set up"
      for i in 1 2 3; do echo "step $$i"; done
      echo "+++ :jest: Compile"
      echo -e "\\033[32mcompiled\\033[0m 214 files"
  - label: ":jest: Test %n of %t"
    depends_on: build
    parallelism: 4
    command: |
      echo "--- Set up"
      for i in $$(seq 1 40); do echo "installing package $$i"; done
      echo "+++ Tests"
      for i in $$(seq 1 60); do echo "ok $$i retries twice"; done
      if [ "$$BUILDKITE_PARALLEL_JOB" = 1 ]; then echo -e "\\033[31mAssertionError: expected 3 to be 4\\033[0m"; exit 1; fi
  - label: ":jest: Annotate"
    depends_on: build
    command: |
      echo "report" > report.txt
      buildkite-agent artifact upload report.txt
      buildkite-agent annotate "**3 of 120** :jest: tests failed. See <a href='artifact://report.txt'>the report</a>." --style error --context tests
      buildkite-agent annotate ":jest: Coverage: 87 %" --style info --context coverage
  - wait
  - group: ":jest: Ship"
    steps:
      - label: ":jest: Deploy {{matrix.to}}"
        command: echo deploy {{matrix.to}}
        matrix: { setup: { to: [eu, us] } }
`

const passing = `env: { BUILDKITE_SKIP_CHECKOUT: "true" }
steps:
  - label: ":jest: Unit tests"
    command: echo ok
    cache: node_modules
  - wait
  - label: "Package"
    command: echo packed
`

const blocking = `env: { BUILDKITE_SKIP_CHECKOUT: "true" }
steps:
  - command: echo first
  - block: ":jest: Ship it?"
    prompt: ":jest: The release goes to everybody."
    fields:
      - text: ":jest: Reason"
        key: reason
        required: true
      - select: ":jest: Where"
        key: where
        options: [{ label: ":jest: Europe", value: eu }, { label: "America", value: us }]
  - command: echo "shipped to $$(buildkite-agent meta-data get where)"
`

const waiting = `steps:
  - label: ":jest: Needs an agent that is not there"
    command: make
    agents: { queue: nobody }
`

const longText = 'A name that goes on and on, as some people name things, '.repeat(4).slice(0, 200).trim()

export async function createWorld(server: Client, settings: Settings): Promise<World> {
  const cluster = String((await server.get(`${org}/clusters`)).body['0']?.['id'])
  await server.post(`${org}/clusters/${cluster}/queues`, { key: 'nobody', description: 'Without agents' })
  const queues = (await server.get(`${org}/clusters/${cluster}/queues`)).body
  const queue = Object.values(queues).find((each) => String(each['key']) === 'nobody')
  for (const { id, key } of Object.values(queues))
    if (String(key) === 'default')
      await server.put(`${org}/clusters/${cluster}/queues/${String(id)}`, { price_per_minute: 1.5 })
  const failed = await build(
    server,
    'Web app',
    failing,
    ':jest: Fix flaky retry\n\nIt failed one time in ten.',
  )
  const passed = await build(server, 'Api', passing, ':jest: docs: Say how to start')
  const blocked = await build(server, 'Release', blocking, ':jest: Release 2.1')
  const waits = await build(server, 'Mobile', waiting, ':jest: Wait for nobody')
  const long = await build(server, longText, passing.replace('Unit tests', longText), longText)
  await reach(server, failed, 'failed')
  await reach(server, passed, 'passed')
  await eventually('the build is blocked', async () => (await server.get(apiOf(blocked))).body['blocked'])
  const agents = (await server.get(`${org}/agents`)).body
  await server.put(`${org}/clusters/${cluster}`, { description: ':jest: For everybody' })
  const template = await server.post(`${org}/pipeline-templates`, {
    name: 'Go service',
    configuration: passing,
  })
  await createAroundPipelines(server)
  const team = await createPeople(server, settings)
  await furnishCluster(server, cluster)
  const { body: app } = await server.get(`${org}/pipelines/web-app`)
  await server.put(`${org}/clusters/${cluster}/queues/${String(queue?.['id'])}`, {
    fair_by: 'pipeline',
    fair_weights: { [String(app['id'])]: 3 },
    machine_limit_percent: 50,
  })
  await createBudgets(server)
  const hosted = await createHostedCluster(server)
  const services = await createServices(server)
  await server.post(`${org}/repository_connections`, {
    type: 'gitea',
    url: 'https://git.example.com',
    token: 'b9d3a7e1c5f80246',
    webhook_secret: 'a secret of webhooks',
  })
  const past = await build(server, 'Long ago', failing, ':jest: Build of long ago')
  await reach(server, past, 'failed')
  await archiveBuilds(server, settings, past.pipeline)
  const old = await build(server, 'Old app', passing, 'The last one')
  await server.post(`${org}/pipelines/${old.pipeline}/archive`, {})
  return {
    team,
    ...services,
    failed: pageOf(failed),
    passed: pageOf(passed),
    archived: pageOf(past),
    blocked: pageOf(blocked),
    waiting: pageOf(waits),
    longName: pageOf(long),
    cluster: `/organizations/default/clusters/${cluster}`,
    hostedCluster: `/organizations/default/clusters/${hosted}`,
    queue: `/organizations/default/clusters/${cluster}/queues/${String(queue?.['id'])}`,
    agent: new URL(String(agents['0']?.['web_url'])).pathname,
    template: new URL(String(template.body['web_url'])).pathname,
    ...(await someTests(server)),
  }
}

/** Of pipelines and teams; some are spent. */
async function createBudgets(server: Client): Promise<void> {
  const pipelines = Object.values((await server.get(`${org}/pipelines?per_page=100`)).body)
  for (const [index, { id }] of pipelines.entries())
    await server.post(`${org}/budgets`, { pipeline_id: id, amount: index % 2 === 0 ? 0.01 : 1_234_567.89 })
  const teams = Object.values((await server.get(`${org}/teams`)).body)
  for (const { id } of teams) await server.post(`${org}/budgets`, { team_id: id, amount: 200 })
}

async function createHostedCluster(server: Client): Promise<string> {
  const { body: made } = await server.post(`${org}/clusters`, {
    name: ':jest: Hosted',
    emoji: ':rocket:',
    hosted: true,
  })
  const shapes = Object.values((await server.get(`${org}/instance_shapes`)).body)
  for (const [index, key] of ['small', 'big'].entries())
    await server.post(`${org}/clusters/${String(made['id'])}/queues`, {
      key,
      hostedAgents: { instanceShape: String(shapes[index]?.['name']) },
    })
  return String(made['id'])
}

/** A secret, maintainers and a rule. */
async function furnishCluster(server: Client, cluster: string): Promise<void> {
  const path = `${org}/clusters/${cluster}`
  await server.post(`${path}/secrets`, {
    key: 'DEPLOY_TOKEN',
    value: 'correct horse',
    description: `:jest: ${longText}`,
    policy: '- pipeline_slug: release\n',
  })
  const members = Object.values((await server.get(`${org}/members`)).body)
  for (const { id: user } of members) await server.post(`${path}/maintainers`, { user })
  const teams = Object.values((await server.get(`${org}/teams`)).body)
  for (const { id: team } of teams) await server.post(`${path}/maintainers`, { team })
  await server.post(`${org}/rules`, {
    type: 'pipeline.trigger_build.pipeline',
    description: ':jest: Releases of the app',
    value: {
      source_pipeline: 'web-app',
      target_pipeline: 'release',
      conditions: ['build.branch == "main"'],
    },
  })
}

/** What the settings of pipelines show. */
async function createAroundPipelines(server: Client): Promise<void> {
  const schedules = `${org}/pipelines/web-app/schedules`
  await server.post(schedules, { label: ':jest: Nightly', cronline: '0 3 * * * Europe/Berlin' })
  await server.post(schedules, { label: longText, cronline: '@hourly', enabled: false })
  const triggers = `${org}/pipelines/web-app/triggers`
  await server.post(triggers, { name: longText, enabled: false })
  const { body: trigger } = await server.post(triggers, {
    name: ':jest: Base image',
    condition: 'payload("/action") == "published"',
    signature: 'none',
  })
  await fetch(String(trigger['address']), { method: 'POST', body: JSON.stringify({ action: 'deleted' }) })
  await server.post(`${org}/services`, {
    provider: 'webhook',
    description: ':jest: Deploys',
    build_states: { build_failed: true, build_fixed: true },
    settings: { url: 'https://hooks.example.com/builds', events: ['build.finished'] },
  })
  await server.post(`${org}/pipelines`, {
    name: 'On GitHub',
    repository: 'git@github.com:acme/app.git',
    configuration: passing,
  })
}

/** Members, an invitation and a team. Returns the path of the team's page. */
async function createPeople(server: Client, settings: Settings): Promise<string> {
  const name = `Ada with a name${' that goes on'.repeat(13)}`
  const added = await millrace(
    ['user', 'create', '--email', 'ada@example.com', '--name', name, '--org', 'default', '--role', 'member'],
    settings,
  )
  if (added.code !== 0) throw new Error(added.stderr)
  await server.post(`${org}/invitations`, { emails: ['guest@example.com'] })
  const account = await server.post(`${org}/service_accounts`, { name: 'Release bot', description: longText })
  await server.post(`${org}/service_accounts/${account.body['id']}/tokens`, {
    description: 'Release server',
    scopes: ['read_builds', 'write_builds'],
    expires_in_days: 30,
  })
  await server.post(`${org}/token_issuers`, {
    issuer: 'https://tokens.example.com',
    claims: { sub: ['repo:acme/app:ref:refs/heads/main'], environment: ['production', 'staging'] },
    service_account_id: account.body['id'],
    scopes: ['read_builds', 'write_builds'],
  })
  const team = await server.post(`${org}/teams`, { name: ':jest: Mobile', description: longText })
  const { id } = team.body
  const members = (await server.get(`${org}/members`)).body
  for (const { id: user } of Object.values(members))
    await server.post(`${org}/teams/${id}/members`, { user_id: user })
  const pipelines = (await server.get(`${org}/pipelines`)).body
  for (const { id: pipeline } of Object.values(pipelines).slice(0, 3))
    await server.post(`${org}/teams/${id}/pipelines`, { pipeline_id: pipeline, access_level: 'read_only' })
  return `/organizations/default/settings/teams/${id}`
}

/** Services, one of which the server has stopped: its address is one that nothing is sent to. */
async function createServices(
  server: Client,
): Promise<Pick<World, 'service' | 'stoppedService' | 'delivery'>> {
  const services = `${org}/services`
  const chat = await server.post(services, {
    provider: 'chat',
    description: ':jest: Chat',
    settings: { url: 'https://chat.example.com/hooks/1' },
  })
  const made = await server.post(services, {
    provider: 'webhook',
    description: `:jest: Deploys, ${longText}`.slice(0, 200),
    settings: { url: 'http://127.0.0.1:9/builds' },
  })
  const path = `${services}/${String(made.body['id'])}`
  for (let test = 0; test < 50; test++) await server.post(`${path}/test`, {})
  await eventually('the service is stopped', async () => {
    const { body } = await server.get(path)
    return typeof body['broken_at'] === 'string'
  })
  const delivery = (await server.get(`${path}/deliveries?state=dead`)).body['items']?.['0']?.['id']
  const page = (id: unknown) => `/organizations/default/settings/services/${String(id)}`
  const stopped = page(made.body['id'])
  return {
    service: page(chat.body['id']),
    stoppedService: stopped,
    delivery: `${stopped}/deliveries/${String(delivery)}`,
  }
}

interface Made {
  pipeline: string
  number: number
}

const apiOf = ({ pipeline, number }: Made) => `${org}/pipelines/${pipeline}/builds/${number}`
const pageOf = ({ pipeline, number }: Made) => `/default/${pipeline}/builds/${number}`

const slugOf = (name: string) =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60)

/** A new pipeline with one build. */
export async function build(
  server: Client,
  name: string,
  configuration: string,
  message: string,
): Promise<Made> {
  const made = await server.post(`${org}/pipelines`, {
    name: `:jest: ${name}`.slice(0, 200),
    slug: slugOf(name),
    repository: 'https://git.example.com/a.git',
    configuration,
  })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  const pipeline = String(made.body['slug'])
  const started: { body: Json } = await server.post(`${org}/pipelines/${pipeline}/builds`, {
    commit: 'HEAD',
    branch: 'main',
    message,
  })
  return { pipeline, number: Number(started.body['number']) }
}

export async function reach(server: Client, made: Made, state: string): Promise<void> {
  await eventually(`the build is ${state}`, async () => {
    const { body } = await server.get(apiOf(made))
    return String(body['state']) === state
  })
}

/** A suite with a test that fails now and then, and a muted one. */
async function someTests(server: Client): Promise<Pick<World, 'suite' | 'test'>> {
  const suite = await server.post(`${org}/suites`, { name: 'Unit tests', default_branch: 'main' })
  const result = (name: string, ended: string, duration: number) => ({
    scope: 'Basket',
    name,
    location: 'basket.spec:4',
    result: ended,
    history: { start_at: 0, duration },
    ...(ended === 'failed' ? { failure_reason: 'expected 1, got 2' } : {}),
  })
  for (const [key, ended] of ['passed', 'failed', 'passed'].entries()) {
    await fetch(`${server.url}/v1/uploads`, {
      method: 'POST',
      headers: {
        Authorization: `Token token="${String(suite.body['api_token'])}"`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({
        format: 'json',
        run_env: { key: `run ${key}`, branch: 'main', commit_sha: `${key}` },
        data: [result('adds an item', ended, 1.5), result('opens a port', 'passed', 0.2)],
      }),
    })
  }
  const path = `${org}/suites/unit-tests/tests`
  const find = async (name: string) => (await server.post(`${path}/find`, { scope: 'Basket', name })).body
  const port = await find('opens a port')
  await server.put(`${path}/${String(port['id'])}/mute`, { reason: 'Waits for a port.' })
  const test = await find('adds an item')
  return {
    suite: new URL(String(suite.body['web_url'])).pathname,
    test: new URL(String(test['web_url'])).pathname,
  }
}
