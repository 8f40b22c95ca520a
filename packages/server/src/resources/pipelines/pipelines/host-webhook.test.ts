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
import { aReceiver, type Receiver } from '../../../../test/remote-hosts/receiver.ts'

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
  host.answering = null
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
  ])('creates it at %s, with the address and the secret', async (type, path, inside) => {
    const { url, create } = await aConnected(type)
    const answer = await create()
    expect([answer.status, answer.body.provider?.webhook_url]).toEqual([201, url])
    const [received] = host.received
    expect([received?.method, received?.path]).toEqual(['POST', path])
    const sent = inside === null ? received?.body : received?.body[inside]
    expect(sent).toMatchObject(
      type === 'gitlab' ? { url, token: 'the secret' } : { url, secret: 'the secret' },
    )
    expect((await auditTrail(app, org, 'PIPELINE_UPDATED')).at(-1)).toMatchObject({
      data: { webhook_created: true },
    })
  })

  it('answers 422 when the host refuses', async () => {
    const { create } = await aConnected('gitea')
    host.answering = (response) => response.writeHead(404).end()
    expect(await create()).toMatchObject({
      status: 422,
      body: { message: 'Webhooks could not be created for your repository. The host answered 404.' },
    })
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
    const { create, remove, show } = await aConnected(type)
    host.answering = (response) => response.writeHead(201).end(JSON.stringify(hook))
    const id = String('id' in hook ? hook.id : hook.uuid)
    expect((await create()).body.provider).toMatchObject({ webhook_id: id })
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
    const { name, create, remove, show, move } = await aConnected('gitea')
    host.answering = (response) => response.writeHead(201).end('{"id":1}')
    await create()
    await move(`git@${name}:acme/other.git`)
    expect((await show()).body.provider).toMatchObject({ webhook_id: null })
    host.answering = (response) => response.writeHead(404).end()
    expect((await remove()).status).toBe(204)
    expect(host.received.at(-1)?.path).toBe('/repos/acme/app/hooks/1')
  })

  it('answers 422 when the host refuses, and 403 to members', async () => {
    const { create, remove } = await aConnected('gitea')
    host.answering = (response) => response.writeHead(201).end('{"id":1}')
    await create()
    expect((await remove((await aMember(app, org)).token)).status).toBe(403)
    host.answering = (response) => response.writeHead(500).end()
    expect(await remove()).toMatchObject({
      status: 422,
      body: { message: 'The webhook of your repository could not be deleted. The host answered 500.' },
    })
  })
})
