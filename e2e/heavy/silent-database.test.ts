import { expect, it } from 'vitest'
import { anEmptyDatabase } from '../databases.ts'
import { startFaultProxy } from '../fault-proxy.ts'
import { aDirectory, eventually, startServer, type Server } from '../millrace.ts'

const builds = '/v2/organizations/default/pipelines/demo/builds'

// Without limits a replica would wait for those of TCP: 15 minutes. `npm run faults` measures how soon builds start again.
it('a silent database makes a replica not ready until the database answers again', async () => {
  const database = await anEmptyDatabase('silent')
  const proxy = await startFaultProxy(database)
  const server = await startServer({
    DATABASE_URL: proxy.url,
    MILLRACE_SECRET_KEY: 'a key of 32+ characters for a silent database',
    MILLRACE_DATA_DIR: aDirectory(),
  })
  const load = startLoad(server)
  await eventually('builds are created', async () => load.created.length > 3)

  const { length: saidBefore } = server.output().stderr
  proxy.silence()
  await eventually('it says that it is not ready', async () => {
    const { status } = await server.get('/readyz')
    return status === 503
  })
  await eventually('requests are refused', async () => load.count(503) > 2)
  proxy.resume()
  await eventually('it is ready', async () => (await server.get('/readyz')).status === 200)
  const before = load.created.length
  await eventually('builds are created again', async () => load.created.length > before + 3)

  await load.stop()
  expect(load.statuses()).toEqual(new Set([201, 503]))
  expect(load.withoutRetryAfter()).toBe(0)
  for (const number of load.created) {
    expect((await server.get(`${builds}/${number}`)).status).toBe(200)
  }
  // The agent, whose ping waited all the time, still gets jobs.
  const { body } = await server.post(builds, { commit: 'HEAD', branch: 'main', message: 'the last' })
  const last = `${builds}/${String(body['number'])}`
  await eventually(
    'the build passes',
    async () => (await server.get(last)).body['state'] === ('passed' as never),
  )
  const changes = server
    .output()
    .stderr.slice(saidBefore)
    .match(/The database can(not be used| be used again)/g)
  const [gone, ...later] = changes ?? []
  expect(gone).toBe('The database cannot be used')
  // A slow machine may have more than one outage. However many statements fail, each is said once.
  for (const [index, change] of later.entries()) expect(change === gone).toBe(index % 2 === 1)
})

interface Load {
  created: number[]
  count(status: number): number
  statuses(): Set<number>
  withoutRetryAfter(): number
  stop(): Promise<void>
}

/** Clients that create builds, and cancel them so that the agent is soon free. */
function startLoad(server: Server): Load {
  const created: number[] = []
  const counts = new Map<number, number>()
  let missing = 0
  const over = new AbortController()
  const client = async () => {
    while (!over.signal.aborted) {
      const response = await fetch(server.url + builds, {
        method: 'POST',
        headers: { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ commit: 'HEAD', branch: 'main' }),
      })
      const { status } = response
      counts.set(status, (counts.get(status) ?? 0) + 1)
      const body = (await response.json()) as { number: number }
      if (status === 503 && response.headers.get('retry-after') === null) missing += 1
      if (status !== 201) continue
      created.push(body.number)
      await server.put(`${builds}/${body.number}/cancel`, {})
    }
  }
  const clients = Array.from({ length: 3 }, client)
  return {
    created,
    count: (status) => counts.get(status) ?? 0,
    statuses: () => new Set(counts.keys()),
    withoutRetryAfter: () => missing,
    async stop() {
      over.abort()
      await Promise.all(clients)
    },
  }
}
