import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  auditTrail,
  unique,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { aReceiver, type Answering, type Receiver } from '../../../../test/remote-hosts/receiver.ts'

const app = useApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })

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

/** A host that has these webhooks, and answers changes like this. */
const answerWith =
  (status: number, answer: object, list: readonly object[] = [], type = 'gitea'): Answering =>
  (response, { method }) => {
    const body = type === 'bitbucket' ? { values: list } : list
    response.writeHead(method === 'GET' ? 200 : status).end(JSON.stringify(method === 'GET' ? body : answer))
  }

/** One webhook, as the host shows it. */
function shown(type: string, id: string | number, url: string): object {
  if (type === 'gitlab')
    return { id, url, push_events: true, tag_push_events: true, merge_requests_events: true }
  const [active, events] = [true, ['*']]
  return type === 'bitbucket' ? { uuid: id, url, active, events } : { id, active, events, config: { url } }
}

const ownSecret = expect.stringMatching(/^[0-9a-f]{64}$/)

const changes = () => host.received.filter(({ method }) => method !== 'GET')

async function aConnected(type: string) {
  const name = `${unique(type)}.example.com`
  const connection = {
    type,
    url: `https://${name}`,
    api_url: host.url.replace('/hook', ''),
    token: 'the-token-of-the-host',
    webhook_secret: 'the secret',
  }
  await app.request('POST', `${org.path}/repository_connections`, { token: admin.token, body: connection })
  const body = { name: unique('p'), repository: `git@${name}:acme/app.git`, configuration: 'steps: []' }
  const made = await app.request('POST', `${org.path}/pipelines`, { token: admin.token, body })
  host.received.length = 0
  host.answering = answerWith(201, {})
  const url = String(made.body.provider?.webhook_url)
  const path = `${org.path}/pipelines/${String(made.body.slug)}`
  const create = (token = admin.token) => app.request('POST', `${path}/webhook`, { token })
  const remove = (token = admin.token) => app.request('DELETE', `${path}/webhook`, { token })
  const show = () => app.request('GET', path, { token: admin.token })
  const move = (repository: string) =>
    app.request('PATCH', path, { token: admin.token, body: { repository } })
  return { name, url, create, remove, show, move }
}

describe('POST /v2/organizations/{org.slug}/pipelines/{slug}/webhook', () => {
  it.each([
    ['github', '/repos/acme/app/hooks', 'config'],
    ['gitea', '/repos/acme/app/hooks', 'config'],
    ['gitlab', '/projects/acme%2Fapp/hooks', null],
    ['bitbucket', '/repositories/acme/app/hooks', null],
  ])('creates it at %s, with the address and a secret of its own', async (type, path, inside) => {
    const { url, create } = await aConnected(type)
    host.answering = answerWith(201, {}, [], type)
    const answer = await create()
    expect([answer.status, answer.body.provider?.webhook_url]).toEqual([201, url])
    const [received] = changes()
    expect([received?.method, received?.path]).toEqual(['POST', path])
    const sent = inside === null ? received?.body : received?.body[inside]
    expect(sent).toMatchObject(type === 'gitlab' ? { url, token: ownSecret } : { url, secret: ownSecret })
    expect((await auditTrail(app, org, 'PIPELINE_UPDATED')).at(-1)).toMatchObject({
      data: { webhook_created: true },
    })
  })

  it.each([
    ['github', { id: 17 }, 'POST', '/repos/acme/app/hooks/17/pings'],
    ['gitea', { id: 18 }, 'POST', '/repos/acme/app/hooks/18/tests'],
    ['forgejo', { id: 18 }, 'POST', '/repos/acme/app/hooks/18/tests'],
    ['gitlab', { id: 19 }, 'POST', '/projects/acme%2Fapp/hooks/19/test/push_events'],
    ['bitbucket', { uuid: '{a-b}' }, 'POST', '/repositories/acme/app/hooks'],
  ])('has %s send its test, if it has one', async (type, hook, method, path) => {
    const { url, create } = await aConnected(type)
    const made = shown(type, 'id' in hook ? hook.id : hook.uuid, url)
    host.answering = answerWith(201, made, [], type)
    expect((await create()).status).toBe(201)
    const last = changes().at(-1)
    expect([last?.method, last?.path]).toEqual([method, path])
  })

  it.each([
    ['github', 17, 'PATCH', '/repos/acme/app/hooks/17'],
    ['gitea', 18, 'PATCH', '/repos/acme/app/hooks/18'],
    ['gitlab', 19, 'PUT', '/projects/acme%2Fapp/hooks/19'],
    ['bitbucket', '{a-b}', 'PUT', '/repositories/acme/app/hooks/%7Ba-b%7D'],
  ])('takes over the webhook that %s has with the address', async (type, id, method, path) => {
    const { url, create } = await aConnected(type)
    const old = shown(type, id, `https://old.example.com${new URL(url).pathname}`)
    const list = [shown(type, 1, 'https://elsewhere.example.com/deliver/1'), old]
    host.answering = answerWith(200, shown(type, id, url), list, type)
    const answer = await create()
    expect([answer.status, answer.body.provider?.webhook_id]).toEqual([201, String(id)])
    const [updated] = changes()
    expect([updated?.method, updated?.path]).toEqual([method, path])
    expect(JSON.stringify(updated?.body)).toContain(url)
    expect(JSON.stringify(updated?.body)).toMatch(/"[0-9a-f]{64}"/)
    expect(JSON.stringify(updated?.body)).not.toContain('the secret')
  })

  it('creates one again that the host no longer has', async () => {
    const { url, create } = await aConnected('gitea')
    host.answering = answerWith(201, shown('gitea', 1, url))
    expect((await create()).body.provider?.webhook_id).toBe('1')
    host.answering = answerWith(201, shown('gitea', 2, url))
    expect((await create()).body.provider?.webhook_id).toBe('2')
  })

  it.each([
    [401, /^Gitea answered 401: the token is wrong or has expired\. Give the connection another one\.$/],
    [403, /^Gitea answered 403: .* webhooks of acme\/app\. It needs the scope write:repository, /],
    [404, /^Gitea answered 404: the token sees no acme\/app, .* It needs the scope write:repository, /],
    [429, /^Gitea is asked too often\. Try again later\.$/],
    [500, /^The host answered 500: \{\}$/],
  ])('says what to do when the host answers %i', async (status, reason) => {
    const { create } = await aConnected('gitea')
    host.answering = answerWith(status, {})
    const { status: answered, body } = await create()
    const before = 'Webhooks could not be created for your repository. '
    expect([answered, String(body.message).slice(0, before.length)]).toEqual([422, before])
    const said = String(body.message).slice(before.length)
    expect(said).toMatch(reason)
  })

  it('does not ask for a repository whose name could be another address', async () => {
    const { create, move, name } = await aConnected('gitea')
    await move(`https://${name}/acme/../../user`)
    expect((await create()).status).toBe(422)
    expect(host.received).toEqual([])
  })

  it('answers 403 to members: the token is of the organization', async () => {
    const { create } = await aConnected('gitea')
    expect((await create((await aMember(app, org)).token)).status).toBe(403)
    expect(host.received).toEqual([])
  })
})

describe('DELETE /v2/organizations/{org.slug}/pipelines/{slug}/webhook', () => {
  it.each([
    ['github', { id: 17 }, '/repos/acme/app/hooks/17'],
    ['gitea', { id: 18 }, '/repos/acme/app/hooks/18'],
    ['gitlab', { id: 19 }, '/projects/acme%2Fapp/hooks/19'],
    ['bitbucket', { uuid: '{a-b}' }, '/repositories/acme/app/hooks/%7Ba-b%7D'],
  ])('deletes it at %s', async (type, hook, path) => {
    const { url, create, remove, show } = await aConnected(type)
    const made = shown(type, 'id' in hook ? hook.id : hook.uuid, url)
    host.answering = answerWith(201, made, [], type)
    const id = String('id' in hook ? hook.id : hook.uuid)
    expect((await create()).body.provider).toMatchObject({ webhook_id: id })
    host.answering = answerWith(201, made, [made], type)
    expect(await create()).toMatchObject({
      status: 422,
      body: {
        message:
          'Webhooks could not be created for your repository. A webhook already exists for this repository.',
      },
    })
    host.answering = (response) => response.writeHead(204).end()
    expect((await remove()).status).toBe(204)
    expect(host.received.map(({ method, path: to }) => [method, to]).at(-1)).toEqual(['DELETE', path])
    expect((await show()).body.provider).toMatchObject({ webhook_id: null })
    expect(await remove()).toMatchObject({ status: 404, body: { message: 'No webhook found' } })
    expect((await auditTrail(app, org, 'PIPELINE_UPDATED')).at(-1)).toMatchObject({
      data: { webhook_created: false },
    })
  })

  it('deletes the webhook of the repository that it was created for', async () => {
    const { name, url, create, remove, show, move } = await aConnected('gitea')
    host.answering = answerWith(201, shown('gitea', 1, url))
    await create()
    await move(`git@${name}:acme/other.git`)
    expect((await show()).body.provider).toMatchObject({ webhook_id: null })
    host.answering = (response) => response.writeHead(404).end()
    expect((await remove()).status).toBe(204)
    expect(host.received.at(-1)?.path).toBe('/repos/acme/app/hooks/1')
  })

  it('answers 422 when the host refuses, and 403 to members', async () => {
    const { url, create, remove } = await aConnected('gitea')
    host.answering = answerWith(201, shown('gitea', 1, url))
    await create()
    expect((await remove((await aMember(app, org)).token)).status).toBe(403)
    host.answering = (response) => response.writeHead(500).end()
    expect(await remove()).toMatchObject({
      status: 422,
      body: { message: 'The webhook of your repository could not be deleted. The host answered 500.' },
    })
  })
})
