import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually, startApp, useOwnApp, type Json } from '../../../../test/app.ts'
import {
  anAdmin,
  anOrganization,
  aPipeline,
  aToken,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { aPullRequest, aPush, commitOf, deliver } from '../../../../test/deliveries.ts'
import { reportDue, updateAll } from '../../../../test/commit-statuses.ts'
import { aReceiver, type Receiver } from '../../../../test/remote-hosts/receiver.ts'
import { aBuild, runJob, startJob, applyEvent, type TestBuild } from '../../../../test/runs.ts'
import type { BuildRequest } from '../../../conductor/build.ts'
import { outboundClient } from '../../../lib/outbound.ts'
import { runTasks } from '../../../tasks/run.ts'
import { handlers } from '../../../worker.ts'
import * as statuses from './queries.ts'
import { updateStatuses } from './update-statuses.ts'

const app = useOwnApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })
const never = new AbortController().signal
const token = 'a-token-of-the-host-1234'

let org: TestOrganization
let admin: TestUser
let host: Receiver
beforeAll(async () => {
  await updateStatuses(app.ctx, never)
  host = await aReceiver()
})
afterAll(() => host.close())
beforeEach(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
  host.received.length = 0
  host.answering = null
  // Statuses that the previous test could not deliver must not be sent in this one.
  await app.db.deleteFrom('commit_statuses').execute()
})

const addressOf = (receiver: Receiver) => receiver.url.replace('/hook', '')

async function connect(type: string, receiver: Receiver = host, repositoryHost = 'git.example.com') {
  const made = await app.request('POST', `${org.path}/repository_connections`, {
    token: admin.token,
    body: {
      type,
      url: `https://${repositoryHost}`,
      api_url: addressOf(receiver),
      token,
    },
  })
  if (made.status !== 201) throw new Error(made.text)
  return String(made.body.id)
}

const aPublished = (steps: string, settings: object = {}, given: object = {}) =>
  aPipeline(app, org, steps, {
    repository: 'git@git.example.com:acme/app.git',
    provider_settings: JSON.stringify(settings),
    ...given,
  })

const build = (pipeline: { id: string }, given: Partial<BuildRequest> = {}) =>
  aBuild(app, org, pipeline, { commit: commitOf('head'), ...given })

async function publish(ctx = app.ctx) {
  await updateAll(ctx)
  await reportDue(ctx)
}

const reported = () =>
  host.received.map(({ body }) => [String(body.context), String(body.state), String(body.description)])

/** The order of several pipelines or contexts is not defined. */
const inOrder = (rows: readonly string[][]) => rows.toSorted((a, b) => (a.join() < b.join() ? -1 : 1))

const after = (seconds: number) => ({ ...app.ctx, now: () => new Date(Date.now() + seconds * 1000) })

const listed = async (pipeline: { path: string }, { number }: TestBuild) =>
  (await app.request('GET', `${pipeline.path}/builds/${number}/commit-statuses`, { token: admin.token })).list

/** A type of connection, and what a request to it has: path, headers, body. */
type Spoken = [string, string, Record<string, string>, (url: string, name: string) => object]

describe('a build whose statuses cannot be stored', () => {
  it('delays no other build, and gets its statuses when they can', async () => {
    await connect('gitea')
    const [bad, good] = [await aPublished('[{command: a}]'), await aPublished('[{command: a}]')]
    await sql`
      create function refuse_status() returns trigger language plpgsql as $$
      begin if new.pipeline_id::text = tg_argv[0] then raise exception 'poisoned'; end if; return new; end $$`.execute(
      app.db,
    )
    await sql`
      create trigger refuse_status before insert on commit_statuses for each row
      execute function refuse_status(${sql.lit(bad.id)})`.execute(app.db)
    await build(bad, { commit: commitOf('bad') })
    await build(good, { commit: commitOf('good') })
    const commits = async () =>
      (await app.db.selectFrom('commit_statuses').select('commit').execute()).map(({ commit }) => commit)
    await updateAll(app.ctx)
    expect(new Set(await commits())).toEqual(new Set([commitOf('good')]))
    const failed = await app.db.selectFrom('failed_rows').select(['loop', 'attempts', 'error']).execute()
    expect(failed).toEqual([{ loop: 'commit_statuses', attempts: 1, error: 'poisoned' }])
    await sql`drop trigger refuse_status on commit_statuses`.execute(app.db)
    await updateStatuses(after(10), never)
    expect(new Set(await commits())).toEqual(new Set([commitOf('good'), commitOf('bad')]))
    expect(await app.db.selectFrom('failed_rows').selectAll().execute()).toEqual([])
  })
})

describe('a commit status', () => {
  it.each<Spoken>([
    [
      'github',
      `/repos/acme/app/statuses/${commitOf('head')}`,
      {
        authorization: 'Bearer a-token-of-the-host-1234',
        accept: 'application/vnd.github+json',
        'x-github-api-version': '2022-11-28',
      },
      (url: string, context: string) => ({
        state: 'pending',
        target_url: url,
        description: 'Build #1 is running',
        context,
      }),
    ],
    ...['gitea', 'forgejo'].map((type): Spoken => [
      type,
      `/repos/acme/app/statuses/${commitOf('head')}`,
      { authorization: 'token a-token-of-the-host-1234' },
      (url: string, context: string) => ({
        state: 'pending',
        target_url: url,
        description: 'Build #1 is running',
        context,
      }),
    ]),
    [
      'gitlab',
      `/projects/acme%2Fapp/statuses/${commitOf('head')}`,
      { 'private-token': 'a-token-of-the-host-1234' },
      (url: string, name: string) => ({
        state: 'running',
        target_url: url,
        description: 'Build #1 is running',
        name,
      }),
    ],
    [
      'bitbucket',
      `/repositories/acme/app/commit/${commitOf('head')}/statuses/build`,
      { authorization: 'Bearer a-token-of-the-host-1234' },
      (url: string, key: string) => ({
        key,
        name: key,
        state: 'INPROGRESS',
        url,
        description: 'Build #1 is running',
      }),
    ],
    [
      'bitbucket_server',
      `/projects/acme/repos/app/commits/${commitOf('head')}/builds`,
      { authorization: 'Bearer a-token-of-the-host-1234' },
      (url: string, key: string) => ({
        key,
        name: key,
        state: 'INPROGRESS',
        url,
        description: 'Build #1 is running',
      }),
    ],
  ])('goes to %s as its API wants it', async (type, path, headers, body) => {
    await connect(type)
    const pipeline = await aPublished('steps: [{ command: a }]')
    await startJob(app, await build(pipeline), 'a')
    await publish()
    const url = `${app.ctx.config.url}/${org.slug}/${pipeline.slug}/builds/1`
    expect(host.received).toHaveLength(1)
    expect(host.received[0]).toMatchObject({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json', ...headers },
    })
    expect(host.received[0]?.body).toEqual(body(url, `millrace/${pipeline.slug}`))
  })

  it('goes to the pull requests of Azure DevOps too, for the push that brought the commit', async () => {
    await connect('azure_devops', host, 'dev.azure.com')
    const pipeline = await aPublished(
      'steps: [{ command: a }]',
      {},
      {
        repository: 'https://dev.azure.com/acme/work/_git/app',
      },
    )
    const pushes = { value: [{ id: 1, sourceRefCommit: { commitId: commitOf('head') } }, { id: 2 }] }
    host.answering = (response, { method }) =>
      response.writeHead(method === 'GET' ? 200 : 201).end(JSON.stringify(method === 'GET' ? pushes : {}))
    const below = '/acme/work/_apis/git/repositories/app'
    const ofCommit = `POST ${below}/commits/${commitOf('head')}/statuses?api-version=7.0`
    const asked = () =>
      host.received.splice(0).map(({ method, path, body }) => [`${method} ${path}`, body.iterationId])

    const pullRequest = { id: '7', base: 'main', repository: null, labels: [], draft: false, fork: false }
    const one = await build(pipeline, { pullRequest })
    await publish()
    const both = [
      [ofCommit, undefined],
      [`GET ${below}/pullRequests/7/iterations?api-version=7.0`, undefined],
      [`POST ${below}/pullRequests/7/statuses?api-version=7.0`, 1],
    ]
    expect(asked()).toEqual(both)

    // Another commit was pushed meanwhile, and this one is of no pull request.
    await build(pipeline, { commit: commitOf('other'), pullRequest })
    await publish()
    expect(asked().map(([request]) => request)).toEqual([
      ofCommit.replace(commitOf('head'), commitOf('other')),
      both[1]?.[0],
    ])

    host.answering = (response, { path }) => response.writeHead(path.includes('/pull') ? 403 : 201).end('[]')
    await runJob(app, one, 'a')
    await publish()
    expect((await listed(pipeline, one))[0]).toMatchObject({
      delivered_at: expect.any(String),
      error: 'The host answered 403 (may the token write commit statuses?): []',
      attempts: 1,
    })
  })

  it('goes to a pull request of Azure DevOps that is opened after its commit was built', async () => {
    await connect('azure_devops', host, 'dev.azure.com')
    const pipeline = await aPublished(
      'steps: [{ command: a }]',
      {},
      {
        repository: 'https://dev.azure.com/acme/work/_git/app',
      },
    )
    await deliver(
      app,
      pipeline,
      aPush('azure_devops', { ref: 'refs/heads/feature', commit: commitOf('head') }),
    )
    await publish()
    const statusesAt = () =>
      host.received
        .splice(0)
        .flatMap(({ method, path }) => (method === 'POST' ? [path.split('/').at(-2)] : []))
    expect(statusesAt()).toEqual([commitOf('head')])
    const pushes = { value: [{ id: 1, sourceRefCommit: { commitId: commitOf('head') } }] }
    host.answering = (response) => response.end(JSON.stringify(pushes))
    const opened = await deliver(
      app,
      pipeline,
      aPullRequest('azure_devops', { commit: commitOf('head'), branch: 'feature' }),
    )
    expect([opened.status, opened.body.outcomes?.[0]?.result]).toEqual([200, 'ignored'])
    await publish()
    expect(statusesAt()).toEqual([commitOf('head'), expect.stringMatching(/^[0-9]+$/)])
  })

  it('follows the build, and is sent only when it changes', async () => {
    await connect('gitea')
    const pipeline = await aPublished('steps: [{ command: a }, { command: b }]')
    const one = await build(pipeline)
    await publish()
    await runJob(app, one, 'a')
    await publish()
    await publish()
    await runJob(app, one, 'b', 1)
    await publish()
    const context = `millrace/${pipeline.slug}`
    expect(reported()).toEqual([
      [context, 'pending', 'Build #1 waits for an agent'],
      [context, 'pending', 'Build #1 is running'],
      [context, 'failure', 'Build #1 failed'],
    ])
    expect(await listed(pipeline, one)).toEqual([
      {
        id: expect.any(String),
        context,
        state: 'failure',
        description: 'Build #1 failed',
        commit: commitOf('head'),
        changed_at: expect.any(String),
        delivered_at: expect.any(String),
        attempts: 0,
        next_attempt_at: null,
        error: null,
      },
    ])
  })

  it('is an error for a canceled build', async () => {
    await connect('gitea')
    const pipeline = await aPublished('steps: [{ command: a }]')
    await applyEvent(app, await build(pipeline), { type: 'cancel_build', reason: null })
    await publish()
    expect(reported()).toEqual([[`millrace/${pipeline.slug}`, 'error', 'Build #1 was canceled']])
  })

  it('is not sent for a work tree that is not committed', async () => {
    await connect('gitea')
    const pipeline = await aPublished('steps: [{ command: a }]')
    await build(pipeline, { env: { BUILDKITE_PREFLIGHT: 'true' } })
    await publish()
    expect(reported()).toEqual([])
  })

  it('needs a commit that is known by its name, and a connection with a token', async () => {
    const unconnected = await aPublished('steps: [{ command: a }]')
    await build(unconnected)
    await publish()
    await connect('gitea')
    const pipeline = await aPublished('steps: [{ command: a }]')
    const head = await build(pipeline, { commit: 'HEAD' })
    await publish()
    expect(reported()).toEqual([])
    // The first job finds out what HEAD is.
    await app.db
      .updateTable('builds')
      .set({ commit: commitOf('x') })
      .where('id', '=', head.id)
      .execute()
    await runJob(app, head, 'a')
    await publish()
    expect(host.received.map(({ path }) => path)).toEqual([`/repos/acme/app/statuses/${commitOf('x')}`])
  })

  it('publish_commit_status', async () => {
    await connect('gitea')
    await build(await aPublished('steps: [{ command: a }]', { publish_commit_status: false }))
    await publish()
    expect(reported()).toEqual([])
  })

  it('publish_blocked_as_pending', async () => {
    await connect('gitea')
    const steps = 'steps: [{ command: a }, { block: b }]'
    for (const settings of [{}, { publish_blocked_as_pending: true }]) {
      await runJob(app, await build(await aPublished(steps, settings)), 'a')
    }
    const failing = 'steps: [{ command: a }, { block: b, blocked_state: failed }]'
    await runJob(app, await build(await aPublished(failing)), 'a')
    await publish()
    expect(host.received.map(({ body }) => String(body.state)).toSorted()).toEqual([
      'failure',
      'pending',
      'success',
    ])
  })

  it('publish_commit_status_per_step and use_step_key_as_commit_status', async () => {
    await connect('gitea')
    const steps =
      'steps: [{ command: a, label: ":rocket: Test", key: test }, { command: b, label: Test }, wait, { command: c, key: deploy }, { command: d, if: "false" }, ' +
      '{ command: e, label: ":jest: at 10:30:00, %n of %t", parallelism: 2, key: shards }]'
    const contexts = async (settings: object) => {
      host.received.length = 0
      const pipeline = await aPublished(steps, { publish_commit_status_per_step: true, ...settings })
      const one = await build(pipeline)
      await runJob(app, one, 'a')
      await runJob(app, one, 'b', 1)
      await publish()
      const strip = (context = '') => context.replace(`millrace/${pipeline.slug}`, '')
      return inOrder(reported().map(([context, state = '']) => [strip(context), state]))
    }
    expect(await contexts({})).toEqual([
      ['', 'failure'],
      ['/Test (2)', 'failure'],
      ['/Test', 'success'],
      ['/at 10:30:00, … of …', 'failure'],
      ['/d', 'success'],
      ['/deploy', 'failure'],
    ])
    expect((await contexts({ use_step_key_as_commit_status: true })).map(([context]) => context)).toEqual([
      '',
      '/Test',
      '/d',
      '/deploy',
      '/shards',
      '/test',
    ])
  })

  it('says of a step that a condition leaves out that it is not needed, except for forks and where that is off', async () => {
    await connect('gitea')
    const steps = 'steps: [{ command: a }, { command: b, if: "false" }, { command: c, branches: release }]'
    for (const [settings, request, expected] of [
      [{}, {}, ['', '/a', '/b', '/c']],
      [{ publish_status_when_not_built: false }, {}, ['', '/a']],
      [{}, { commitOrigin: 'fork' as const }, ['', '/a']],
    ] as const) {
      host.received.length = 0
      const pipeline = await aPublished(steps, { publish_commit_status_per_step: true, ...settings })
      await build(pipeline, { commit: commitOf('head'), ...request })
      await publish()
      const own = `millrace/${pipeline.slug}`
      const told = reported().map(([context = '']) => context.replace(own, ''))
      expect(told.toSorted()).toEqual([...expected])
      const left = reported().filter(([, state]) => state === 'success')
      const needless = 'not needed: the step does not apply to this build'
      expect(new Set(left.map(([, , description]) => description))).toEqual(
        new Set(expected.length > 2 ? [needless] : []),
      )
    }
  })

  it('separate_pull_request_statuses', async () => {
    await connect('gitea')
    const pipeline = await aPublished('steps: [{ command: a }]', { separate_pull_request_statuses: true })
    const pullRequest = { id: '7', base: 'main', repository: null, labels: [], draft: null }
    await build(pipeline)
    await build(pipeline, { pullRequest })
    await publish()
    expect(
      reported()
        .map(([context = '']) => context)
        .toSorted(),
    ).toEqual([`millrace/${pipeline.slug}`, `millrace/${pipeline.slug}/pr`])
  })

  it('has the name that notify gives it, where its condition holds', async () => {
    await connect('gitea')
    const steps = `
notify:
  - github_commit_status: { context: ours/all }
  - github_commit_status: { context: ours/main }
    if: build.branch == "main"
  - github_commit_status: { context: ours/never }
    if: build.branch == "other"
steps:
  - command: a
    notify: [{ github_commit_status: { context: ours/step }, if: step.outcome == "hard_failed" }]
`
    const pipeline = await aPublished(steps, { publish_commit_status: false })
    const one = await build(pipeline)
    await publish()
    expect(reported()).toEqual([])
    await runJob(app, one, 'a', 1)
    await publish()
    expect(inOrder(reported())).toEqual([
      ['ours/all', 'failure', 'Build #1 failed'],
      ['ours/main', 'failure', 'Build #1 failed'],
      ['ours/step', 'failure', 'Failed'],
    ])
  })

  it('says of one that a left-out step asks for that it is not needed, unless another asks for the same', async () => {
    await connect('gitea')
    const asks = (context: string) => `notify: [{ github_commit_status: { context: ${context} } }]`
    const steps = `
notify: [{ github_commit_status: { context: whole } }]
steps:
  - { command: a, ${asks('shared')} }
  - { command: b, if: "false", ${asks('shared')} }
  - { command: c, if: "false", ${asks('whole')} }
  - { command: d, if: "false", ${asks('deploy')} }
`
    for (const [settings, request, expected] of [
      [{}, {}, ['deploy success', 'shared failure', 'whole failure']],
      [{ publish_status_when_not_built: false }, {}, ['shared failure', 'whole failure']],
      [{}, { commitOrigin: 'fork' as const }, ['shared failure', 'whole failure']],
    ] as const) {
      host.received.length = 0
      const one = await build(await aPublished(steps, { publish_commit_status: false, ...settings }), request)
      await publish()
      expect(reported()).toEqual([])
      await runJob(app, one, 'a', 1)
      await publish()
      const told = reported().map(([context, state]) => `${context} ${state}`)
      expect(told.toSorted()).toEqual([...expected])
    }
  })

  const checked = `
notify:
  - github_check: { name: Whole, output: { title: Done, summary: All of it, annotations: [{ path: a.ts, start_line: 1 }] } }
  - github_check
steps:
  - { command: a, label: Unit, notify: [github_check] }
  - { command: b, notify: [{ github_check: { name: Never }, if: step.outcome == "passed" }] }
`

  it('comes as a check of a GitHub repository where notify asks for one, when the build or step has ended', async () => {
    await connect('github')
    const pipeline = await aPublished(checked, { publish_commit_status: false })
    const one = await build(pipeline)
    await runJob(app, one, 'a')
    await publish()
    await runJob(app, one, 'b', 1)
    await publish()
    const slug = `millrace/${pipeline.slug}`
    const runs = host.received.filter(({ path }) => path.endsWith('/check-runs')).map(({ body }) => body)
    expect(runs).toHaveLength(host.received.length)
    expect(runs[0]).toMatchObject({ name: `${slug}/Unit`, status: 'completed', conclusion: 'success' })
    const ends = new Map(runs.map((run) => [String(run.name), run]))
    expect([...ends.keys()].toSorted()).toEqual(['Whole', slug, `${slug}/Unit`].toSorted())
    expect(ends.get('Whole')).toMatchObject({
      head_sha: expect.stringMatching(/^[0-9a-f]{12,}$/),
      details_url: expect.stringMatching(/\/builds\/1$/),
      conclusion: 'failure',
      output: { title: 'Done', summary: 'All of it', annotations: [{ path: 'a.ts', start_line: 1 }] },
    })
    expect(ends.get(slug)).toMatchObject({ output: { title: 'Build #1 failed', summary: 'Build #1 failed' } })
  })

  it('comes as a plain status where the host has no checks', async () => {
    await connect('gitea')
    const pipeline = await aPublished(checked, { publish_commit_status: false })
    const one = await build(pipeline)
    await runJob(app, one, 'a')
    await runJob(app, one, 'b', 1)
    await publish()
    const slug = `millrace/${pipeline.slug}`
    expect(inOrder(reported())).toEqual(
      inOrder([
        ['Whole', 'failure', 'Build #1 failed'],
        [slug, 'failure', 'Build #1 failed'],
        [`${slug}/Unit`, 'success', 'Passed'],
      ]),
    )
  })

  it('prevent_custom_statuses_from_using_buildkite_prefix', async () => {
    await connect('gitea')
    const steps =
      'notify: [{ github_commit_status: { context: buildkite/x } }, { github_commit_status: { context: ours } }]\nsteps: [{ command: a }]'
    const contexts = async (settings: object) => {
      host.received.length = 0
      await runJob(
        app,
        await build(await aPublished(steps, { publish_commit_status: false, ...settings })),
        'a',
      )
      await publish()
      return reported()
        .map(([context = '']) => context)
        .toSorted()
    }
    expect(await contexts({})).toEqual(['buildkite/x', 'ours'])
    expect(await contexts({ prevent_custom_statuses_from_using_buildkite_prefix: true })).toEqual(['ours'])
  })

  it('of the newest build of a commit is the one that counts', async () => {
    await connect('gitea')
    const pipeline = await aPublished('steps: [{ command: a }]')
    const [older, newer] = [await build(pipeline), await build(pipeline)]
    await runJob(app, newer, 'a')
    await publish()
    await runJob(app, older, 'a', 1)
    await publish()
    expect(reported().map(([, , description]) => description)).toEqual(['Build #2 passed'])
  })

  it('is not missed when the transaction that made the build commits late', async () => {
    await connect('gitea')
    const pipeline = await aPublished('steps: [{ command: a }]')
    await app.db.transaction().execute(async (trx) => {
      await aBuild({ ...app, ctx: { ...app.ctx, db: trx } }, org, pipeline, { commit: commitOf('late') })
      // Another build begins and commits in the meantime, and everybody looks.
      await build(await aPublished('steps: [{ command: a }]'))
      await updateStatuses(app.ctx, never)
      await reportDue(app.ctx)
      expect(reported()).toEqual([])
    })
    await publish()
    expect(reported()).toHaveLength(2)
  })

  it('is not missed where transactions are numbered anew, as in a restored backup', async () => {
    await connect('gitea')
    const pipeline = await aPublished('steps: [{ command: a }]')
    await app.db
      .updateTable('commit_status_cursor')
      .set({ xid: 2 ** 52 })
      .execute()
    const one = await build(pipeline)
    await updateStatuses(app.ctx, never)
    await updateAll(app.ctx)
    expect(await listed(pipeline, one)).toHaveLength(1)
  })

  it('does not begin with the first event again where the last reader left out an open transaction', async () => {
    await connect('gitea')
    const pipeline = await aPublished('steps: [{ command: a }]')
    await build(pipeline)
    await updateAll(app.ctx)
    await app.db.transaction().execute(async (open) => {
      await sql`select pg_current_xact_id()`.execute(open)
      await build(pipeline)
      // A reader that takes it for one of another database moves the cursor past it.
      await sql`update commit_status_cursor set xid = pg_snapshot_xmax(pg_current_snapshot())::text::bigint`.execute(
        app.db,
      )
      const take = () => app.db.transaction().execute((trx) => statuses.takeTouchedBuilds(trx))
      const read = () => app.db.selectFrom('commit_status_cursor').select('xid').executeTakeFirstOrThrow()
      const before = await read()
      expect(await take()).toEqual({ ids: [], isMore: false })
      expect(await read()).toEqual(before)
    })
  })
})

describe('a commit status that is not taken', () => {
  async function aTroubled(status: number, headers: Record<string, string> = {}) {
    const connection = await connect('github')
    const pipeline = await aPublished('steps: [{ command: a }]')
    const one = await build(pipeline)
    host.answering = (response) => response.writeHead(status, headers).end('{"message":"Nope"}')
    const at = app.ctx.now().getTime()
    /** The clock stands still, so many seconds after the first attempt. */
    const later = (seconds: number) => ({ ...app.ctx, now: () => new Date(at + seconds * 1000) })
    await publish(later(0))
    const show = async (): Promise<Json> => (await listed(pipeline, one))[0] ?? {}
    /** From the first attempt to the next one. */
    const nextMs = async () => Date.parse(String((await show()).next_attempt_at)) - at
    const problem = async () => {
      const path = `${org.path}/repository_connections/${connection}`
      return (await app.request('GET', path, { token: admin.token })).body.problem
    }
    return { pipeline, one, show, nextMs, problem, later }
  }

  it('is retried at growing intervals, and the connection says what is wrong', async () => {
    const { show, nextMs, problem, later } = await aTroubled(401)
    expect(await show()).toMatchObject({
      attempts: 1,
      delivered_at: null,
      error: 'The host answered 401 (is the token valid?): {"message":"Nope"}',
    })
    expect(await problem()).toMatch(/is the token valid/)
    await publish(later(1))
    expect(host.received).toHaveLength(1)
    await publish(later(3))
    const { attempts } = await show()
    expect([host.received.length, attempts]).toEqual([2, 2])
    expect(await nextMs()).toBeGreaterThan(6000)
    host.answering = null
    await publish(later(30))
    expect(await show()).toMatchObject({ error: null, next_attempt_at: null, attempts: 0 })
    expect(await problem()).toBeNull()
  })

  it('waits as long as the host asks for', async () => {
    const { nextMs } = await aTroubled(429, { 'Retry-After': '120' })
    expect(await nextMs()).toBeGreaterThan(110_000)
  })

  it('is given up after a day', async () => {
    const { show } = await aTroubled(500)
    await publish(after(24 * 60 * 60))
    expect(await show()).toMatchObject({ next_attempt_at: null, error: expect.stringMatching(/^Given up: /) })
    await publish(after(48 * 60 * 60))
    expect(host.received).toHaveLength(2)
  })

  it('gives way to a newer state, which is tried at once', async () => {
    const { one } = await aTroubled(500)
    host.answering = null
    await runJob(app, one, 'a')
    await publish()
    expect(reported().map(([, state]) => state)).toEqual(['pending', 'success'])
  })

  it('was taken, when GitLab says that it knows already', async () => {
    await connect('gitlab')
    const pipeline = await aPublished('steps: [{ command: a }]')
    const one = await build(pipeline)
    host.answering = (response) =>
      response.writeHead(400).end('{"message":"Cannot transition status via :enqueue from :pending"}')
    await publish()
    expect(await listed(pipeline, one)).toMatchObject([{ error: null, next_attempt_at: null }])
  })

  it('does not go to an address inside the network, unless the operator allows it', async () => {
    await connect('gitea')
    const pipeline = await aPublished('steps: [{ command: a }]')
    const one = await build(pipeline)
    const strict = await startApp({}, app.database)
    try {
      await publish(strict.ctx)
    } finally {
      await strict.close()
    }
    expect(host.received).toEqual([])
    expect(await listed(pipeline, one)).toMatchObject([
      { error: expect.stringMatching(/MILLRACE_OUTBOUND_ALLOW/) },
    ])
  })
})

describe('POST …/builds/{number}/commit-statuses/{id}/redeliver', () => {
  it('sends the status again, also after it was given up', async () => {
    await connect('gitea')
    const pipeline = await aPublished('steps: [{ command: a }]')
    const one = await build(pipeline)
    host.answering = (response) => response.writeHead(403).end('{"message":"no"}')
    await publish()
    await reportDue(after(2 * 24 * 60 * 60))
    const [given] = await listed(pipeline, one)
    expect(given).toMatchObject({ next_attempt_at: null, error: expect.stringMatching(/^Given up: /) })
    host.answering = null
    host.received.length = 0
    const path = `${pipeline.path}/builds/${one.number}/commit-statuses/${given?.id}/redeliver`
    const answer = await app.request('POST', path, { token: admin.token })
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { id: given?.id, attempts: 0, error: null, next_attempt_at: expect.any(String) },
    ])
    await publish()
    expect(reported()).toHaveLength(1)
    expect(await listed(pipeline, one)).toMatchObject([{ error: null, next_attempt_at: null }])
    // One that has arrived, too.
    await app.request('POST', path, { token: admin.token })
    await publish()
    expect(reported()).toHaveLength(2)
  })

  it('answers 404 to a status of another build, and 403 without the scope', async () => {
    await connect('gitea')
    const pipeline = await aPublished('steps: [{ command: a }]')
    const [one, other] = [await build(pipeline), await build(pipeline, { commit: commitOf('other') })]
    await updateAll(app.ctx)
    const [status] = await listed(pipeline, one)
    const path = (of: TestBuild) =>
      `${pipeline.path}/builds/${of.number}/commit-statuses/${status?.id}/redeliver`
    const foreign = await app.request('POST', path(other), { token: admin.token })
    expect([foreign.status, foreign.body]).toEqual([404, { message: 'No commit status found' }])
    const reading = await aToken(app, admin, { scopes: ['read_builds'] })
    expect((await app.request('POST', path(one), { token: reading })).status).toBe(403)
  })
})

describe('publishing', () => {
  it('follows the update at once, by a task of the queue', async () => {
    await connect('gitea')
    const pipeline = await aPublished('steps: [{ command: a }]')
    const running = await runTasks(app.database.pool, app.ctx.log, app.ctx, handlers, { cron: {} })
    try {
      const one = await build(pipeline)
      await updateAll(app.ctx)
      await eventually('the host has the first state', async () => host.received.length === 1)
      host.answering = (response) => response.writeHead(500).end()
      await runJob(app, one, 'a')
      await updateAll(app.ctx)
      await eventually('the host has refused', async () => host.received.length === 2)
      host.answering = null
      await eventually('the host has the last state', async () => host.received.length === 3)
      expect(reported().map(([, state]) => state)).toEqual(['pending', 'success', 'success'])
    } finally {
      await running.stop()
    }
  })

  it('goes on where a killed process left off, and keeps the order of states', async () => {
    await connect('gitea')
    const pipeline = await aPublished('steps: [{ command: a }]')
    const one = await build(pipeline)
    await updateAll(app.ctx)
    // A process claims the first state and dies.
    const claimed = await statuses.claimDue(app.db, pipeline.id, app.ctx.now().toISOString())
    expect(claimed).toHaveLength(1)
    await runJob(app, one, 'a')
    await publish()
    expect(reported()).toEqual([])
    await publish(after(61))
    expect(reported().map(([, state]) => state)).toEqual(['success'])
  })

  it('is done once by several workers', async () => {
    await connect('gitea')
    const pipelines = await Promise.all([1, 2, 3, 4, 5].map(() => aPublished('steps: [{ command: a }]')))
    await Promise.all(pipelines.map((pipeline) => build(pipeline)))
    await Promise.all([1, 2, 3, 4].map(() => updateAll(app.ctx)))
    await Promise.all([1, 2, 3, 4].map(() => reportDue(app.ctx)))
    expect(
      reported()
        .map(([context = '']) => context)
        .toSorted(),
    ).toEqual(pipelines.map(({ slug }) => `millrace/${slug}`).toSorted())
  })

  it('does not let a host that does not answer hold up another', async () => {
    const silent = await aReceiver(() => {})
    await connect('gitea')
    await connect('gitea', silent, 'silent.example.com')
    const stuck = await aPublished(
      'steps: [{ command: a }]',
      {},
      { repository: 'git@silent.example.com:acme/app.git' },
    )
    for (const name of ['a', 'b', 'c', 'd', 'e']) await build(stuck, { commit: commitOf(name) })
    await updateAll(app.ctx)
    const outbound = outboundClient({ allow: '127.0.0.0/8', timeoutMs: 600_000 })
    const reporting = reportDue({ ...app.ctx, outbound })
    await eventually('the silent host is asked', async () => silent.received.length > 0)
    await build(await aPublished('steps: [{ command: a }]'))
    await publish()
    await eventually('the other host has the status', async () => host.received.length === 1)
    // And of the silent one's only so many are waited for at once.
    expect(silent.received.length).toBeLessThanOrEqual(2)
    await silent.close()
    await reporting
    await outbound.close()
  })

  it('leaves no token in answers or in the log', async () => {
    await connect('gitea')
    const pipeline = await aPublished('steps: [{ command: a }]')
    const one = await build(pipeline)
    await publish()
    expect(JSON.stringify(await listed(pipeline, one)) + app.logLines.join('')).not.toContain(token)
  })
})
