import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { scratch } from '../../../../../testbed/src/scratch.ts'
import { isAlive } from './processes.ts'
import { type EmbeddedPostgres, findRunning, startEmbedded } from './server.ts'
import { StartupError } from './startup-error.ts'
import { startTemporary } from './temporary.ts'

let template = ''
let root = ''
let dataDir = ''
const running: EmbeddedPostgres[] = []

beforeAll(async () => {
  template = mkdtempSync(join(scratch(), 'millrace-template-'))
  // As a start leaves it that was killed while it made the cluster.
  mkdirSync(join(template, 'postgres/unfinished-0badf00d/base'), { recursive: true })
  writeFileSync(join(template, 'postgres/unfinished-0badf00d/PG_VERSION'), '18')
  await (await startEmbedded({ dataDir: template })).stop()
})

afterAll(() => rmSync(template, { recursive: true, force: true }))

beforeEach(() => {
  root = mkdtempSync(join(scratch(), 'millrace-server-'))
  // Under root without user namespaces another user has to come by.
  chmodSync(root, 0o755)
  dataDir = join(root, 'data')
})

afterEach(async () => {
  for (const database of running.splice(0)) await database.stop()
  rmSync(root, { recursive: true, force: true })
})

describe('startEmbedded', () => {
  it('keeps what was written over a stop and a start', async () => {
    const first = await startCopy()
    await query(first.url, 'create table kept (text text)')
    await query(first.url, `insert into kept values ('ä')`)
    await first.stop()
    expect(isAlive(first.pid)).toBe(false)
    expect(await first.exited).toEqual({ code: 0, signal: null })
    const second = await start()
    expect(await query(second.url, 'select text, length(text) from kept')).toEqual([{ text: 'ä', length: 1 }])
  })

  it('is durable, speaks UTF-8 and opens no TCP port, so that one on 5432 does not matter', async () => {
    const other = createServer().listen(5432, '127.0.0.1')
    other.on('error', () => {})
    const { url } = await startCopy()
    const names = ['fsync', 'listen_addresses', 'server_encoding', 'max_connections', 'TimeZone']
    const rows = await query(
      url,
      `select name, setting from pg_settings where name in ('${names.join("','")}')`,
    )
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      fsync: 'on',
      listen_addresses: '',
      server_encoding: 'UTF8',
      max_connections: '200',
      TimeZone: 'UTC',
    })
    const [locale] = await query(
      url,
      `select datlocprovider, datlocale from pg_database where datname = 'millrace'`,
    )
    expect(locale).toEqual({ datlocprovider: 'b', datlocale: 'C.UTF-8' })
    other.close()
  })

  it('keeps its socket and its files to one user', async () => {
    const { connection } = await startCopy()
    expect(statSync(connection.host).mode & 0o777).toBe(0o700)
    expect(statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700)
  })

  it('abuse case R1: lets nobody in without the password, also where an older start let in all', async () => {
    const first = await startCopy()
    const refused = async (password: string) => {
      const client = new Client({ ...first.connection, password })
      return client.connect().then(
        () => client.end().then(() => 'let in'),
        (error: unknown) => String(error),
      )
    }
    expect(await refused('a guess')).toContain('password authentication failed')
    await first.stop()
    const home = join(dataDir, 'postgres')
    expect(statSync(join(home, 'password')).mode & 0o777).toBe(0o600)
    rmSync(join(home, 'password'))
    writeFileSync(join(home, 'cluster/pg_hba.conf'), 'local all all trust\n')
    const second = await start()
    expect(second.connection.password).not.toBe(first.connection.password)
    expect(await refused('a guess')).toContain('password authentication failed')
    expect(await refused(first.connection.password)).toContain('password authentication failed')
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  it('connects by the parts as well as by the URL', async () => {
    const { connection } = await startCopy()
    const client = new Client(connection)
    await client.connect()
    expect((await client.query('select current_database() as name')).rows).toEqual([{ name: 'millrace' }])
    await client.end()
  })

  it('is found by another command while it runs', async () => {
    expect(findRunning(dataDir)).toBeUndefined()
    const { url } = await startCopy()
    expect(findRunning(dataDir)).toMatchObject({ url, holder: process.pid })
    await running.pop()?.stop()
    expect(findRunning(dataDir)).toBeUndefined()
  })

  it('refuses a second start and names the process', async () => {
    await startCopy()
    await expect(start()).rejects.toThrow(`is in use by process ${process.pid}: stop that process`)
  })

  it('tells when the database dies, and then starts again', async () => {
    const database = await startCopy()
    process.kill(database.pid, 'SIGKILL')
    expect(await database.exited).toEqual({ code: null, signal: 'SIGKILL' })
    running.pop()
    expect(await query((await start()).url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  it('begins anew when it was killed while making the cluster', async () => {
    const { url } = await startCopy()
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(existsSync(join(template, 'postgres/unfinished-0badf00d'))).toBe(false)
  })

  it('uses a short socket directory when the path is long, and removes it', async () => {
    dataDir = join(root, 'd'.repeat(120), 'a "b", c')
    const { url, connection } = await startCopy()
    expect(basename(connection.host)).toMatch(/^millrace-pg-/)
    expect(statSync(connection.host).mode & 0o777).toBe(0o700)
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
    await running.pop()?.stop()
    expect(existsSync(connection.host)).toBe(false)
  })

  it('copes with spaces, quotes and commas in the path', async () => {
    dataDir = join(root, `a "b", 'c' %20 ä`)
    expect(await query((await startCopy()).url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  it('starts from a copy that lost its modes', async () => {
    cpSync(template, dataDir, { recursive: true })
    chmodSync(join(dataDir, 'postgres'), 0o755)
    chmodSync(join(dataDir, 'postgres/cluster'), 0o755)
    const { url } = await start()
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700)
  })

  it('says what to do about a database of another PostgreSQL', async () => {
    await (await startCopy()).stop()
    running.pop()
    writeFileSync(join(dataDir, 'postgres/cluster/PG_VERSION'), '17\n')
    await expect(start()).rejects.toThrow(/made by PostgreSQL 17 .* brings PostgreSQL 18: make a backup/)
    expect(findRunning(dataDir)).toBeUndefined()
  })

  it('says what to do about files that are no database', async () => {
    mkdirSync(join(dataDir, 'postgres/cluster'), { recursive: true })
    writeFileSync(join(dataDir, 'postgres/cluster/holiday.jpg'), '')
    await expect(start()).rejects.toThrow(/is not a PostgreSQL database: move it away/)
  })

  it('repeats the last words of a database that does not start', async () => {
    await (await startCopy()).stop()
    running.pop()
    writeFileSync(join(dataDir, 'postgres/cluster/postgresql.conf'), 'no_such_setting = on\n')
    const error: unknown = await start().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(StartupError)
    expect(String(error)).toMatch(/does not start \(.*errors.*postgres\.log says and start again\.$/)
  })

  it('moves a log that grew too large aside', async () => {
    cpSync(template, dataDir, { recursive: true })
    writeFileSync(join(dataDir, 'postgres/postgres.log'), Buffer.alloc(9 * 1024 * 1024))
    await start()
    expect(statSync(join(dataDir, 'postgres/postgres.log.1')).size).toBe(9 * 1024 * 1024)
    expect(readFileSync(join(dataDir, 'postgres/postgres.log'), 'utf8')).toContain(
      'ready to accept connections',
    )
  })
})

describe('startTemporary', () => {
  it('is gone after stop', async () => {
    const database = await startTemporary()
    expect(await query(database.url, 'show fsync')).toEqual([{ fsync: 'off' }])
    const home = join(database.connection.host, '..')
    await database.stop()
    expect(isAlive(database.pid)).toBe(false)
    expect(existsSync(home)).toBe(false)
  })
})

/** A copy of a cluster costs a tenth of making one. */
function startCopy(): Promise<EmbeddedPostgres> {
  cpSync(template, dataDir, { recursive: true })
  return start()
}

async function start(): Promise<EmbeddedPostgres> {
  const database = await startEmbedded({ dataDir })
  running.push(database)
  return database
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client(url)
  // A stopping database closes the connections of its clients.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}
