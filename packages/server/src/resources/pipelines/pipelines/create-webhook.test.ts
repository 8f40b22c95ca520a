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
  const create = (token = admin.token) =>
    app.request('POST', `${org.path}/pipelines/${String(made.body.slug)}/webhook`, { token })
  return { url, create }
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
