import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startApp, useOwnApp, type Json, type TestApp } from '../../../../test/app.ts'
import {
  aCluster,
  anAdmin,
  anOrganization,
  aPipeline,
  auditTrail,
  unique,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { reportDue, updateAll } from '../../../../test/commit-statuses.ts'
import { commitOf } from '../../../../test/deliveries.ts'
import { aGitHub, anAppKey, type AppKey, type GitHubHost } from '../../../../test/remote-hosts/github-host.ts'
import { pollDue } from '../../../../test/polls.ts'
import { aBuild, runJob, startJob } from '../../../../test/runs.ts'
import { outboundClient } from '../../../lib/outbound.ts'

const app = useOwnApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })

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
  return () => host.close()
})

const call = (method: string, id = '', body?: object, on: TestApp = app) =>
  on.request(method, `${org.path}/repository_connections${id === '' ? '' : `/${id}`}`, {
    token: admin.token,
    ...(body === undefined ? {} : { body }),
  })

const anApp = (given: object = {}) => ({
  type: 'github_app',
  api_url: host.url,
  app_id: host.appId,
  installation_id: host.installation,
  private_key: key.pem,
  ...given,
})

async function connect(given: object = {}): Promise<string> {
  const made = await call('POST', '', anApp(given))
  if (made.status !== 201) throw new Error(made.text)
  return String(made.body.id)
}

const aPublished = (steps = 'steps: [{ command: a }]', given: object = {}) =>
  aPipeline(app, org, steps, { repository: 'git@github.com:acme/app.git', ...given })

const build = (pipeline: { id: string }, commit = 'head') =>
  aBuild(app, org, pipeline, { commit: commitOf(commit) })

async function publish(ctx = app.ctx) {
  await updateAll(app.ctx)
  await reportDue(ctx)
}

const after = (seconds: number, ctx = app.ctx) => ({
  ...ctx,
  now: () => new Date(Date.now() + seconds * 1000),
})

describe('POST /organizations/{org.slug}/repository_connections, of a GitHub App', () => {
  it('answers 201 with the fingerprint of the key in place of the key', async () => {
    const { status, body, text } = await call('POST', '', anApp({ app_id: 123456, installation_id: 7890 }))
    expect([status, body]).toMatchObject([
      201,
      {
        type: 'github_app',
        display_name: 'GitHub App at github.com',
        url: 'https://github.com',
        repository_host: 'github.com',
        app_id: '123456',
        installation_id: '7890',
        private_key: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}=$/),
        token: null,
      },
    ])
    expect(text).not.toContain('PRIVATE KEY')
    expect((await call('GET', String(body.id))).body).toEqual(body)
  })

  it('keeps the key sealed, and out of the audit events and the log', async () => {
    const id = await connect()
    const row = await app.db
      .selectFrom('repository_connections')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row.private_key_sealed?.includes('PRIVATE KEY')).toBe(false)
    expect(app.ctx.keys.open(row.private_key_sealed ?? Buffer.of(), row.private_key_id ?? '')).toBe(
      key.pem.trim(),
    )
    const [event] = await auditTrail(app, org, 'SCM_REPOSITORY_HOST_CREATED')
    expect(event).toMatchObject({
      subject: { uuid: id },
      data: { type: 'github_app', app_id: '123456', installation_id: '7890' },
    })
    const body = key.pem.split('\n')[3] ?? 'nothing'
    expect(JSON.stringify(event) + app.logLines.join('')).not.toContain(body)
  })

  it('takes a key on one line, and an App at a GitHub of your own', async () => {
    const url = `https://${unique('ghe')}.example.com`
    const pipeline = await aPipeline(app, org, 'steps: []', { repository: `${url}/acme/app.git` })
    const { status, body } = await call('POST', '', {
      ...anApp({ type: 'github_enterprise_app', url, private_key: key.pem.replaceAll('\n', '\\n') }),
      api_url: null,
    })
    expect([status, body.api_url, body.repository_host]).toEqual([
      201,
      `${url}/api/v3`,
      new URL(url).hostname,
    ])
    const shown = await app.request('GET', pipeline.path, { token: admin.token })
    expect(shown.body.provider).toMatchObject({
      id: 'github_enterprise',
      settings: { github_workflow_access_tokens_enabled: false },
    })
  })

  const ec =
    '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIGbHkfS2f6Cj6X4cUQaP4y3kQ4eS3uGq4cK0v8uQm6poAoGCCqGSM49\nAwEHoUQDQgAEMrPZ\n-----END EC PRIVATE KEY-----'
  it.each([
    [{ private_key: undefined }, 'private_key is required for a GitHub App'],
    [{ app_id: '' }, 'app_id is required for a GitHub App'],
    [{ installation_id: null }, 'installation_id is required for a GitHub App'],
    [{ installation_id: 'abc' }, 'installation_id must be the number at the end'],
    [{ app_id: '../x' }, 'app_id must be the App ID or the client ID'],
    [{ installation_id: -1 }, 'installation_id must be at least 1'],
    [{ token: 'ghp_abc' }, 'token is of no use: a GitHub App makes its own'],
    [{ type: 'github' }, 'app_id is of a GitHub App; type must be'],
    [{ url: 'https://ghe.example.com' }, 'type must be github_enterprise_app for an App at ghe.example.com'],
    [{ type: 'github_enterprise_app', url: 'https://github.com' }, 'type must be github_app for an App at'],
    [{ private_key: 'hunter2-hunter2' }, 'private_key cannot be read: it must be the whole of the .pem file'],
    [{ private_key: ec }, 'private_key '],
    [
      { private_key: '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----' },
      'private_key is a public key',
    ],
    [
      { private_key: '-----BEGIN ENCRYPTED PRIVATE KEY-----\nhunter2\n-----END ENCRYPTED PRIVATE KEY-----' },
      'private_key is encrypted; decrypt it first',
    ],
  ])('answers 422, and repeats nothing of the key: %#', async (given, reason) => {
    const answer = await call('POST', '', anApp(given))
    expect([answer.status, answer.body.message]).toEqual([
      422,
      expect.stringContaining(`Validation failed: ${reason}`),
    ])
    expect(answer.text + app.logLines.join('')).not.toContain('hunter2')
  })
})

describe('PATCH /organizations/{org.slug}/repository_connections/{id}, of a GitHub App', () => {
  it('keeps a key that comes back as its fingerprint, and takes another', async () => {
    const id = await connect()
    const before = (await call('GET', id)).body
    const { private_key, app_id, installation_id, url, api_url } = before
    const same = await call('PATCH', id, { private_key, app_id, installation_id, url, api_url })
    expect([same.status, same.body]).toEqual([200, before])
    const other = anAppKey()
    const changed = await call('PUT', id, { private_key: other.pem })
    expect(changed.body.private_key).not.toBe(private_key)
    expect((await auditTrail(app, org, 'SCM_REPOSITORY_HOST_UPDATED')).at(-1)?.data).toEqual({
      private_key_changed: true,
    })
    expect((await call('PATCH', id, { private_key: null })).body.message).toMatch(/private_key is required/)
  })

  it('does not have the key sign for another address than it was given for', async () => {
    const id = await connect()
    const answer = await call('PATCH', id, { api_url: 'https://evil.example.com' })
    expect([answer.status, answer.body.message]).toEqual([
      422,
      expect.stringMatching(/private_key is required when the address/),
    ])
  })
})

describe('a commit status by a GitHub App', () => {
  it('goes with a token for its repository that may write statuses, and nothing else', async () => {
    await connect()
    const pipeline = await aPublished()
    const one = await build(pipeline)
    await publish()
    await runJob(app, one, 'a')
    await publish()
    expect(host.minted).toMatchObject([{ repositories: ['app'], permissions: { statuses: 'write' } }])
    expect(host.done(/\/statuses\//).map(({ body }) => body['state'])).toEqual(['pending', 'success'])
    expect(app.logLines.join('')).not.toContain('ghs_')
  })

  it('comes as a check with a token that may write checks', async () => {
    await connect()
    const pipeline = await aPublished('notify: [github_check]\nsteps: [{ command: a }]', {
      provider_settings: JSON.stringify({ publish_commit_status: false }),
    })
    await runJob(app, await build(pipeline), 'a')
    await publish()
    expect(host.minted.map(({ permissions }) => permissions)).toEqual([{ checks: 'write' }])
    expect(host.done(/check-runs/)).toMatchObject([{ body: { status: 'completed', conclusion: 'success' } }])
  })

  it('uses a token until ten minutes before its end, and then another', async () => {
    await connect()
    const pipeline = await aPublished()
    const reportAfter = async (seconds: number, commit: string) => {
      await build(pipeline, commit)
      host.now = () => Date.now() + seconds * 1000
      await publish(after(seconds))
    }
    await reportAfter(0, 'one')
    await reportAfter(49 * 60, 'two')
    expect(host.minted).toHaveLength(1)
    await reportAfter(51 * 60, 'three')
    expect(host.minted).toHaveLength(2)
    await reportAfter(3 * 3600, 'four')
    expect(host.minted).toHaveLength(3)
    expect(host.done(/\/statuses\//)).toHaveLength(4)
  })

  it('has one token made, however many need it at once', async () => {
    await connect()
    const pipeline = await aPublished()
    for (const name of ['a', 'b', 'c', 'd']) await build(pipeline, name)
    await publish()
    expect([host.minted.length, host.done(/\/statuses\//).length]).toEqual([1, 4])
  })

  it('asks for another token when the host does not take the one it has', async () => {
    await connect()
    const pipeline = await aPublished()
    const one = await build(pipeline)
    await publish()
    host.revoke()
    await runJob(app, one, 'a')
    await publish()
    await publish(after(30))
    expect([host.minted.length, host.done(/\/statuses\//).length]).toEqual([2, 2])
  })

  const hang = () => {}
  it.each([
    ['401', { keys: [] }, /answered 401 \(is 123456 the id of the App that private_key belongs to/],
    ['403', { isSuspended: true }, /answered 403 \(is installation 7890 suspended\?\): This installation/],
    ['404', { installation: '1' }, /answered 404 \(App 123456 has no installation 7890; was it removed\?\)/],
    ['422', { repositories: ['other'] }, /answered 422 \(the installation does not include acme\/app/],
    ['422', { permissions: { contents: 'read' } }, /answered 422 .*permissions requested/],
    [
      '500',
      {
        trouble: (response: { writeHead(status: number): { end(): void } }) => response.writeHead(500).end(),
      },
      /answered 500/,
    ],
    [
      'no token',
      {
        trouble: (response: { writeHead(s: number): { end(t: string): void } }) =>
          response.writeHead(201).end('{}'),
      },
      /something that is not a token/,
    ],
    ['a hang', { trouble: hang }, /No token could be got from the host. No answer within 0.3 seconds/],
    ['another account', { account: 'evil' }, /installed in another account than that of acme\/app/],
  ])('says what is wrong at %s, and goes out when it is mended', async (name, wrong, reason) => {
    const id = await connect()
    const right = Object.fromEntries(
      Object.keys(wrong).map((field) => [field, Reflect.get(host, field) as unknown]),
    )
    Object.assign(host, wrong)
    const patience = name === 'a hang' ? { timeoutMs: 300 } : {}
    const outbound = outboundClient({ allow: '127.0.0.0/8', ...patience })
    const pipeline = await aPublished()
    const one = await build(pipeline)
    await publish({ ...app.ctx, outbound })
    await outbound.close()
    const listed = async (): Promise<Json> => {
      const path = `${pipeline.path}/builds/${one.number}/commit-statuses`
      return (await app.request('GET', path, { token: admin.token })).list[0] ?? {}
    }
    expect(await listed()).toMatchObject({ delivered_at: null, error: expect.stringMatching(reason) })
    expect((await call('GET', id)).body.problem).toMatch(reason)
    Object.assign(host, right)
    await publish(after(30))
    expect(await listed()).toMatchObject({ delivered_at: expect.any(String), error: null })
    expect((await call('GET', id)).body.problem).toBeNull()
  })

  it('waits as long as the host asks for', async () => {
    await connect()
    host.trouble = (response) => response.writeHead(403, { 'Retry-After': '1200' }).end()
    const pipeline = await aPublished()
    await build(pipeline)
    await publish()
    await publish(after(600))
    expect(host.requests).toHaveLength(1)
    host.trouble = null
    host.now = () => Date.now() + 1_220_000
    await publish(after(1220))
    expect(host.done(/\/statuses\//)).toHaveLength(1)
  })

  it('is signed with the new key by every replica, as soon as it is there', async () => {
    const id = await connect()
    const pipeline = await aPublished()
    const one = await build(pipeline)
    const replica = await startApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } }, app.database)
    try {
      await publish(replica.ctx)
      const next = anAppKey()
      await call('PATCH', id, { private_key: next.pem })
      // With the old key go the tokens that were made with it, here as at GitHub.
      host.keys = [next.publicKey]
      host.revoke()
      await startJob(app, one, 'a')
      await publish(replica.ctx)
    } finally {
      await replica.close()
    }
    expect(host.done(/\/statuses\//).map(({ token }) => token)).toEqual(host.minted.map(({ token }) => token))
    expect(host.minted).toHaveLength(2)
  })

  it('does not go out through a connection that is gone', async () => {
    const id = await connect()
    const pipeline = await aPublished()
    const one = await build(pipeline)
    await publish()
    await runJob(app, one, 'a')
    await updateAll(app.ctx)
    await call('DELETE', id)
    await reportDue(app.ctx)
    expect(host.done(/\/statuses\//)).toHaveLength(1)
  })

  it('of another organization has nothing to do with it', async () => {
    await connect()
    const theirs = await anOrganization(app)
    const pipeline = await aPipeline(app, theirs, 'steps: [{ command: a }]', {
      repository: 'git@github.com:acme/app.git',
    })
    await aBuild(app, theirs, pipeline, { commit: commitOf('head') })
    await publish()
    expect(host.requests).toEqual([])
  })

  it('does not reach an address inside the network, unless the operator allows it', async () => {
    const id = await connect()
    await build(await aPublished())
    const strict = await startApp({}, app.database)
    try {
      await publish(strict.ctx)
    } finally {
      await strict.close()
    }
    expect(host.requests).toEqual([])
    expect((await call('GET', id)).body.problem).toMatch(/MILLRACE_OUTBOUND_ALLOW/)
  })
})

describe('a GitHub App', () => {
  it('creates webhooks with a token that may, and says why it cannot', async () => {
    await connect()
    await aCluster(app, org, admin)
    const body = {
      name: unique('p'),
      repository: 'https://github.com/acme/app',
      configuration: 'steps: []',
    }
    const made = await app.request('POST', `${org.path}/pipelines`, { token: admin.token, body })
    const create = () =>
      app.request('POST', `${org.path}/pipelines/${String(made.body.slug)}/webhook`, { token: admin.token })
    expect((await create()).status).toBe(201)
    expect(host.minted).toMatchObject([{ repositories: ['app'], permissions: { repository_hooks: 'write' } }])
    await app.db.updateTable('pipelines').set({ repository: 'https://github.com/acme/gone' }).execute()
    expect((await create()).body.message).toMatch(/could not be created.*does not include acme\/gone/)
  })

  it('has repositories polled with a token that may read them', async () => {
    // No repository answers here; the test looks at the request for a token before it.
    await connect({ type: 'github_enterprise_app', url: 'https://127.0.0.1:1' })
    const address = (name: string) => `https://127.0.0.1:1/acme/${name}.git`
    const pipeline = await aPublished('steps: []', { repository: address('gone'), poll_interval_seconds: 30 })
    const pollError = async () =>
      (await app.request('GET', pipeline.path, { token: admin.token })).body.poll_error
    await pollDue(app.ctx)
    expect(await pollError()).toMatch(/does not include acme\/gone/)
    const body = { repository: address('app') }
    await app.request('PATCH', pipeline.path, { token: admin.token, body })
    await pollDue(after(40))
    expect(host.minted).toMatchObject([{ repositories: ['app'], permissions: { contents: 'read' } }])
    expect(await pollError()).not.toMatch(/does not include|ghs_/)
  })
})
