import { once } from 'node:events'
import { Agent, createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { anEmptyDatabase } from './databases.ts'
import { aDirectory, eventually, millrace, startServer } from './millrace.ts'

const clusters = '/v2/organizations/default/clusters'

it('a rolling restart of three replicas behind a balancer fails no request', async () => {
  const settings = {
    DATABASE_URL: await anEmptyDatabase('rolling'),
    MILLRACE_SECRET_KEY: 'a key of 32+ characters that all replicas share',
    MILLRACE_DATA_DIR: aDirectory(),
    // Longer than the balancer of a slow machine needs to see that a replica stops.
    MILLRACE_DRAIN_SECONDS: '30',
  }
  const organization = ['org', 'create', 'default', '--name', 'Default']
  expect((await millrace(organization, settings)).code).toBe(0)
  const user = ['--email', 'a@example.com', '--name', 'A', '--org', 'default', '--role', 'admin']
  expect((await millrace(['user', 'create', ...user], settings)).code).toBe(0)
  const wanted = ['--user', 'a@example.com', '--org', 'default', '--scope', 'all', '--json']
  const token = readToken((await millrace(['token', 'create', ...wanted], settings)).stdout)
  const start = () => startServer(settings, 'serve')
  const replicas = await Promise.all([start(), start(), start()])
  const balancer = await startBalancer(replicas.map(({ url }) => url))
  await eventually('all are in use', async () => balancer.ready() === 3)

  const statuses = new Map<string, number>()
  const over = new AbortController()
  const client = async (number: number) => {
    for (let count = 0; !over.signal.aborted; count++) {
      const name = `cluster ${number}.${count}`
      const post = { method: 'POST', body: JSON.stringify({ name }) }
      for (const init of [{}, post]) {
        const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
        const seen = await fetch(balancer.url + clusters, { ...init, headers }).then(
          async (response) => `${response.status} ${(await response.text()).slice(0, response.ok ? 0 : 200)}`,
          (error: unknown) => String(error),
        )
        statuses.set(seen, (statuses.get(seen) ?? 0) + 1)
      }
    }
  }
  const clients = [1, 2, 3, 4].map(client)
  // The next one is restarted while the one before still drains.
  for (const old of replicas) {
    old.signal('SIGTERM')
    await eventually('the old one is not in use', async () => balancer.ready() === 2)
    balancer.replace(old.url, (await start()).url)
    await eventually('the new one is in use', async () => balancer.ready() === 3)
  }
  const ends = await Promise.all(replicas.map(({ ended }) => ended))
  expect(ends.map(({ code }) => code)).toEqual([0, 0, 0])
  over.abort()
  await Promise.all(clients)
  expect([...statuses.keys()].map((seen) => seen.trim()).sort()).toEqual(['200', '201'])
})

const readToken = (json: string): string => (JSON.parse(json) as { token: string }).token

interface Balancer {
  url: string
  ready(): number
  replace(old: string, now: string): void
}

/** Round robin over the replicas whose last response to `/readyz` was 200; never retries. */
async function startBalancer(urls: string[]): Promise<Balancer> {
  const isReady = new Map(urls.map((url) => [url, false]))
  const agent = new Agent({ keepAlive: true })
  let count = 0
  const pass = (request: IncomingMessage, response: ServerResponse) => {
    const ready = [...isReady].flatMap(([url, is]) => (is ? [url] : []))
    const url = ready[count++ % ready.length] ?? 'http://127.0.0.1:1'
    const { hostname, port } = new URL(url)
    const { method = '', url: path = '', headers } = request
    const onward = forward({
      hostname,
      port,
      method,
      path,
      agent,
      headers: { ...headers, connection: 'keep-alive' },
    })
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' })
      answer.pipe(response)
    })
    onward.on('error', (error) => response.writeHead(502).end(`${url}: ${error.message}`))
    request.pipe(onward)
  }
  const server = createServer(pass)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stopping = new AbortController()
  /** Until the replica is replaced. */
  const keepChecking = async (url: string) => {
    while (isReady.has(url) && !stopping.signal.aborted) {
      const status = await fetch(`${url}/readyz`, { signal: stopping.signal }).then(
        async (response) => (await response.text(), response.status),
        () => 0,
      )
      if (isReady.has(url)) isReady.set(url, status === 200)
      await delay(100)
    }
  }
  const checking = urls.map(keepChecking)
  onTestFinished(async () => {
    stopping.abort()
    await Promise.all(checking)
    agent.destroy()
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready: () => [...isReady.values()].filter(Boolean).length,
    replace(old, now) {
      isReady.delete(old)
      isReady.set(now, false)
      checking.push(keepChecking(now))
    },
  }
}
