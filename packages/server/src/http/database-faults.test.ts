// While the database restarts or is read-only, callers get 503 with Retry-After and never 500, and the log has one line.
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scratch } from '../../../../testbed/src/scratch.ts'
import { startApp, type TestApp } from '../../test/app.ts'
import { anAdmin, anOrganization, type TestOrganization, type TestUser } from '../../test/builders.ts'
import { eventually } from '../../test/eventually.ts'
import { readMetrics } from '../../test/metrics.ts'
import { launch, type EmbeddedPostgres } from '../db/embedded/server.ts'
import { migrate } from '../db/migrate.ts'
import { openDatabase, type Database } from '../db/pool.ts'

let dataDir: string
let postgres: EmbeddedPostgres
let database: Database
let app: TestApp
let org: TestOrganization
let admin: TestUser

const start = (shutdown: 'fast' | 'immediate') => launch({ dataDir }, { durable: true, shutdown })

beforeAll(async () => {
  dataDir = mkdtempSync(join(scratch(), 'millrace-faults-'))
  postgres = await start('fast')
  database = openDatabase(postgres.connection, { limits: { connectSeconds: 60, statementSeconds: 60 } })
  await migrate(database.pool)
  app = await startApp({}, database)
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
})

afterAll(async () => {
  await app.close()
  await database.close()
  await postgres.stop()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

interface Seen {
  statuses: Set<number>
  withoutRetryAfter: number
  created: string[]
}

/** Several clients that read and write, with and without an idempotency key, until the returned function is called. */
function load(name: string): () => Promise<Seen> {
  const seen: Seen = { statuses: new Set(), withoutRetryAfter: 0, created: [] }
  const over = new AbortController()
  let count = 0
  const client = async () => {
    while (!over.signal.aborted) {
      const cluster = `${name} ${++count}`
      const headers: Record<string, string> = count % 2 === 0 ? { 'Idempotency-Key': cluster } : {}
      const asked = [
        app.request('GET', `${org.path}/clusters`, { token: admin.token }),
        app.request('POST', `${org.path}/clusters`, { token: admin.token, body: { name: cluster }, headers }),
      ]
      for (const { status, headers, body } of await Promise.all(asked)) {
        seen.statuses.add(status)
        if (status === 503 && headers.get('retry-after') === null) seen.withoutRetryAfter += 1
        if (status === 201) seen.created.push(String(body['name']))
      }
    }
  }
  const clients = Array.from({ length: 4 }, client)
  return async () => {
    over.abort()
    await Promise.all(clients)
    return seen
  }
}

const outages = () => app.logLines.filter((line) => line.includes('The database cannot be used.')).length
const isReady = async () => (await app.request('GET', '/readyz')).status === 200

async function namesOfClusters(): Promise<Set<string>> {
  const { rows } = await database.pool.query<{ name: string }>('select name from clusters')
  return new Set(rows.map(({ name }) => name))
}

describe.each(['fast', 'immediate'] as const)('a %s restart of the database under load', (shutdown) => {
  it('is answered with 503 and Retry-After, loses nothing acknowledged, and is logged once', async () => {
    await postgres.stop()
    postgres = await start(shutdown)
    await eventually('is ready', isReady)
    const before = outages()
    const stop = load(`during a ${shutdown} restart`)
    await eventually('requests are answered', async () => (await namesOfClusters()).size > 10)
    await postgres.stop()
    await eventually('is not ready', async () => !(await isReady()))
    expect((await readMetrics(app)).value('millrace_database_available')).toBe(0)
    postgres = await start(shutdown)
    await eventually('is ready again', isReady)
    const { statuses, withoutRetryAfter, created } = await stop()
    expect(statuses).toEqual(new Set([200, 201, 503]))
    expect(withoutRetryAfter).toBe(0)
    const names = await namesOfClusters()
    expect(created.filter((name) => !names.has(name))).toEqual([])
    // The first restart may be part of the same outage.
    expect(outages() - before).toBeLessThanOrEqual(1)
    expect(outages()).toBeGreaterThanOrEqual(1)
    expect((await readMetrics(app)).value('millrace_database_outages_total')).toBe(outages())
    expect(app.logLines.filter((line) => line.includes('A request failed because of a bug'))).toEqual([])
  })
})

describe('a read-only database', () => {
  const setReadOnly = async (value: 'on' | 'off') => {
    const client = await database.pool.connect()
    await client.query('set default_transaction_read_only = off')
    await client.query(`alter database millrace set default_transaction_read_only = ${value}`)
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    client.release(true)
  }

  it('still answers reads; writes are 503 with Retry-After', async () => {
    await setReadOnly('on')
    const write = (headers: Record<string, string>) =>
      app.request('POST', `${org.path}/clusters`, { token: admin.token, body: { name: 'refused' }, headers })
    await eventually('reads are answered', async () => {
      const { status } = await app.request('GET', `${org.path}/clusters`, { token: admin.token })
      return status === 200
    })
    for (const headers of [{}, { 'Idempotency-Key': 'read-only' }]) {
      const answer = await write(headers)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
    }
    await setReadOnly('off')
    await eventually('writes are done again', async () => (await write({})).status === 201)
  })
})
