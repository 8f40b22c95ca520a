import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { anEmptyDatabase } from './databases.ts'
import { aDirectory, eventually, startServer, type Json } from './millrace.ts'

const org = '/v2/organizations/default'

const behindMs = 300_000

/** Sets the clock of a Node process behind. */
const behind = encodeURIComponent(`
  const Real = Date
  const now = () => Real.now() - ${behindMs}
  globalThis.Date = class Date extends Real {
    constructor(...given) { given.length === 0 ? super(now()) : super(...given) }
    static now() { return now() }
  }`)

it('events of a replica whose clock is 300 s behind are published too', async () => {
  const settings = {
    DATABASE_URL: await anEmptyDatabase('skewed'),
    MILLRACE_SECRET_KEY: 'a key of 32+ characters that all replicas share',
    MILLRACE_DATA_DIR: aDirectory(),
    MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8',
    MILLRACE_DRAIN_SECONDS: '0',
  }
  const right = await startServer(settings)
  const slow = await startServer(
    { ...settings, NODE_OPTIONS: `--import=data:text/javascript,${behind}` },
    'serve',
  )
  const receiver = await startReceiver()
  const service = { provider: 'webhook', settings: { url: receiver.url, events: ['build.scheduled'] } }
  expect((await right.post(`${org}/services`, service)).status).toBe(201)
  const askedAt = Date.now()
  const build = await slow.post(
    `${org}/pipelines/demo/builds`,
    { commit: 'HEAD', branch: 'main' },
    right.token,
  )
  expect(build.status).toBe(201)
  const createdAt = Date.parse(String(build.body['created_at']))
  // It follows the clock of the database, which is that of this process, and not its own.
  expect(createdAt).toBeGreaterThan(askedAt - behindMs / 2)
  await eventually('the webhook comes', async () => receiver.builds.includes(String(build.body['id'])))
})

async function startReceiver(): Promise<{ url: string; builds: string[] }> {
  const builds: string[] = []
  const server = createServer((request, response) => {
    json(request).then(
      (body) => {
        const { build } = body as Json
        if (build) builds.push(String(build['id']))
        response.end()
      },
      () => response.destroy(),
    )
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, builds }
}
