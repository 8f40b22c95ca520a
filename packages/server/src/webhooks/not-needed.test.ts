// Statuses of commits that a rule of the pipeline leaves out, so that a required check is answered.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { aClusterToken, anAgent } from '../../test/agent-client.ts'
import { useOwnApp } from '../../test/app.ts'
import {
  aCluster,
  anAdmin,
  anOrganization,
  aPipeline,
  aQueue,
  type TestOrganization,
  type TestUser,
} from '../../test/builders.ts'
import { reportDue, updateAll } from '../../test/commit-statuses.ts'
import { aPullRequest, aPush, commitOf, deliver, type TestDelivery } from '../../test/deliveries.ts'
import { aReceiver, type Receiver } from '../../test/remote-hosts/receiver.ts'
import { aBuild, runJob } from '../../test/runs.ts'

const app = useOwnApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })

let org: TestOrganization
let admin: TestUser
let host: Receiver
beforeAll(async () => {
  await updateAll(app.ctx)
  host = await aReceiver()
})
afterAll(() => host.close())
beforeEach(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
  host.received.length = 0
  await app.db.deleteFrom('commit_statuses').execute()
})

async function connect(): Promise<void> {
  const api_url = host.url.replace('/hook', '')
  const body = { type: 'gitea', url: 'https://git.example.com', api_url, token: 'a-token-of-the-host-1234' }
  const made = await app.request('POST', `${org.path}/repository_connections`, { token: admin.token, body })
  if (made.status !== 201) throw new Error(made.text)
}

const aFiltered = (settings: object = {}, given: object = {}, steps = 'steps: [{ command: a }]') =>
  aPipeline(app, org, steps, {
    provider_settings: JSON.stringify(settings),
    branch_configuration: 'main',
    slug: 'app',
    ...given,
  })

/** What the host was told, and of which commit. */
async function told() {
  await updateAll(app.ctx)
  await reportDue(app.ctx)
  return host.received.map(({ path, body }) => [
    path.split('/').at(-1),
    body.context,
    body.state,
    body.description,
  ])
}

const feature = { branch: 'feature', commit: commitOf('feature') }
const push = aPush('gitea', { ref: 'refs/heads/feature', commit: commitOf('feature') })
const pull = aPullRequest('gitea', feature)
const success = (reason: string, context = 'millrace/app') => [
  [commitOf('feature'), context, 'success', `not needed: ${reason}`],
]
const noFeature = 'feature does not match the pipeline\'s branch filter "main".'
const condition = { filter_enabled: true, filter_condition: 'build.branch == "main"' }

type Case = [string, object, object, TestDelivery, string[][]]

describe('publish_status_when_not_built', () => {
  it.each<Case>([
    ['the branch filter', { build_pull_requests: false }, {}, push, success(noFeature)],
    [
      'the filter condition',
      condition,
      { branch_configuration: null },
      push,
      success('The filter condition does not hold: build.branch == "main"'),
    ],
    [
      'the filter of pull requests',
      {
        pull_request_branch_filter_enabled: true,
        pull_request_branch_filter_configuration: 'release',
        separate_pull_request_statuses: true,
      },
      {},
      pull,
      success(
        'Pull request #7: feature does not match the pull request branch filter "release".',
        'millrace/app/pr',
      ),
    ],
    ['switched off', { publish_status_when_not_built: false }, {}, push, []],
    ['no statuses at all', { publish_commit_status: false }, {}, push, []],
    [
      'a filter that cannot be decided',
      { ...condition, filter_condition: 'build.env("x") =~ "y"' },
      { branch_configuration: null },
      push,
      [],
    ],
    [
      'a fork that chose the branch',
      { build_pull_request_forks: true, ...condition },
      { branch_configuration: null },
      aPullRequest('gitea', { ...feature, fork: true }),
      [],
    ],
    [
      'a fork that the filter of pull requests refuses',
      {
        build_pull_request_forks: true,
        pull_request_branch_filter_enabled: true,
        pull_request_branch_filter_configuration: 'release',
      },
      {},
      aPullRequest('gitea', { ...feature, fork: true }),
      [],
    ],
    ['pushes that are not built at all', { trigger_mode: 'none' }, {}, push, []],
    [
      'a message that asks for no build',
      {},
      { branch_configuration: null },
      aPush('gitea', { message: '[skip ci]' }),
      [],
    ],
    ['a tag', { build_tags: true }, {}, aPush('gitea', { ref: 'refs/tags/v1' }), []],
  ])('answers %s', async (_, settings, given, delivery, expected) => {
    await connect()
    const pipeline = await aFiltered(settings, given)
    const answer = await deliver(app, pipeline, delivery)
    expect(answer.body.outcomes).toMatchObject([{ result: 'ignored' }])
    expect(await told()).toEqual(expected)
  })

  it('says it once, at the page of the pipeline, and a build takes it over', async () => {
    await connect()
    const pipeline = await aFiltered()
    await deliver(app, pipeline, push)
    await deliver(app, pipeline, aPush('gitea', { ref: 'refs/heads/other', commit: commitOf('feature') }))
    expect(await told()).toEqual(success(noFeature))
    expect(host.received[0]?.body.target_url).toMatch(/\/app$/)
    const opened = await deliver(app, pipeline, pull)
    expect(opened.body.outcomes).toMatchObject([{ result: 'built' }])
    expect((await told()).map(([, , state]) => state)).toEqual(['success', 'pending'])
    await deliver(app, pipeline, aPush('gitea', { ref: 'refs/heads/late', commit: commitOf('feature') }))
    expect((await told()).map(([, , state]) => state)).toEqual(['success', 'pending'])
  })

  it('leaves the newest commit of an open pull request to its own event, and what a build has told', async () => {
    await connect()
    const pipeline = await aFiltered()
    await deliver(app, pipeline, pull)
    const commit = commitOf('newer')
    await deliver(app, pipeline, aPush('gitea', { ref: 'refs/heads/feature', commit }))
    const build = await aBuild(app, org, pipeline, { commit: commitOf('failed') })
    await runJob(app, build, 'a', 1)
    await deliver(app, pipeline, aPush('gitea', { ref: 'refs/heads/again', commit: commitOf('failed') }))
    const states = Object.fromEntries((await told()).map(([of, , state]) => [of, state]))
    expect(states).toEqual({ [commitOf('feature')]: 'pending', [commitOf('failed')]: 'failure' })
  })

  it('stores nothing without a connection', async () => {
    const pipeline = await aFiltered()
    await deliver(app, pipeline, push)
    expect(await app.db.selectFrom('commit_statuses').select('id').execute()).toEqual([])
  })

  it.each([
    ['success', {}, {}],
    ['failure', { publish_status_when_not_built: false }, {}],
    ['failure', {}, { commitOrigin: 'fork' as const }],
  ])('tells %s of a build none of whose steps applies (%j, %j)', async (state, settings, request) => {
    await connect()
    const pipeline = await aFiltered(settings, {}, 'steps: [{ command: a, if: build.branch == "release" }]')
    await aBuild(app, org, pipeline, { commit: commitOf('head'), ...request })
    expect(await told()).toMatchObject([[commitOf('head'), 'millrace/app', state, expect.any(String)]])
  })
})

// The agent reads `if_changed` in the checkout, where the author of a pull request has written it, and uploads `skip` for it.
describe('abuse case R3: a pull request that changes its pipeline file so that no step applies', () => {
  const settings = {
    build_pull_request_forks: true,
    publish_commit_status_per_step: true,
    skip_pull_request_builds_for_existing_commits: false,
  }
  const skip = 'no file named by if_changed has changed'
  const uploaded = {
    steps: [
      {
        command: 'make test',
        label: 'Test',
        skip,
        notify: [{ github_commit_status: { context: 'tested' } }],
      },
    ],
  }

  /** What the host was told at the end, by context, and whether the job was given what only trusted ones get. */
  async function uploadedBy({ fork }: { fork: boolean }) {
    await connect()
    const cluster = await aCluster(app, org, admin)
    const queue = await aQueue(app, cluster, admin, { key: 'default' })
    await app.db
      .updateTable('clusters')
      .set({ default_queue_id: queue.id })
      .where('id', '=', cluster.id)
      .execute()
    const path = `${cluster.path}/secrets`
    await app.request('POST', path, { token: admin.token, body: { key: 'DEPLOY_KEY', value: 'x' } })
    const pipeline = await aFiltered(settings, { branch_configuration: null }, 'steps: [{ command: upload }]')
    await deliver(app, pipeline, aPullRequest('gitea', { ...feature, fork }))
    const run = await (await anAgent(app, await aClusterToken(app, cluster, admin))).begin()
    const upload = { uuid: randomUUID(), pipeline: uploaded }
    expect((await run.call('POST', `jobs/${run.id}/pipelines`, { body: upload })).status).toBe(200)
    const secret = await run.call('GET', `jobs/${run.id}/secrets?key=DEPLOY_KEY`)
    const identity = await run.call('POST', `jobs/${run.id}/oidc/tokens`, {})
    await run.finish()
    const statuses = (await told()).map(([, context, state]) => [context, state])
    return { statuses: Object.fromEntries(statuses), trusted: [secret.status, identity.status] }
  }

  it('is told that they are not needed', async () => {
    expect(await uploadedBy({ fork: false })).toEqual({
      statuses: {
        'millrace/app': 'success',
        'millrace/app/upload': 'success',
        'millrace/app/Test': 'success',
        tested: 'success',
      },
      trusted: [200, 200],
    })
  })

  it('is told nothing of them when it comes from a fork, and gets no secrets', async () => {
    expect(await uploadedBy({ fork: true })).toEqual({
      statuses: { 'millrace/app': 'success', 'millrace/app/upload': 'success' },
      trusted: [403, 403],
    })
  })
})
