import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startApp, useOwnApp, type TestApp } from '../../../test/app.ts'
import { anAgent, anAgentWorld, call, type AgentWorld, type TestRun } from '../../../test/agent-client.ts'
import { aPipeline, auditTrail } from '../../../test/builders.ts'
import { commitOf } from '../../../test/deliveries.ts'
import { aGitHub, anAppKey, type AppKey, type GitHubHost } from '../../../test/remote-hosts/github-host.ts'
import { aBuild } from '../../../test/runs.ts'
import type { BuildRequest } from '../../conductor/build.ts'

const env = { MILLRACE_PING_HOLD_SECONDS: '0', MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' }
const app = useOwnApp({ env })
const commit = commitOf('head')

let host: GitHubHost
let key: AppKey
beforeAll(() => {
  key = anAppKey()
})
beforeEach(async () => {
  host = await aGitHub()
  host.keys = [key.publicKey]
  return () => host.close()
})

interface Given {
  settings?: object
  repository?: string
  isConnected?: boolean
  build?: Partial<BuildRequest>
}

interface Scene {
  world: AgentWorld
  pipelineId: string
  buildId: string
  run: TestRun
  connection: string
}

async function aJob(given: Given = {}): Promise<Scene> {
  const world = await anAgentWorld(app)
  const connection = given.isConnected === false ? '' : await connect(world)
  const pipeline = await aPipeline(app, world.org, 'steps: [{ command: one }]', {
    repository: given.repository ?? 'https://github.com/acme/app.git',
    provider_settings: JSON.stringify(given.settings ?? { github_workflow_access_tokens_enabled: true }),
  })
  const build = await aBuild(app, world.org, pipeline, { commit, ...given.build })
  const run = await (await anAgent(app, world.token)).begin()
  return { world, pipelineId: pipeline.id, buildId: build.id, run, connection }
}

const connections = ({ org }: AgentWorld) => `${org.path}/repository_connections`

async function connect(world: AgentWorld): Promise<string> {
  const body = {
    type: 'github_app',
    api_url: host.url,
    app_id: host.appId,
    installation_id: host.installation,
    private_key: key.pem,
  }
  const made = await app.request('POST', connections(world), { token: world.admin.token, body })
  return String(made.body.id)
}

const setSettings = (pipelineId: string, settings: object) =>
  app.db
    .updateTable('pipelines')
    .set({ provider_settings: JSON.stringify(settings) })
    .where('id', '=', pipelineId)
    .execute()

const change = (id: string, set: Record<string, object | null>) =>
  app.db
    .updateTable('builds')
    .set(Object.fromEntries(Object.entries(set).map(([name, value]) => [name, JSON.stringify(value)])))
    .where('id', '=', id)
    .execute()

describe('POST jobs/{id}/repository_access_token', () => {
  const ask = (run: TestRun, url = 'https://github.com/acme/app.git', path = 'repository_access_token') =>
    run.call('POST', `jobs/${run.id}/${path}`, { body: { repo_url: url } })

  it.each(['repository_access_token', 'github_code_access_token'])(
    'answers %s with a token that reads the repository of the pipeline, and git asks for it',
    async (path) => {
      const { run } = await aJob()
      expect(run.env).toMatchObject({
        BUILDKITE_USE_REPOSITORY_PROVIDER_GIT_CREDENTIALS: 'true',
        BUILDKITE_USE_GITHUB_APP_GIT_CREDENTIALS: 'true',
      })
      const answer = await ask(run, 'https://github.com/Acme/App', path)
      expect(host.minted).toMatchObject([{ repositories: ['app'], permissions: { contents: 'read' } }])
      expect([answer.status, answer.body]).toEqual([200, { token: host.minted[0]?.token }])
      expect(app.logLines.join('')).not.toContain('ghs_')
    },
  )

  it('gives one job the same token again, and no two jobs the same', async () => {
    const one = await aJob()
    await ask(one.run)
    await ask(one.run)
    expect(host.minted).toHaveLength(1)
    await aBuild(app, one.world.org, { id: one.pipelineId }, { commit })
    await ask(await (await anAgent(app, one.world.token)).begin())
    expect(host.minted).toHaveLength(2)
  })

  it('answers 422 for another repository of the same installation, and for another host', async () => {
    const { run } = await aJob()
    for (const url of [
      'https://github.com/acme/other.git',
      'https://github.com/acme/app/../other',
      'https://evil.example.com/acme/app.git',
      'file:///etc/passwd',
    ]) {
      expect((await ask(run, url)).status).toBe(422)
    }
    expect(host.requests).toEqual([])
  })

  it('answers 422 where the App is installed in another account, though that has such a repository', async () => {
    const { run } = await aJob({ repository: 'https://github.com/evil/app.git' })
    const answer = await ask(run, 'https://github.com/evil/app.git')
    expect([answer.status, answer.body.message]).toEqual([422, expect.stringMatching(/another account/)])
  })

  it('answers 422 where no GitHub App is connected, and git does not ask', async () => {
    const { run } = await aJob({ isConnected: false })
    const answer = await ask(run)
    expect([answer.status, String(answer.body.message)]).toEqual([
      422,
      expect.stringContaining('No repository provider'),
    ])
    expect(run.env).not.toHaveProperty('BUILDKITE_USE_REPOSITORY_PROVIDER_GIT_CREDENTIALS')
    const overSsh = await aJob({ repository: 'git@github.com:acme/app.git' })
    expect(overSsh.run.env).not.toHaveProperty('BUILDKITE_USE_REPOSITORY_PROVIDER_GIT_CREDENTIALS')
  })

  it('answers 403 to the token of another job, 401 to none and to that of a job that has ended', async () => {
    const [one, other] = [await aJob(), await aJob()]
    const path = `jobs/${one.run.id}/repository_access_token`
    expect((await other.run.call('POST', path, { body: {} })).status).toBe(403)
    expect((await call(app, null, 'POST', path, { body: {} })).status).toBe(401)
    await one.run.finish()
    expect((await ask(one.run)).status).toBe(401)
    expect(host.minted).toEqual([])
  })

  it('answers 503 where the host is in trouble, and 422 where somebody has to do something', async () => {
    const { run } = await aJob()
    host.trouble = (response) => response.writeHead(502).end()
    const answer = await ask(run)
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5'])
    host.trouble = (response) => response.destroy()
    expect((await ask(run)).status).toBe(503)
    host.trouble = null
    host.isSuspended = true
    expect((await ask(run)).body.message).toMatch(/suspended/)
    host.isSuspended = false
    expect((await ask(run)).status).toBe(200)
  })

  it('issues no token of a connection that is deleted or changed while the host is asked', async () => {
    const [one, moved, other] = [await aJob(), await aJob(), await aJob()]
    const pathOf = ({ world, connection }: Scene) => `${connections(world)}/${connection}`
    const body = { private_key: anAppKey().pem }
    host.beforeToken = () => app.request('PATCH', pathOf(one), { token: one.world.admin.token, body })
    expect((await ask(one.run)).status).toBe(503)
    host.beforeToken = () =>
      app.db
        .updateTable('pipelines')
        .set({ repository: 'https://github.com/acme/other.git' })
        .where('id', '=', moved.pipelineId)
        .execute()
    expect([(await ask(moved.run)).status, (await ask(moved.run)).status]).toEqual([503, 422])
    host.beforeToken = () => app.request('DELETE', pathOf(other), { token: other.world.admin.token })
    expect((await ask(other.run)).status).toBe(503)
    expect((await ask(other.run)).status).toBe(422)
  })
})

describe('POST jobs/{id}/github_workflow_access_token', () => {
  const url = 'https://github.com/acme/app'
  const ask = (run: TestRun, permissions: object = { contents: 'read' }, more: object = {}) =>
    run.call('POST', `jobs/${run.id}/github_workflow_access_token`, {
      body: { repo_url: url, workflow: 'ci.yml', permissions, ...more },
    })
  const workflow = (text: string, of = commit) => host.workflows.set(`ci.yml@${of}`, text)

  it('answers with a token for what the workflow grants at the commit that is built', async () => {
    const { run, world, buildId } = await aJob()
    workflow('permissions: { contents: write, pull-requests: read }')
    const answer = await ask(run, { contents: 'write' })
    const token = host.minted.at(-1)
    expect([answer.status, answer.body]).toEqual([200, { token: token?.token }])
    expect(token).toMatchObject({ repositories: ['app'], permissions: { contents: 'write' } })
    const [event] = await auditTrail(app, world.org, 'GITHUB_WORKFLOW_TOKEN_CREATED')
    expect(event).toMatchObject({
      actor: { type: 'Agent', uuid: run.agent.id },
      data: { job_id: run.id, build_id: buildId, workflow: 'ci.yml', permissions: { contents: 'write' } },
    })
    expect(JSON.stringify(event) + app.logLines.join('')).not.toContain('ghs_')
    // A fresh one each time: what a job does to it is its own affair.
    expect((await ask(run, { contents: 'write' })).body.token).not.toBe(token?.token)
  })

  it('answers 400 where the workflow does not grant it, is not there, or cannot be read', async () => {
    const { run } = await aJob()
    const refusal = async (permissions: object) => {
      const { status, body } = await ask(run, permissions)
      return [status, String(body.message)]
    }
    expect(await refusal({ contents: 'read' })).toEqual([
      400,
      expect.stringMatching(/There is no .*ci.yml at/),
    ])
    workflow('on: push')
    expect(await refusal({ contents: 'write' })).toEqual([
      400,
      expect.stringMatching(/does not grant contents: write/),
    ])
    workflow('permissions: write-all')
    expect(await refusal({ contents: 'read' })).toEqual([
      400,
      expect.stringMatching(/grants nothing: .*write-all/),
    ])
    workflow(`permissions: { contents: write }\n# ${'x'.repeat(600_000)}`)
    expect(await refusal({ contents: 'read' })).toEqual([400, expect.stringMatching(/larger than/)])
    workflow('permissions: { deployments: write }')
    expect(await refusal({ deployments: 'write' })).toEqual([400, expect.stringMatching(/answered 422/)])
    // Permissions at another commit have no effect.
    workflow('permissions: { contents: write }', commitOf('other'))
    workflow('permissions: {}')
    expect((await refusal({ contents: 'read' }))[0]).toBe(400)
    expect(host.minted.every(({ permissions }) => permissions['contents'] === 'read')).toBe(true)
  })

  it('answers 400 to what is malformed, and to another repository', async () => {
    const { run } = await aJob()
    workflow('permissions: { contents: write }')
    for (const more of [
      { workflow: '../../secrets.yml' },
      { permissions: { administration: 'write' } },
      { permissions: [] },
      { repo_url: 'https://github.com/acme/other' },
      { repo_url: 7 },
    ]) {
      expect((await ask(run, undefined, more)).status).toBe(400)
    }
    expect(host.requests).toEqual([])
  })

  it('answers 404 while github_workflow_access_tokens_enabled is off, and where no App is connected', async () => {
    const { run, pipelineId } = await aJob({ settings: {} })
    workflow('on: push')
    const off = await ask(run)
    expect([off.status, off.body.message]).toEqual([
      404,
      expect.stringMatching(/github_workflow_access_tokens_enabled is off/),
    ])
    await setSettings(pipelineId, { github_workflow_access_tokens_enabled: true })
    expect((await ask(run)).status).toBe(200)
    const { run: other } = await aJob({ isConnected: false })
    expect((await ask(other)).body.message).toMatch(/no GitHub App is connected/)
  })

  it('gives out no token when the setting goes off while the host is asked', async () => {
    const { run, pipelineId } = await aJob()
    workflow('on: push')
    host.beforeToken = () => setSettings(pipelineId, {})
    expect((await ask(run)).status).toBe(503)
    expect((await ask(run)).status).toBe(404)
  })

  const pullRequest = { id: '7', base: 'main', repository: null, labels: [], draft: false, fork: false }

  it('gives builds of pull requests the reading of the repository, and no more', async () => {
    const { run, buildId } = await aJob()
    workflow('permissions: { contents: write }')
    await change(buildId, { pull_request: pullRequest })
    expect((await ask(run)).status).toBe(200)
    const answer = await ask(run, { contents: 'write' })
    expect([answer.status, answer.body.message]).toEqual([
      403,
      'Builds of pull requests get contents: read, and not contents: write.',
    ])
  })

  it('gives builds of pull requests from forks none, trusted or not, nor those that come of them', async () => {
    const { run, world, buildId, pipelineId } = await aJob()
    workflow('permissions: { contents: write }')
    const trusting = { github_workflow_access_tokens_enabled: true, trust_pull_request_forks: true }
    await setSettings(pipelineId, trusting)
    await change(buildId, { pull_request: { ...pullRequest, fork: true } })
    expect((await ask(run)).status).toBe(403)
    const origin = await aBuild(app, world.org, { id: pipelineId })
    await change(origin.id, { pull_request: { ...pullRequest, fork: true } })
    await change(buildId, { pull_request: null, triggered_from: { build_id: origin.id } })
    expect((await ask(run)).status).toBe(403)
    await change(buildId, { triggered_from: null, rebuilt_from: { id: origin.id } })
    expect((await ask(run)).status).toBe(403)
    expect(host.requests).toEqual([])
  })

  it('gives builds of a merge queue none', async () => {
    const { run, buildId } = await aJob()
    workflow('on: merge_group')
    await change(buildId, { host_event: { mergeQueue: { baseBranch: 'main', baseCommit: commit } } })
    expect((await ask(run)).body.message).toMatch(/merge queue/)
  })

  it('waits for the commit to be known', async () => {
    const { run } = await aJob({ build: { commit: 'HEAD' } })
    expect((await ask(run)).body.message).toMatch(/commit of the build is not known yet/)
  })

  describe('after ten in an hour', () => {
    let replica: TestApp
    beforeAll(async () => {
      replica = await startApp({ env }, app.database)
    })
    afterAll(() => replica.close())

    it('answers 429, whichever replica is asked, and says when to come again', async () => {
      const { run } = await aJob()
      workflow('on: push')
      const body = { repo_url: url, workflow: 'ci.yml', permissions: { contents: 'read' } }
      const path = `jobs/${run.id}/github_workflow_access_token`
      const answers = await Promise.all(
        Array.from({ length: 14 }, (_, n) => call(n % 2 ? replica : app, run.token, 'POST', path, { body })),
      )
      const refused = answers.filter(({ status }) => status === 429)
      expect([refused.length, answers.filter(({ status }) => status === 200).length]).toEqual([4, 10])
      expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(3500)
      await app.db
        .updateTable('workflow_token_requests')
        .set({ asked_at: [new Date(Date.now() - 3_601_000).toISOString()] })
        .where('job_id', '=', run.id)
        .execute()
      expect((await ask(run)).status).toBe(200)
    })
  })

  it('answers 503 where the host is in trouble', async () => {
    const { run } = await aJob()
    workflow('on: push')
    host.trouble = (response) => response.writeHead(500).end()
    const answer = await ask(run)
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5'])
  })
})
