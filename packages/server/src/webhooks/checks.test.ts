// Checks at GitHub that are asked for again, and those whose end is announced to whoever published them.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useOwnApp } from '../../test/app.ts'
import {
  anAdmin,
  anOrganization,
  aPipeline,
  auditTrail,
  type TestOrganization,
  type TestUser,
} from '../../test/builders.ts'
import { reportDue, updateAll } from '../../test/commit-statuses.ts'
import { commitOf, deliver, githubEvent } from '../../test/deliveries.ts'
import { aGitHub, anAppKey, type AppKey, type GitHubHost } from '../../test/remote-hosts/github-host.ts'
import { aBuild, applyEvent, jobsOf, runJob, type TestBuild } from '../../test/runs.ts'

const app = useOwnApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })
const secret = 'the-secret-of-the-app'

let org: TestOrganization
let admin: TestUser
let host: GitHubHost
let key: AppKey
beforeAll(async () => {
  await updateAll(app.ctx)
  key = anAppKey()
})
beforeEach(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
  host = await aGitHub()
  host.keys = [key.publicKey]
  await app.db.deleteFrom('commit_statuses').execute()
  const body = {
    type: 'github_app',
    api_url: host.url,
    app_id: host.appId,
    installation_id: host.installation,
    private_key: key.pem,
    webhook_secret: secret,
  }
  const made = await app.request('POST', `${org.path}/repository_connections`, { token: admin.token, body })
  if (made.status !== 201) throw new Error(made.text)
  return () => host.close()
})

const aChecked = (settings: object = {}) =>
  aPipeline(app, org, 'notify: [github_check]\nsteps: [{ command: a }, { command: b }]', {
    repository: 'git@github.com:acme/app.git',
    provider_settings: JSON.stringify(settings),
  })

async function anEnded(pipeline: { id: string }, exitStatus: number): Promise<TestBuild> {
  const build = await aBuild(app, org, pipeline, { commit: commitOf('head') })
  await runJob(app, build, 'a', exitStatus)
  await runJob(app, build, 'b')
  return build
}

/** The newest check run, as GitHub shows it in its events. */
async function published() {
  await updateAll(app.ctx)
  await reportDue(app.ctx)
  const body: Record<string, unknown> = host.done(/check-runs/).at(-1)?.body ?? {}
  return {
    name: body['name'],
    head_sha: body['head_sha'],
    conclusion: body['conclusion'],
    external_id: body['external_id'],
    actions: body['actions'],
    app: { id: Number(host.appId) },
    check_suite: { head_branch: 'main', app: { id: Number(host.appId) } },
  }
}

const send = (pipeline: { id: string }, event: string, payload: object) =>
  deliver(app, pipeline, githubEvent(event, payload), { secret })

const again = (run: object) => ({ action: 'rerequested', check_run: run })
const buildsOf = async (pipeline: { id: string }) =>
  app.db
    .selectFrom('builds')
    .select(['number', 'state', 'commit', 'branch', 'rebuilt_from'])
    .where('pipeline_id', '=', pipeline.id)
    .orderBy('number')
    .execute()
const states = async (build: TestBuild) => (await jobsOf(app, build)).map(({ state }) => state)

describe('a check of this installation', () => {
  it('builds nothing when it ends, however often that is announced', async () => {
    const pipeline = await aChecked({ build_check_run_completed: true })
    await anEnded(pipeline, 0)
    const run = await published()
    expect(run).toMatchObject({ conclusion: 'success', external_id: expect.stringMatching(/^millrace:/) })
    for (const one of [run, { ...run, external_id: null }, { ...run, app: { id: 1 } }]) {
      const answer = await send(pipeline, 'check_run', { action: 'completed', check_run: one })
      expect(answer.body.message).toBe('The check is our own, and its end builds nothing.')
    }
    expect(await buildsOf(pipeline)).toHaveLength(1)
    const other = { ...run, name: 'lint', external_id: '', app: { id: 1 }, check_suite: {} }
    const answer = await send(pipeline, 'check_run', { action: 'completed', check_run: other })
    expect(answer.body.outcomes[0]).toMatchObject({ result: 'built', builds: [{ number: 2 }] })
  })

  it.each([
    ['check_run', (run: object) => again(run)],
    [
      'check_run',
      (run: object) => ({
        action: 'requested_action',
        check_run: run,
        requested_action: { identifier: 'retry_failed_jobs' },
      }),
    ],
    ['check_run', (run: object) => again({ ...run, external_id: null })],
    [
      'check_suite',
      () => ({
        action: 'rerequested',
        check_suite: { head_sha: commitOf('head'), head_branch: 'main', app: { id: Number(host.appId) } },
      }),
    ],
  ])('retries the failed jobs of its build when it is asked for again (%s)', async (event, payloadOf) => {
    const pipeline = await aChecked()
    const build = await anEnded(pipeline, 1)
    const run = await published()
    expect(run).toMatchObject({ conclusion: 'failure', actions: [{ identifier: 'retry_failed_jobs' }] })
    const delivery = githubEvent(event, payloadOf(run))
    const first = await deliver(app, pipeline, delivery, { secret })
    expect(first.body.outcomes).toMatchObject([{ result: 'built', builds: [{ id: build.id, number: 1 }] }])
    expect(await states(build)).toEqual(['scheduled', 'passed'])
    await runJob(app, build, 'a', 1)
    const second = await deliver(app, pipeline, delivery, { secret })
    expect(second.body).toMatchObject({ replayed: true })
    expect(await states(build)).toEqual(['failed', 'passed'])
    expect(await buildsOf(pipeline)).toHaveLength(1)
    const trail = await auditTrail(app, org, 'BUILD_FAILED_JOBS_RETRIED')
    expect(trail).toMatchObject([{ actor: null, data: { retried_jobs_count: 1 } }])
  })

  it('is built again where no job can be retried: passed, canceled before its start, deleted', async () => {
    const pipeline = await aChecked()
    await anEnded(pipeline, 0)
    const passed = await published()
    expect((await send(pipeline, 'check_run', again(passed))).body.outcomes).toMatchObject([
      { result: 'built', builds: [{ number: 2 }] },
    ])
    const twice = await send(pipeline, 'check_run', again(passed))
    expect(twice.body.message).toBe('Build #1 is built again as #2.')
    const canceled = await aBuild(app, org, pipeline, { commit: commitOf('other') })
    await applyEvent(app, canceled, { type: 'cancel_build', reason: null })
    const run = await published()
    expect(run.conclusion).toBe('cancelled')
    expect((await send(pipeline, 'check_run', again(run))).body.outcomes).toMatchObject([
      { result: 'built', builds: [{ number: 4 }] },
    ])
    await app.db.deleteFrom('builds').where('id', '=', canceled.id).execute()
    await send(pipeline, 'push', {
      ref: 'refs/heads/main',
      after: commitOf('other'),
      head_commit: { message: '[skip ci]' },
    })
    expect((await send(pipeline, 'check_run', again(run))).body.outcomes).toMatchObject([
      { result: 'built', builds: [{ number: 5 }] },
    ])
    expect(await buildsOf(pipeline)).toMatchObject([
      { number: 1 },
      { number: 2, commit: commitOf('head'), rebuilt_from: { number: 1 } },
      { number: 4, commit: commitOf('other'), rebuilt_from: { number: 3 } },
      { number: 5, commit: commitOf('other'), branch: 'main', rebuilt_from: null },
    ])
  })

  it('is left alone by events of other Apps, pipelines, repositories, buttons and signatures', async () => {
    const pipeline = await aChecked()
    const build = await anEnded(pipeline, 1)
    const run = await published()
    const other = await aChecked()
    const elsewhere = { full_name: 'acme/other', clone_url: 'https://github.com/acme/other.git' }
    const said = async (to: { id: string }, payload: object) =>
      (await send(to, 'check_run', payload)).body.message
    expect(await said(pipeline, again({ ...run, app: { id: 1 } }))).toMatch(/another App/)
    expect(await said(pipeline, again({ ...run, app: null, check_suite: {} }))).toMatch(/another App/)
    expect(await said(other, again({ ...run, external_id: 'lint-7' }))).toMatch(/not of this pipeline/)
    expect(await said(other, { ...again(run), repository: elsewhere })).toMatch(/another repository/)
    expect(await said(pipeline, { ...again(run), repository: elsewhere })).toMatch(/another repository/)
    const action = { action: 'requested_action', requested_action: { identifier: 'fix' }, check_run: run }
    expect(await said(pipeline, action)).toMatch(/makes no builds/)
    const forged = await deliver(app, pipeline, githubEvent('check_run', again(run)), { secret: 'guessed' })
    expect(forged.status).toBe(401)
    expect(await states(build)).toEqual(['failed', 'passed'])
    expect([await buildsOf(pipeline), await buildsOf(other)].flat()).toHaveLength(1)
  })

  it('may be announced at the address of another pipeline of the organization, as an App has only one', async () => {
    const [pipeline, other] = [await aChecked(), await aChecked()]
    const build = await anEnded(pipeline, 1)
    const answer = await send(other, 'check_run', again(await published()))
    expect(answer.body.outcomes).toMatchObject([{ builds: [{ id: build.id, number: 1 }] }])
    expect(answer.body.outcomes[0].builds[0].web_url).toContain(`/${pipeline.slug}/builds/1`)
    expect(await states(build)).toEqual(['scheduled', 'passed'])
    expect(await buildsOf(other)).toEqual([])
  })

  it('is retried in every pipeline of the repository when all checks of the commit are', async () => {
    const [pipeline, other, elsewhere] = [await aChecked(), await aChecked(), await aChecked()]
    const repository = 'git@github.com:acme/other.git'
    await app.db.updateTable('pipelines').set({ repository }).where('id', '=', elsewhere.id).execute()
    const [one, two, third] = [
      await anEnded(pipeline, 1),
      await anEnded(other, 1),
      await anEnded(elsewhere, 1),
    ]
    await published()
    const suite = { head_sha: commitOf('head'), head_branch: 'main', app: { id: Number(host.appId) } }
    const answer = await send(pipeline, 'check_suite', { action: 'rerequested', check_suite: suite })
    expect(answer.text.match(/"result":"built"/g)).toHaveLength(2)
    expect(answer.body.message).toMatch(/about another repository/)
    expect([await states(one), await states(two), await states(third)]).toEqual([
      ['scheduled', 'passed'],
      ['scheduled', 'passed'],
      ['failed', 'passed'],
    ])
  })

  it('is not retried through another pipeline without a secret, nor through another organization', async () => {
    const pipeline = await aChecked()
    const build = await anEnded(pipeline, 1)
    const run = await published()
    const stranger = await anOrganization(app)
    const theirs = await aPipeline(app, stranger, 'steps: []', {
      repository: 'git@github.com:acme/app.git',
    })
    await send(theirs, 'check_run', again(run))
    await app.db
      .updateTable('repository_connections')
      .set({ webhook_secret_sealed: null, webhook_secret_key_id: null })
      .where('organization_id', '=', org.id)
      .execute()
    const answer = await send(await aChecked(), 'check_run', again(run))
    expect(answer.body.message).toBe('The check is of another pipeline.')
    expect(await states(build)).toEqual(['failed', 'passed'])
  })

  it('is not built again while its build runs', async () => {
    const pipeline = await aChecked()
    const build = await aBuild(app, org, pipeline, { commit: commitOf('head') })
    await runJob(app, build, 'a', 1)
    const run = await published()
    await send(pipeline, 'check_run', again(run))
    expect((await send(pipeline, 'check_run', again(run))).body.message).toBe('Build #1 has not ended.')
  })
})
