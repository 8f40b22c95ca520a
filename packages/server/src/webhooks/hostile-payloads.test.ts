// Hostile webhook deliveries: without the secret, replayed, or malformed.
import { request as httpRequest } from 'node:http'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import {
  anAdmin,
  anOrganization,
  aPipeline,
  unique,
  type TestOrganization,
  type TestUser,
} from '../../test/builders.ts'
import {
  aGogsPush,
  aPullRequest,
  aPush,
  deliver,
  domains,
  hosts,
  pathAt,
  sign,
  webhookPath,
  type Host,
  type TestDelivery,
} from '../../test/deliveries.ts'

const app = useApp()
const secret = 'the secret of the webhooks'

let org: TestOrganization
let admin: TestUser
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
})

const aPipelineOn = (host: Host) =>
  aPipeline(app, org, 'steps: [{ command: make }]', {
    repository: `https://${domains[host]}/${pathAt(host)}`,
  })

const buildCount = async (pipeline: { id: string }) =>
  (await app.db.selectFrom('builds').select('id').where('pipeline_id', '=', pipeline.id).execute()).length

async function isElsewhere(pipeline: { id: string }, delivery: TestDelivery): Promise<void> {
  const { status, body } = await deliver(app, pipeline, delivery, { secret })
  expect([status, body.message]).toEqual([200, expect.stringMatching(/about another repository/)])
  const { rows } = await sql`
    select id::text from builds where pipeline_id = ${pipeline.id}
    union all select commit from repository_pushes where pipeline_id = ${pipeline.id}
    union all select commit from repository_commits where pipeline_id = ${pipeline.id}
    union all select number from pull_requests where pipeline_id = ${pipeline.id}`.execute(app.db)
  expect(rows).toEqual([])
}

describe('a delivery where the connection has a webhook secret', () => {
  beforeAll(async () => {
    for (const host of hosts) {
      const body = { type: host, url: `https://${domains[host]}`, webhook_secret: secret }
      await app.request('POST', `${org.path}/repository_connections`, { token: admin.token, body })
    }
  })

  it.each(hosts)('from %s is taken in when it is signed', async (host) => {
    const pipeline = await aPipelineOn(host)
    expect((await deliver(app, pipeline, aPush(host), { secret })).status).toBe(200)
    expect(await buildCount(pipeline)).toBe(1)
  })

  it.each(hosts)('from %s is 401 when it is not, or wrongly', async (host) => {
    const pipeline = await aPipelineOn(host)
    const { headers, body } = aPush(host)
    const text = JSON.stringify(body)
    const signature = sign(headers, text, secret)
    const garbled = Object.fromEntries(
      Object.entries(signature).map(([name, value]) => [
        name,
        value.replace(/.$/, (end) => (end === '0' ? '1' : '0')),
      ]),
    )
    const short = Object.fromEntries(Object.keys(signature).map((name) => [name, 'sha256=00']))
    for (const given of [{}, garbled, short, sign(headers, text, 'another secret')]) {
      const answer = await deliver(app, pipeline, { headers: { ...headers, ...given }, body })
      expect([answer.status, answer.body.message]).toEqual([
        401,
        expect.stringMatching(/signature is missing or wrong/),
      ])
    }
    expect(await buildCount(pipeline)).toBe(0)
  })

  it.each(hosts)(
    'from %s with a right signature for another repository builds and stores nothing',
    async (host) => {
      const pipeline = await aPipelineOn(host)
      const repository = 'mallory/app'
      const named = [aPush(host, { repository }), aPullRequest(host, { repository })]
      for (const delivery of named) await isElsewhere(pipeline, delivery)
      expect(await buildCount(pipeline)).toBe(0)
    },
  )

  it('from Gogs with a right signature for another repository builds and stores nothing', async () => {
    const url = 'https://gogs.example.com'
    const body = { type: 'gogs', url, webhook_secret: secret }
    const made = await app.request('POST', `${org.path}/repository_connections`, { token: admin.token, body })
    expect(made.status).toBe(201)
    const pipeline = await aPipeline(app, org, 'steps: [{ command: make }]', {
      repository: `${url}/acme/app.git`,
    })
    expect((await deliver(app, pipeline, aGogsPush())).status).toBe(401)
    await isElsewhere(pipeline, aGogsPush({ repository: 'mallory/app' }))
    expect((await deliver(app, pipeline, aGogsPush(), { secret })).status).toBe(200)
    expect(await buildCount(pipeline)).toBe(1)
  })

  it('needs the secret of the connection of its port, where two hosts have one name', async () => {
    const name = `${unique('git')}.example.com`
    for (const port of [3000, 4000]) {
      const url = `http://${name}:${port}`
      const body = { type: 'gitea', url, webhook_secret: `secret of ${port}` }
      await app.request('POST', `${org.path}/repository_connections`, { token: admin.token, body })
    }
    const statuses = async (repository: string) => {
      const pipeline = await aPipeline(app, org, 'steps: [{ command: make }]', { repository })
      const all = ['secret of 3000', 'secret of 4000'].map((given) =>
        deliver(app, pipeline, aPush('gitea'), { secret: given }),
      )
      return (await Promise.all(all)).map(({ status }) => status)
    }
    expect(await statuses(`http://${name}:3000/acme/app.git`)).toEqual([200, 401])
    expect(await statuses(`http://${name}:4000/acme/app.git`)).toEqual([401, 200])
    // The one that was connected first.
    expect(await statuses(`http://${name}:5000/acme/app.git`)).toEqual([200, 401])
    expect(await statuses(`ssh://git@${name}:2222/acme/app.git`)).toEqual([200, 401])
  })

  it('is judged by its bytes, not by what they mean', async () => {
    const pipeline = await aPipelineOn('github')
    const { headers, body } = aPush('github')
    const text = JSON.stringify(body)
    const respaced = { headers: { ...headers, ...sign(headers, text, secret) }, body: `${text} ` }
    expect((await deliver(app, pipeline, respaced)).status).toBe(401)
  })

  it('cannot avoid the check by pretending to be another host', async () => {
    const pipeline = await aPipelineOn('github')
    const { body } = aPush('github')
    for (const headers of [{}, { 'X-Gitlab-Event': 'Push Hook' }, { 'X-Event-Key': 'repo:push' }]) {
      expect((await deliver(app, pipeline, { headers, body })).status).toBe(401)
    }
  })
})

describe('a payload that is not what it should be', () => {
  const wrong: unknown[] = [
    null,
    12,
    'x',
    true,
    [],
    {},
    [[[]]],
    { a: 1 },
    -1,
    1e300,
    '',
    '-rf',
    'a b',
    '\u0007',
  ]

  /** The payload with one of its values replaced, for every value in it. */
  function* mutations(value: unknown, path: string[] = []): Generator<string[]> {
    if (typeof value !== 'object' || value === null) return
    for (const key of Object.keys(value)) {
      yield [...path, key]
      yield* mutations(Reflect.get(value, key), [...path, key])
    }
  }

  const replaced = (body: object, path: readonly string[], by: unknown): object => {
    const copy = structuredClone(body)
    const holder = path.slice(0, -1).reduce<object>((at, key) => Reflect.get(at, key) as object, copy)
    Reflect.set(holder, path.at(-1) ?? '', by)
    return copy
  }

  it.each(hosts)('is 4xx or understood, and never 5xx: every field of %s', async (host) => {
    const pipeline = await aPipeline(app, await anOrganization(app), 'steps: [{ command: make }]', {
      repository: 'https://elsewhere.example.com/app.git',
    })
    const path = await webhookPath(app, pipeline)
    for (const { headers, body } of [aPush(host), aPullRequest(host, { labels: ['a'] })]) {
      const spots = [...mutations(body)]
      const answers = spots.flatMap((spot, index) => {
        // Each field gets one value, another for each; the whole walk is repeated by the next field of its kind.
        const values = [wrong[index % wrong.length], wrong[(index * 5 + 3) % wrong.length]]
        return values.map((by) => ({ spot, by, body: replaced(body as object, spot, by) }))
      })
      for (const { spot, by, body: text } of answers) {
        const answer = await app.request('POST', path, {
          text: JSON.stringify(text),
          headers: { ...headers, 'X-GitHub-Delivery': unique('d'), 'Content-Type': 'application/json' },
        })
        expect([spot.join('.'), by, answer.status < 500, typeof answer.body.message]).toEqual([
          spot.join('.'),
          by,
          true,
          'string',
        ])
      }
    }
  })

  it('is 400 when it is no JSON, too deep, no UTF-8 or cannot be stored', async () => {
    const pipeline = await aPipelineOn('github')
    const path = await webhookPath(app, pipeline)
    const other = await aPipeline(app, org, 'steps: []', { repository: '/srv/app.git' })
    const plainPath = await webhookPath(app, other)
    const { headers, body } = aPush('github')
    const texts = [
      '',
      '{',
      'null',
      '[]',
      '"x"',
      '['.repeat(100_000),
      JSON.stringify(body).replace('Make it faster', '\\ud800'),
      JSON.stringify(body).replace('Make it faster', '\\u0000'),
    ]
    for (const text of texts) {
      const signed = { ...headers, ...sign(headers, text, secret), 'Content-Type': 'application/json' }
      expect([
        text.slice(0, 20),
        (await app.request('POST', path, { text, headers: signed })).status,
      ]).toEqual([text.slice(0, 20), 400])
    }
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d])
    const answer = await fetch(app.address + plainPath, {
      method: 'POST',
      body: bytes,
      headers: { 'X-GitHub-Event': 'push' },
    })
    expect([answer.status, await answer.json()]).toEqual([400, { message: 'The body is not UTF-8.' }])
    for (const text of ['hello', 'a b c', '']) {
      expect((await app.request('POST', plainPath, { text })).status).toBe(400)
    }
  })

  it('is 413 beyond the limit, and for an unknown address 404 without being read', async () => {
    const pipeline = await aPipelineOn('github')
    const send = (path: string, length: number) =>
      new Promise<number | undefined>((resolve, reject) => {
        const sent = httpRequest(app.address + path, {
          method: 'POST',
          headers: {
            'Content-Length': String(length),
            'Content-Type': 'application/json',
            'X-GitHub-Event': 'push',
          },
        })
        sent.on('response', (response) => {
          resolve(response.statusCode)
          sent.destroy()
        })
        sent.on('error', reject)
        sent.write('{')
      })
    expect(await send(await webhookPath(app, pipeline), 26 * 1024 * 1024)).toBe(413)
    expect(await send(`/deliver/${'0'.repeat(50)}`, 1024)).toBe(404)
  })
})
