// The secret that a webhook gets when Millrace creates it at a host, and the deliveries that are signed with it.
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
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
import { aPush, deliver } from '../../../../test/deliveries.ts'
import { aReceiver, type Receiver } from '../../../../test/remote-hosts/receiver.ts'

const app = useApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })

interface Hook {
  id: number
  active: boolean
  events: string[]
  config: { url: string; secret: string }
}

let org: TestOrganization
let admin: TestUser
let host: Receiver
let hooks: Hook[]
/** What the host answers to changes, although it may have made them. */
let answered: number
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
  await aCluster(app, org, admin)
  host = await aReceiver()
})
afterAll(() => host.close())
beforeEach(() => {
  hooks = []
  answered = 201
  host.answering = (response, { method, path, body }) => {
    if (method === 'GET') return response.end(JSON.stringify(hooks))
    const [, id] = /\/hooks\/(\d+)$/.exec(path) ?? []
    const old = hooks.find((hook) => String(hook.id) === id)
    const hook = {
      ...(body as unknown as Hook),
      id: old?.id ?? hooks.length + 1,
      events: ['*'],
      active: true,
    }
    if (method === 'DELETE') hooks = hooks.filter((one) => one !== old)
    else if (old !== undefined) Object.assign(old, hook)
    else if (path.endsWith('/hooks')) hooks.push(hook)
    return response.writeHead(answered).end(JSON.stringify(hook))
  }
})

async function aConnected(more: object = { webhook_secret: 'the secret of all' }) {
  const name = `${unique('gitea')}.example.com`
  const api_url = host.url.replace('/hook', '')
  const ask = (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
    token = admin.token,
  ) => app.request(method, org.path + path, { token, ...(body && { body }) })
  const connection = { type: 'gitea', url: `https://${name}`, api_url, token: 'the-token', ...more }
  expect((await ask('POST', '/repository_connections', connection)).status).toBe(201)
  const repository = `https://${name}/acme/app.git`
  const aPipeline = async () => {
    const body = { name: unique('p'), repository, configuration: 'steps: [{command: a}]' }
    const made = await ask('POST', '/pipelines', body)
    const path = `/pipelines/${String(made.body.slug)}`
    const pipeline = { id: String(made.body.id) }
    return {
      id: pipeline.id,
      path,
      connect: () => ask('POST', `${path}/webhook`),
      disconnect: () => ask('DELETE', `${path}/webhook`),
      rotate: (token = admin.token) => ask('POST', `${path}/webhook/rotate`, undefined, token),
      ownSecretAt: async () =>
        (await ask('GET', `${path}/repository_health`)).body.hook?.own_secret_created_at,
      move: () => ask('PATCH', path, { repository: `https://${name}/acme/other.git` }),
      /** The status of the answer to a push that is signed with it; undefined: that is not signed. */
      push: async (secret?: string) =>
        (await deliver(app, pipeline, aPush('gitea'), secret === undefined ? {} : { secret })).status,
    }
  }
  return { aPipeline }
}

const secretOf = (at = 0) => hooks[at]?.config.secret ?? ''

const stored = async (id: string) =>
  (
    await sql<{
      text: string
    }>`select s::text as text from webhook_secrets s where pipeline_id = ${id}`.execute(app.db)
  ).rows

describe('the webhook that Millrace creates at a host', () => {
  it('has a secret of its own, and no delivery of another pipeline passes for one of it', async () => {
    const { aPipeline } = await aConnected()
    const [one, two] = [await aPipeline(), await aPipeline()]
    expect([await one.push(), await one.push('the secret of all')]).toEqual([401, 200])
    for (const { connect } of [one, two]) expect((await connect()).status).toBe(201)
    const [first, second] = [secretOf(0), secretOf(1)]
    expect([first, second]).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ])
    expect(first).not.toBe(second)
    expect([await one.push(first), await one.push(second), await one.push()]).toEqual([200, 401, 401])
    expect([await two.push(first), await two.push(second)]).toEqual([401, 200])
    // A person may have added another with the secret of the connection.
    expect(await one.push('the secret of all')).toBe(200)
    expect(await one.ownSecretAt()).toEqual(expect.any(String))
    const rows = await stored(one.id)
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(first)
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(first).toString('hex'))
  })

  it('is one whose deliveries must be signed, also where the connection has no secret', async () => {
    const pipeline = await (await aConnected({})).aPipeline()
    expect([await pipeline.push(), await pipeline.ownSecretAt()]).toEqual([200, null])
    await pipeline.connect()
    expect([await pipeline.push(), await pipeline.push(secretOf())]).toEqual([401, 200])
    await pipeline.move()
    expect([await pipeline.push(), await pipeline.ownSecretAt()]).not.toContain(401)
  })

  it('gets one when it is created again, if it was created before there were any', async () => {
    const pipeline = await (await aConnected()).aPipeline()
    await pipeline.connect()
    await sql`delete from webhook_secrets where pipeline_id = ${pipeline.id}`.execute(app.db)
    const before = secretOf()
    expect((await pipeline.connect()).status).toBe(201)
    expect(hooks).toHaveLength(1)
    expect(secretOf()).not.toBe(before)
    expect([await pipeline.push(before), await pipeline.push(secretOf())]).toEqual([401, 200])
    expect((await pipeline.connect()).body.message).toMatch(/already exists/)
  })

  it('loses it when it is deleted', async () => {
    const pipeline = await (await aConnected()).aPipeline()
    await pipeline.connect()
    const secret = secretOf()
    expect((await pipeline.disconnect()).status).toBe(204)
    expect([await pipeline.push(secret), await stored(pipeline.id)]).toEqual([401, []])
  })
})

describe('POST /v2/organizations/{org}/pipelines/{pipeline}/webhook/rotate', () => {
  it('gives it another one at the host, and the old one counts no longer', async () => {
    const pipeline = await (await aConnected()).aPipeline()
    expect((await pipeline.rotate()).body.message).toMatch(/Gitea has no webhook with its address\.$/)
    await pipeline.connect()
    const old = secretOf()
    expect((await pipeline.rotate((await aMember(app, org)).token)).status).toBe(403)
    expect(secretOf()).toBe(old)
    expect((await pipeline.rotate()).status).toBe(200)
    expect([secretOf() === old, await pipeline.push(old), await pipeline.push(secretOf())]).toEqual([
      false,
      401,
      200,
    ])
    expect((await auditTrail(app, org, 'PIPELINE_UPDATED')).at(-1)).toMatchObject({
      data: { webhook_secret_rotated: true },
    })
  })

  it('keeps both while it is not known whether the host took it, and takes the same one next time', async () => {
    const pipeline = await (await aConnected()).aPipeline()
    await pipeline.connect()
    const old = secretOf()
    answered = 500
    expect((await pipeline.rotate()).status).toBe(422)
    const next = secretOf()
    expect([next === old, await pipeline.push(old), await pipeline.push(next)]).toEqual([false, 200, 200])
    answered = 200
    expect((await pipeline.rotate()).status).toBe(200)
    expect(secretOf()).toBe(next)
    expect([await pipeline.push(old), await pipeline.push(next)]).toEqual([401, 200])
    expect(await stored(pipeline.id)).toHaveLength(1)
  })

  it('asks for no signature because of one that the host has refused', async () => {
    const pipeline = await (await aConnected({})).aPipeline()
    answered = 403
    expect((await pipeline.connect()).status).toBe(422)
    expect([await pipeline.push(), await pipeline.ownSecretAt()]).toEqual([200, null])
  })
})
