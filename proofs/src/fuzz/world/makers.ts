// Makes the rows of a world, each with the requests that a user or an agent would send.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { newId } from '@millrace/server/lib/ids.ts'
import { announce, announceParts, takeFile, uploadFile } from './files.ts'
import { jobsOf, newBuild, newPipeline, runJob } from './runs.ts'
import type { Ids, Json, Maker, Makers, World } from './world.ts'

/** No answer but those of the agent API may show it. */
export const secretValue = 'the-value-that-no-list-shows'

const openSteps = `
env: { SHARED: "yes" }
steps:
  - { command: turn, key: turn, label: Turn, artifact_paths: "*.txt" }
  - { command: other, key: other, retry: { manual: { allowed: true } } }
`

const gatedSteps = `
steps:
  - { block: Release?, key: gate, fields: [{ text: Name, key: release-name, required: false }] }
  - { command: after, key: after }
`

/** A row that one request below the organization creates. */
const row = (
  parents: readonly string[],
  path: (ids: Ids) => string,
  body: (world: World) => unknown,
  key = 'id',
): ((name: string) => Maker) => {
  return (name) => ({
    parents,
    async make(world) {
      const made = await world.call('POST', path(world.ids), body(world))
      const first = Array.isArray(made) ? (made[0] as Json | undefined) : made
      world.ids[name] = String(Reflect.get(first ?? {}, key))
    },
  })
}

const inBuild = ({ pipeline, build }: Ids) => `/pipelines/${pipeline}/builds/${build}`

const annotation = (world: World) => ({ body: '**round**', context: world.unique() })

const admin: Maker = {
  parents: [],
  async make(world) {
    const person = await world.person('admin')
    const { value, pageSecret } = await world.session(person.id)
    const session = { cookie: value, page_secret: pageSecret }
    Object.assign(world.secrets, { admin: person.token, ...session, email: person.email })
    world.ids['admin'] = person.id
  },
}

const session: Maker = {
  parents: ['admin'],
  async make(world) {
    world.ids['session'] = (await world.session(world.id('admin'))).id
  },
}

const accessToken: Maker = {
  parents: ['admin'],
  async make(world) {
    const made = await world.asAdmin('POST', '/v2/user/access-tokens', {
      description: world.unique(),
      scopes: ['read_user'],
    })
    world.ids['access_token'] = String(made.id)
  },
}

const user: Maker = {
  parents: [],
  async make(world) {
    const member = await world.person('member')
    world.ids['user'] = member.id
    world.secrets['member'] = member.token
  },
}

const cluster: Maker = {
  parents: [],
  async make(world) {
    const { id } = await world.call('POST', '/clusters', { name: world.unique() })
    const queue = await world.call('POST', `/clusters/${id}/queues`, { key: 'default' })
    await world.call('PUT', `/clusters/${id}`, { default_queue_id: queue.id })
    const token = await world.call('POST', `/clusters/${id}/tokens`, { description: 'for agents' })
    world.secrets['registration'] = String(token.token)
    world.ids['cluster'] = String(id)
  },
}

const team: Maker = {
  parents: ['user'],
  async make(world) {
    const { id } = await world.call('POST', '/teams', { name: world.unique() })
    await world.call('POST', `/teams/${id}/members`, { user_id: world.id('user') })
    world.ids['team'] = String(id)
  },
}

/** A team has at most one, so each has a team of its own. */
const budget: Maker = {
  parents: [],
  async make(world) {
    const { id } = await world.call('POST', '/teams', { name: world.unique() })
    const made = await world.call('POST', '/budgets', { team_id: id, amount: 20 })
    world.ids['budget'] = String(made.id)
  },
}

const pipeline: Maker = {
  parents: ['cluster'],
  async make(world) {
    const made = await newPipeline(world, openSteps)
    Object.assign(world.ids, {
      pipeline: String(made.slug),
      pipeline_uuid: String(made.id),
      webhook: String(made.provider?.webhook_url).split('/').at(-1),
      badge: /badges\/(\w+)\.svg/.exec(String(made.badge_url))?.[1] ?? 'none',
    })
  },
}

const trigger: Maker = {
  parents: ['pipeline'],
  async make(world) {
    const made = await world.call('POST', `/pipelines/${world.id('pipeline')}/triggers`, {
      name: world.unique(),
      signature: 'none',
    })
    Object.assign(world.ids, {
      trigger: String(made.id),
      address: String(made.address).split('/').at(-1),
    })
  },
}

const targetPipeline: Maker = {
  parents: ['cluster'],
  async make(world) {
    const made = await newPipeline(world, gatedSteps)
    world.ids['target_pipeline'] = String(made.slug)
    world.ids['target_pipeline_uuid'] = String(made.id)
  },
}

const build: Maker = {
  parents: ['pipeline'],
  async make(world) {
    const made = await newBuild(world, world.id('pipeline'))
    const [first, second] = jobsOf(made)
    const run = await runJob(world, String(first?.id))
    Object.assign(world.secrets, { session: run.session, job: run.token })
    Object.assign(world.ids, {
      build: String(made.number),
      build_uuid: String(made.id),
      job: String(first?.id),
      scheduled_job: String(second?.id),
      agent: run.agent,
      step: 'turn',
    })
  },
}

const artifact: Maker = {
  parents: ['build'],
  async make(world) {
    const { id, ticket } = await announce(world)
    await uploadFile(world, id, ticket)
    world.ids['artifact'] = id
    world.secrets['upload'] = ticket
    world.secrets['file'] = await takeFile(world, id)
  },
}

const part: Maker = {
  parents: ['build'],
  async make(world) {
    const { id, ticket } = await announceParts(world)
    world.ids['part_artifact'] = id
    world.secrets['part'] = ticket
    world.ids['part'] = '1'
  },
}

const upload: Maker = {
  parents: ['build'],
  async make(world) {
    const uuid = randomUUID()
    await world.agent('POST', `jobs/${world.id('job')}/pipelines`, world.secret('job'), {
      uuid,
      pipeline: { steps: [{ command: 'more' }] },
    })
    world.ids['upload'] = uuid
  },
}

const stack: Maker = {
  parents: ['cluster'],
  async make(world) {
    const key = world.unique()
    const body = { key, type: 'custom', queue_key: 'default' }
    await world.agent('POST', 'stacks/register', world.secret('registration'), body)
    world.ids['stack'] = key
  },
}

/** Only a source host's answer would make one, so it is inserted. */
const commitStatus: Maker = {
  parents: ['build'],
  async make(world) {
    const made = newId()
    await world.db
      .insertInto('commit_statuses')
      .values({
        id: made,
        organization_id: world.id('org_uuid'),
        pipeline_id: world.id('pipeline_uuid'),
        build_id: world.id('build_uuid'),
        build_number: Number(world.id('build')),
        commit: 'a'.repeat(40),
        context: made,
        state: 'success',
        description: '',
        changed_at: new Date().toISOString(),
      })
      .execute()
    world.ids['commit_status'] = made
  },
}

/** The number of pending invitations is limited, so the oldest are deleted. */
export async function makeRoom({ db, ids }: World): Promise<void> {
  await sql`
    delete from organization_invitations where organization_id = ${ids['org_uuid']} and id not in (
      select id from organization_invitations order by created_at desc limit 20)`.execute(db)
}

const invitation: Maker = {
  parents: [],
  async make(world) {
    await makeRoom(world)
    const made = await world.call('POST', '/invitations', { emails: [`${world.unique()}@example.com`] })
    world.ids['invitation'] = String((made as Json[])[0]?.id)
  },
}

const suite: Maker = {
  parents: [],
  async make(world) {
    const made = await world.call('POST', '/suites', { name: world.unique() })
    Object.assign(world.ids, { suite: String(made.slug), suite_uuid: String(made.id) })
    world.secrets['suite'] = String(made.api_token)
    await world.call(
      'POST',
      `/v2/analytics/organizations/${world.ids['org']}/suites/${String(made.slug)}/test_plan`,
      { identifier: 'fuzz/plan', parallelism: 2, tests: { files: [{ path: 'sums.test.js' }] } },
    )
  },
}

const testRun: Maker = {
  parents: ['suite'],
  async make(world) {
    const results = [
      {
        scope: 'Basket',
        name: 'adds an item',
        result: 'failed',
        failure_reason: 'no',
        history: { start_at: 1 },
      },
      { scope: 'Basket', name: 'is empty', result: 'passed', history: { start_at: 1, duration: 0.5 } },
    ]
    const body = { format: 'json', run_env: { key: world.unique() }, data: results }
    const made = await world.sendTests(body)
    world.ids['test_run'] = String(made.run_id)
    const tests = await world.call('GET', `/suites/${world.id('suite')}/tests`)
    world.ids['test'] = String((tests as unknown as Json[])[0]?.id)
  },
}

const asset: Maker = {
  parents: [],
  async make(world) {
    const { text } = await world.visit('GET', `/${world.id('org')}`, '', { headers: { accept: 'text/html' } })
    world.ids['asset'] = /\/assets\/([^"]+)"/.exec(text)?.[1] ?? 'none'
  },
}

const event: Maker = {
  parents: [],
  async make(world) {
    const { items } = await world.call('GET', '/audit_events?per_page=1')
    world.ids['event'] = String(items?.[0]?.uuid)
  },
}

const named = (list: Record<string, (name: string) => Maker>): Makers =>
  Object.fromEntries(Object.entries(list).map(([name, make]) => [name, make(name)]))

export const makers: Makers = {
  admin,
  session,
  access_token: accessToken,
  user,
  cluster,
  ...named({
    queue: row(
      ['cluster'],
      ({ cluster: id }) => `/clusters/${id}/queues`,
      (world) => ({ key: world.unique() }),
    ),
    token: row(
      ['cluster'],
      ({ cluster: id }) => `/clusters/${id}/tokens`,
      (world) => ({ description: world.unique() }),
    ),
    maintainer: row(
      ['cluster', 'user'],
      ({ cluster: id }) => `/clusters/${id}/maintainers`,
      (world) => ({ user: world.id('user') }),
    ),
    secret: row(
      ['cluster'],
      ({ cluster: id }) => `/clusters/${id}/secrets`,
      (world) => ({ key: world.unique().replaceAll('-', '_'), value: secretValue }),
    ),
    hosted_cluster: row(
      [],
      () => '/clusters',
      (world) => ({ name: world.unique(), hosted: true }),
    ),
    image: row(
      ['hosted_cluster'],
      ({ hosted_cluster: id }) => `/clusters/${id}/agent-images`,
      (world) => ({ name: world.unique(), dockerfile: 'RUN true' }),
    ),
  }),
  team,
  budget,
  pipeline,
  trigger,
  target_pipeline: targetPipeline,
  ...named({
    team_pipeline: row(
      ['team', 'pipeline'],
      ({ team: id }) => `/teams/${id}/pipelines`,
      (world) => ({ pipeline_id: world.id('pipeline_uuid'), access_level: 'read_only' }),
      'pipeline_id',
    ),
    rule: row(
      ['pipeline', 'target_pipeline'],
      () => '/rules',
      (world) => ({
        type: 'pipeline.trigger_build.pipeline',
        value: { source_pipeline: world.id('pipeline'), target_pipeline: world.id('target_pipeline') },
      }),
      'uuid',
    ),
  }),
  build,
  ...named({
    annotation: row(['build'], (ids) => `${inBuild(ids)}/annotations`, annotation),
    job_annotation: row(['build'], ({ job }) => `/jobs/${job}/annotations`, annotation),
  }),
  artifact,
  part,
  upload,
  stack,
  ...named({
    service: row(
      [],
      () => '/services',
      ({ remote }) => ({
        provider: 'webhook',
        settings: { url: `${remote}/hook`, events: ['build.finished', 'job.finished'] },
      }),
    ),
    delivery: row(
      ['service'],
      ({ service }) => `/services/${service}/test`,
      () => ({}),
    ),
    schedule: row(
      ['pipeline'],
      ({ pipeline: slug }) => `/pipelines/${slug}/schedules`,
      () => ({ cronline: '@yearly' }),
    ),
    service_account: row(
      ['user'],
      () => '/service_accounts',
      (world) => ({ name: world.unique(), owner_ids: [world.id('user')] }),
    ),
    token_issuer: row(
      ['service_account'],
      () => '/token_issuers',
      (world) => ({
        issuer: 'https://tokens.example.com',
        claims: { sub: ['fuzz'] },
        service_account_id: world.id('service_account'),
        scopes: ['read_builds'],
      }),
    ),
    template: row(
      [],
      () => '/pipeline-templates',
      (world) => ({ name: world.unique(), configuration: 'steps: []' }),
      'uuid',
    ),
    connection: row(
      [],
      () => '/repository_connections',
      (world) => ({ type: 'gitea', url: `https://${world.unique()}.example.com` }),
    ),
  }),
  invitation,
  commit_status: commitStatus,
  suite,
  ...named({
    team_suite: row(
      ['team', 'suite'],
      ({ team: id }) => `/teams/${id}/suites`,
      (world) => ({ suite_id: world.id('suite_uuid'), access_level: ['read'] }),
      'suite_id',
    ),
  }),
  test_run: testRun,
  event,
  asset,
}
