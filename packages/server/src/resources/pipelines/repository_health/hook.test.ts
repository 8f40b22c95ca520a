import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import {
  aCluster,
  anAdmin,
  anOrganization,
  aToken,
  unique,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { aReceiver, type Receiver } from '../../../../test/remote-hosts/receiver.ts'

let now = new Date('2026-11-19T12:00:00Z')
const app = useApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })
let usual: () => Date
beforeEach(() => {
  usual = app.ctx.now
  app.ctx.now = () => now
})
afterEach(() => (app.ctx.now = usual))
const halfAMinute = () => (now = new Date(now.getTime() + 30_000))

let org: TestOrganization
let admin: TestUser
let host: Receiver
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
  await aCluster(app, org, admin)
  host = await aReceiver()
})
afterAll(() => host.close())

const all = ['push', 'delete', 'pull_request', 'pull_request_sync', 'pull_request_label']

async function aPipeline(type = 'gitea', connected: object = { token: 'the-token', webhook_secret: 's' }) {
  const name = `${unique(type)}.example.com`
  const api_url = host.url.replace('/hook', '')
  const connection = { type, url: `https://${name}`, api_url, ...connected }
  await app.request('POST', `${org.path}/repository_connections`, { token: admin.token, body: connection })
  const body = { name: unique('p'), repository: `https://${name}/acme/app.git`, configuration: 'steps: []' }
  const made = await app.request('POST', `${org.path}/pipelines`, { token: admin.token, body })
  host.received.length = 0
  const url = String(made.body.provider?.webhook_url)
  const path = `${org.path}/pipelines/${String(made.body.slug)}/repository_health`
  const health = async () => (await app.request('GET', path, { token: admin.token })).body.hook
  const test = (token = admin.token) => app.request('POST', `${path}/test`, { token })
  const hook = (changed: object = {}) => ({ id: 5, active: true, events: all, config: { url }, ...changed })
  const answer = (list: unknown, status = 200) =>
    (host.answering = (response, { method }) =>
      response.writeHead(method === 'GET' ? status : 204).end(method === 'GET' ? JSON.stringify(list) : ''))
  return { url, health, test, hook, answer }
}

describe('GET /v2/organizations/{org}/pipelines/{pipeline}/repository_health', () => {
  it('has the webhook as the host shows it', async () => {
    const { url, health, hook, answer } = await aPipeline()
    answer([hook({ id: 4, config: { url: 'https://elsewhere.example.com/x' } }), hook()])
    expect(await health()).toEqual({
      registered: true,
      reason: null,
      events: all,
      url,
      has_secret: true,
      own_secret_created_at: null,
      instructions: expect.stringContaining('Settings → Webhooks'),
      can_test: true,
      checked_at: now.toISOString(),
    })
  })

  it('asks the host again after half a minute', async () => {
    const { health, hook, answer } = await aPipeline()
    answer([hook()])
    await Promise.all([health(), health()])
    answer([])
    expect((await health())?.registered).toBe(true)
    expect(host.received).toHaveLength(1)
    halfAMinute()
    expect(await health()).toMatchObject({
      registered: false,
      reason: 'The repository at Gitea has no such webhook.',
      events: null,
      checked_at: now.toISOString(),
    })
  })

  it('finds it on the second page', async () => {
    const { health, hook } = await aPipeline()
    const link = { Link: '<https://git.example.com/next>; rel="next"' }
    host.answering = (response, { path }) =>
      path.includes('page=2')
        ? response.end(JSON.stringify([hook()]))
        : response.writeHead(200, link).end('[]')
    expect((await health())?.registered).toBe(true)
  })

  it('does not read more than four pages', async () => {
    const { health } = await aPipeline()
    const link = { Link: '<https://git.example.com/next>; rel="next"' }
    host.answering = (response) => response.writeHead(200, link).end('[]')
    expect(await health()).toMatchObject({
      registered: null,
      reason: expect.stringMatching(/more than 200 webhooks/),
    })
    expect(host.received).toHaveLength(4)
  })

  it('says what is wrong with a webhook', async () => {
    const { health, hook, answer } = await aPipeline()
    answer([hook({ active: false })])
    expect(await health()).toMatchObject({
      registered: false,
      reason: 'The webhook is switched off at Gitea.',
    })
    halfAMinute()
    answer([hook({ events: ['push'] })])
    expect(await health()).toMatchObject({
      registered: true,
      reason: 'It does not send these events: delete, pull_request, pull_request_sync, pull_request_label.',
    })
    halfAMinute()
    answer([hook(), hook({ id: 6 })])
    expect(await health()).toMatchObject({
      registered: true,
      reason: 'The repository has 2 webhooks with this address, so each push is delivered 2 times.',
    })
  })

  it.each([
    ['gitea', 403, {}, /It needs the scope write:repository/],
    ['github', 403, {}, /It needs the scope admin:repo_hook/],
    ['gitlab', 403, {}, /It needs the scope api/],
    ['bitbucket', 404, {}, /It needs the scope webhook/],
    ['gitea', 200, { message: 'no list' }, /not a list of webhooks/],
    ['gitea', 500, 'failed', /^The host answered 500: "failed"$/],
  ])('does not know it when %s answers %i', async (type, status, body, reason) => {
    const { health, answer } = await aPipeline(type)
    answer(body, status)
    const hook = await health()
    expect([hook?.registered, hook?.checked_at]).toEqual([null, now.toISOString()])
    expect(hook?.reason).toMatch(reason)
  })

  it('does not know it without a token', async () => {
    const { health } = await aPipeline('gitea', {})
    expect(await health()).toMatchObject({
      registered: null,
      reason: 'No repository connection with a token belongs to its host.',
      has_secret: false,
      can_test: false,
      checked_at: null,
    })
    expect(host.received).toEqual([])
  })
})

describe('POST /v2/organizations/{org}/pipelines/{pipeline}/repository_health/test', () => {
  it('has the host send its test', async () => {
    const { test, hook, answer } = await aPipeline()
    answer([hook()])
    const answered = await test()
    expect([answered.status, answered.body.hook?.registered]).toEqual([200, true])
    expect(host.received.map(({ method, path }) => [method, path])).toContainEqual([
      'POST',
      '/repos/acme/app/hooks/5/tests',
    ])
  })

  it('answers 422 when the webhook is not there, the host has no test, or refuses', async () => {
    const { test, answer } = await aPipeline()
    answer([])
    const before = 'The host could not be asked for its test. '
    expect(await test()).toMatchObject({
      status: 422,
      body: { message: `${before}Gitea has no webhook with its address that is switched on.` },
    })
    const bitbucket = await aPipeline('bitbucket')
    bitbucket.answer({ values: [{ uuid: '{a}', url: bitbucket.url, active: true, events: ['repo:push'] }] })
    expect(await bitbucket.test()).toMatchObject({
      status: 422,
      body: { message: `${before}Bitbucket has no test of webhooks in its API. Push something instead.` },
    })
    const refusing = await aPipeline()
    host.answering = (response, { method }) =>
      response
        .writeHead(method === 'GET' ? 200 : 403)
        .end(method === 'GET' ? JSON.stringify([refusing.hook()]) : '')
    expect(await refusing.test()).toMatchObject({
      status: 422,
      body: { message: expect.stringMatching(/It needs the scope/) },
    })
  })

  it('answers 403 without the scope', async () => {
    const { test } = await aPipeline()
    expect((await test(await aToken(app, admin, { scopes: ['read_pipelines'] }))).status).toBe(403)
    expect(host.received).toEqual([])
  })
})
