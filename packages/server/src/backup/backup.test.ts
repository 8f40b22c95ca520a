import { createHash, randomBytes } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import pg from 'pg'
import tar from 'tar-stream'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { eventually, startApp, type TestApp } from '../../test/app.ts'
import {
  aCluster,
  anAdmin,
  anOrganization,
  type TestOrganization,
  type TestUser,
} from '../../test/builders.ts'
import { cloneTemplate, dropClone } from '../../test/app/database.ts'
import { describeSchema } from '../db/generated/describe-schema.ts'
import { createMigrationsTable, listMigrations, migrate } from '../db/migrate.ts'
import { openDatabase, type Database } from '../db/pool.ts'
import { blobOf } from './format.ts'
import { restoreBackup, type RestoreTarget } from './restore.ts'
import { writeBackup } from './write.ts'

let folder = ''
let file = ''
const cleanUp: (() => Promise<unknown>)[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-backup-'))
  file = join(folder, 'backup.tar.gz')
})

afterEach(async () => {
  for (const undo of cleanUp.splice(0).toReversed()) await undo()
  rmSync(folder, { recursive: true, force: true })
})

describe('a backup made under load', () => {
  it('is one snapshot of the whole database, and a restored server continues from it', async () => {
    const source = await aDatabase('migrated')
    const app = await aServer(source)
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    await aLongHistory(source, org)
    const load = startWriting(app, org, admin)
    await load.isUnderWay()
    const before = load.made()
    const backup = await writeBackup(source.pool, file, { blobsDir: join(folder, 'none'), secretKey: null })
    const after = load.made()
    await load.stop()
    expect(after).toBeGreaterThan(before)

    const target = await aDatabase('empty')
    const restored = await restoreBackup(target.pool, file, aTarget())
    expect(restored.tables).toEqual(backup.tables)
    for (const [table, rows] of Object.entries(backup.tables)) {
      expect({ table, rows: await count(target, `select from ${table}`) }).toEqual({ table, rows })
    }
    expect(backup.tables['clusters']).toBeGreaterThanOrEqual(before)
    expect(backup.tables['clusters']).toBeLessThanOrEqual(after + writers)

    // Each request is there as a whole or not at all.
    const torn = `select from clusters c where not exists
      (select from audit_events where type = 'CLUSTER_CREATED' and subject ->> 'uuid' = c.id::text)`
    expect(await count(target, torn)).toBe(0)
    const orphaned = `select from audit_events where type = 'CLUSTER_QUEUE_CREATED' and not exists
      (select from cluster_queues q where subject ->> 'uuid' = q.id::text)`
    expect(await count(target, orphaned)).toBe(0)
    expect(await count(target, 'select from clusters where default_queue_id is not null')).toBeGreaterThan(0)

    // The same schema again, with every foreign key in place and checked.
    expect(await describeSchema(target.pool)).toEqual(await describeSchema(source.pool))
    expect(await count(target, `select from pg_constraint where not convalidated`)).toBe(0)
    expect(await count(target, `select from pg_trigger where tgenabled <> 'O'`)).toBe(0)
    await expect(target.pool.query('delete from audit_events')).rejects.toThrow('append-only')
    expect(await lastValues(target)).toEqual(await lastValues(source))

    const again = await aServer(target)
    const list = await again.request('GET', `${org.path}/clusters?per_page=1`, { token: admin.token })
    expect(list.status).toBe(200)
    await aCluster(again, org, admin)
  })
})

describe('restoreBackup', () => {
  it('takes a backup of an older schema, which is then migrated', async () => {
    const [oldest] = await listMigrations()
    if (oldest === undefined) throw new Error('There is no migration.')
    const source = await aDatabase('empty')
    const newest = await aDatabase('migrated')
    await migrateTo(source, newest, oldest)
    await source.pool.query(`insert into organizations (id, slug, name) values ($1, 'old', 'Old')`, [uuid])
    await writeBackup(source.pool, file, { blobsDir: join(folder, 'none'), secretKey: null })

    await expect(restoreBackup(newest.pool, file, aTarget())).rejects.toThrow(
      'which is newer than the backup',
    )

    const target = await aDatabase('empty')
    await restoreBackup(target.pool, file, aTarget())
    expect(await migrate(target.pool)).toEqual((await listMigrations()).slice(1).map(({ name }) => name))
    expect(await count(target, `select from organizations where slug = 'old'`)).toBe(1)
    expect(await describeSchema(target.pool)).toEqual(await describeSchema(newest.pool))
  })

  it('takes a backup of before there were partitions, with rows that fit into none', async () => {
    const source = await aDatabase('empty')
    await migrateUntil(source, firstWithPartitions)
    await insertOrganization(source)
    const late = new Date(Date.now() + 1000 * dayMs).toISOString()
    await source.pool.query(
      `insert into events (organization_id, kind, created_at) values ($1, 'now', now()), ($1, 'late', '${late}')`,
      [uuid],
    )
    await source.pool.query(
      `insert into audit_events (id, organization_id, type, occurred_at, subject)
       values ($1, $1, 'X', now(), '{}'), ('f0000000-0000-4000-8000-000000000000', $1, 'Y', now(), '{}')`,
      [uuid],
    )
    await source.pool.query(
      `insert into job_log_chunks (job_id, sequence, byte_offset, size, data) values ($1, 1, 0, 1, '\\x00')`,
      [uuid],
    )
    await writeBackup(source.pool, file, { blobsDir: join(folder, 'none'), secretKey: null })

    const target = await aDatabase('empty')
    await restoreBackup(target.pool, file, aTarget())
    await migrate(target.pool)
    const where = async (table: string, name: string) => {
      const { rows } = await target.pool.query<{ name: string; partition: string }>(
        `select ${name} as name, tableoid::regclass::text as partition from ${table} order by 1`,
      )
      return rows.map((row) => [row.name, row.partition])
    }
    expect(await where('events', 'kind')).toEqual([
      ['late', 'events_default'],
      ['now', 'events_first'],
    ])
    expect(await where('audit_events', 'type')).toEqual([
      ['X', 'audit_events_first'],
      ['Y', 'audit_events_default'],
    ])
    expect(await where('job_log_chunks', 'sequence')).toEqual([[1, 'job_log_chunks_first']])
    await expect(target.pool.query('delete from audit_events')).rejects.toThrow('audit_events is append-only')
    // Ids go on where they were.
    const next = await target.pool.query(
      `insert into events (organization_id, kind, created_at) values ($1, 'next', now()) returning id`,
      [uuid],
    )
    expect(next.rows).toEqual([{ id: 3 }])
  })

  it('takes a backup that a version without partitions made beside this one', async () => {
    const source = await aDatabase('migrated')
    await insertOrganization(source)
    await source.pool.query(
      `insert into events (organization_id, kind, created_at) values ($1, 'now', now()), ($1, 'late', now() + interval '1000 days')`,
      [uuid],
    )
    await writeBackup(source.pool, file, { blobsDir: join(folder, 'none'), secretKey: null })
    const old = join(folder, 'old.tar.gz')
    await renameTable(file, old, 'events', 'events_first')
    const target = await aDatabase('empty')
    const restored = await restoreBackup(target.pool, old, aTarget())
    expect(restored.tables['events_first']).toBe(2)
    expect(await count(target, `select from events where kind = 'late'`)).toBe(1)
  })

  it('takes a database that is migrated but empty', async () => {
    const source = await aDatabase('migrated')
    await insertOrganization(source)
    await writeBackup(source.pool, file, { blobsDir: join(folder, 'none'), secretKey: null })
    const target = await aDatabase('migrated')
    await restoreBackup(target.pool, file, aTarget())
    expect(await count(target, 'select from organizations')).toBe(1)
  })

  it('refuses a database that has an organization or any other row', async () => {
    const source = await aDatabase('migrated')
    await writeBackup(source.pool, file, { blobsDir: join(folder, 'none'), secretKey: null })
    const used = await aDatabase('migrated')
    await insertOrganization(used)
    await expect(restoreBackup(used.pool, file, aTarget())).rejects.toThrow('already has an organization')
    const peopled = await aDatabase('migrated')
    await peopled.pool.query(`insert into users (id, email, name) values ($1, 'a@example.com', 'A')`, [uuid])
    await expect(restoreBackup(peopled.pool, file, aTarget())).rejects.toThrow('has rows in users already')
    expect(await count(peopled, 'select from users')).toBe(1)
  })

  it('refuses a backup of a newer version', async () => {
    const source = await aDatabase('migrated')
    await source.pool.query(`insert into migrations (name, sha256) values ('999901010000_fly', '')`)
    await writeBackup(source.pool, file, { blobsDir: join(folder, 'none'), secretKey: null })
    const target = await aDatabase('empty')
    await expect(restoreBackup(target.pool, file, aTarget())).rejects.toThrow(
      'The backup has migration 999901010000_fly, which this version does not know',
    )
    expect(await count(target, `select from pg_class where relnamespace = 'public'::regnamespace`)).toBe(0)
  })

  it('keeps nothing of a backup that violates a foreign key', async () => {
    const source = await aDatabase('migrated')
    await source.pool.query(
      'alter table organization_members drop constraint organization_members_user_id_fkey',
    )
    await insertOrganization(source)
    await source.pool.query(
      `insert into organization_members (organization_id, user_id, role) values ($1, $1, 'admin')`,
      [uuid],
    )
    await writeBackup(source.pool, file, { blobsDir: join(folder, 'none'), secretKey: null })
    const target = await aDatabase('migrated')
    await expect(restoreBackup(target.pool, file, aTarget())).rejects.toThrow(
      'violates foreign key constraint',
    )
    expect(await count(target, 'select from organizations')).toBe(0)
  })

  it('brings back the blobs and the secret key', async () => {
    const source = await aDatabase('migrated')
    const blobs = {
      'a/b/large': randomBytes(3_000_000),
      'a/empty': Buffer.alloc(0),
      'ünï cödé': Buffer.from('x'),
    }
    mkdirSync(join(folder, 'blobs/a/b'), { recursive: true })
    for (const [path, bytes] of Object.entries(blobs)) writeFileSync(join(folder, 'blobs', path), bytes)
    const backup = await writeBackup(source.pool, file, {
      blobsDir: join(folder, 'blobs'),
      secretKey: 'the key',
    })
    expect(backup.blobs).toBe(3)

    const blobsDir = join(folder, 'restored')
    const keys: string[] = []
    const restored = await restoreBackup((await aDatabase('empty')).pool, file, {
      blobsDir,
      takeSecretKey: (key) => keys.push(key),
    })
    expect(restored).toMatchObject({ blobs: 3, secret_key: true })
    expect(keys).toEqual(['the key'])
    for (const [path, bytes] of Object.entries(blobs)) {
      expect(readFileSync(join(blobsDir, path)).equals(bytes)).toBe(true)
    }
    await expect(
      restoreBackup((await aDatabase('empty')).pool, file, { ...aTarget(), blobsDir }),
    ).rejects.toThrow('There are files in')
  })

  it('keeps nothing when the secret key is refused', async () => {
    const source = await aDatabase('migrated')
    await insertOrganization(source)
    await writeBackup(source.pool, file, { blobsDir: join(folder, 'none'), secretKey: 'the key' })
    const target = await aDatabase('migrated')
    const takeSecretKey = () => {
      throw new Error('There is another key.')
    }
    await expect(restoreBackup(target.pool, file, { ...aTarget(), takeSecretKey })).rejects.toThrow(
      'There is another key.',
    )
    expect(await count(target, 'select from organizations')).toBe(0)
  })
})

describe('writeBackup', () => {
  it('refuses a database that was never used', async () => {
    const source = await aDatabase('empty')
    const writing = writeBackup(source.pool, file, { blobsDir: join(folder, 'none'), secretKey: null })
    await expect(writing).rejects.toThrow('There is nothing to back up')
    expect(existsSync(`${file}.partial`)).toBe(false)
  })

  it('leaves an earlier backup alone when it fails', async () => {
    writeFileSync(file, 'the earlier backup')
    const source = await aDatabase('migrated')
    const blobsDir = join(folder, 'a-file')
    writeFileSync(blobsDir, '')
    await expect(writeBackup(source.pool, file, { blobsDir, secretKey: null })).rejects.toThrow('ENOTDIR')
    expect(readFileSync(file, 'utf8')).toBe('the earlier backup')
  })
})

const uuid = '0199f2c4-7d1e-7a53-9c0b-2f6f4f0a8d11'
const writers = 4

const aTarget = (): RestoreTarget => ({
  blobsDir: join(folder, 'blobs-of-the-target'),
  takeSecretKey: () => {},
})

async function aDatabase(state: 'empty' | 'migrated'): Promise<Database> {
  const server = inject('database')
  const connection = state === 'migrated' ? await cloneTemplate(server) : await createEmpty(server)
  const database = openDatabase(connection, { maxConnections: 10 })
  cleanUp.push(async () => {
    await database.close()
    await dropClone(server, connection.database ?? '')
  })
  return database
}

async function createEmpty(server: { host: string; port: number; user: string }): Promise<pg.PoolConfig> {
  const database = `empty_${randomBytes(6).toString('hex')}`
  const client = new pg.Client({ ...server, database: 'postgres' })
  await client.connect()
  await client.query(`create database ${database} template template0`)
  await client.end()
  return { ...server, database }
}

async function aServer(database: Database): Promise<TestApp> {
  const app = await startApp({}, database)
  cleanUp.push(() => app.close())
  return app
}

/** Makes a database of the version that had only this migration. */
async function migrateTo(old: Database, newest: Database, migration: { name: string; sql: string }) {
  const { rows } = await newest.pool.query<{ sha256: string }>(
    'select sha256 from migrations where name = $1',
    [migration.name],
  )
  await old.pool.query(`create table migrations (
    name text primary key, sha256 text not null, applied_at timestamptz(3) not null default now())`)
  await old.pool.query(migration.sql)
  await old.pool.query('insert into migrations (name, sha256) values ($1, $2)', [
    migration.name,
    rows[0].sha256,
  ])
}

const firstWithPartitions = '202611171500'
const dayMs = 24 * 60 * 60 * 1000

/** Makes a database of the version that had the migrations before that one. */
async function migrateUntil(database: Database, name: string): Promise<void> {
  await database.pool.query(createMigrationsTable)
  for (const migration of await listMigrations()) {
    if (migration.name >= name) break
    await database.pool.query(migration.sql)
    const sha256 = createHash('sha256').update(migration.sql).digest('hex')
    await database.pool.query('insert into migrations (name, sha256) values ($1, $2)', [
      migration.name,
      sha256,
    ])
  }
}

/** Copies a backup, with another name for a table. */
async function renameTable(from: string, to: string, name: string, other: string): Promise<void> {
  const [extract, pack] = [tar.extract(), tar.pack()]
  const reading = pipeline(createReadStream(from), createGunzip(), extract)
  const writing = pipeline(pack, createGzip(), createWriteStream(to))
  for await (const entry of extract) {
    const bytes = await buffer(entry as AsyncIterable<Buffer>)
    const isContents = entry.header.name === 'contents.json'
    pack.entry(
      { name: entry.header.name.replace(`tables/${name}/`, `tables/${other}/`) },
      isContents ? bytes.toString().replace(`"${name}":`, `"${other}":`) : bytes,
    )
  }
  pack.finalize()
  await Promise.all([reading, writing])
}

const insertOrganization = (database: Database) =>
  database.pool.query(`insert into organizations (id, slug, name) values ($1, 'acme', 'Acme')`, [uuid])

async function count(database: Database, query: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(`select count(*) from (${query}) q`)
  return rows[0].count
}

async function lastValues(database: Database): Promise<unknown[]> {
  const { rows } = await database.pool.query<object>(
    `select sequencename, last_value from pg_sequences where schemaname = 'public' order by sequencename`,
  )
  return rows
}

/** Enough rows for several parts and for writes during the backup; and sequences past their start. */
async function aLongHistory(database: Database, org: TestOrganization): Promise<void> {
  await database.pool.query(
    `insert into audit_events (id, organization_id, type, occurred_at, subject, data)
     select gen_random_uuid(), $1, 'ORGANIZATION_UPDATED', now(), '{}', jsonb_build_object('text', repeat(md5(n::text), 20))
     from generate_series(1, 13000) n`,
    [org.id],
  )
  await database.pool.query(
    `select nextval(format('%I.%I', schemaname, sequencename)) from pg_sequences, generate_series(1, 3)
     where schemaname = 'public'`,
  )
}

/** Creates clusters with a default queue: two tables that refer to each other. */
function startWriting(app: TestApp, org: TestOrganization, admin: TestUser) {
  let made = 0
  const stopping = new AbortController()
  const write = async () => {
    while (!stopping.signal.aborted) {
      const cluster = await aCluster(app, org, admin)
      made += 1
      const options = { token: admin.token }
      const queue = await app.request('POST', `${cluster.path}/queues`, {
        ...options,
        body: { key: 'default' },
      })
      const body = { default_queue_id: queue.body.id }
      expect((await app.request('PATCH', cluster.path, { ...options, body })).status).toBe(200)
    }
  }
  const writing = Promise.all(Array.from({ length: writers }, write))
  return {
    made: () => made,
    isUnderWay: () => eventually('several requests are answered', async () => made > writers),
    stop: async () => {
      stopping.abort()
      await writing
    },
  }
}

describe('abuse case 9: an archive whose entries lead out of the folder', () => {
  it.each([
    'blobs/../../etc/passwd',
    'blobs//etc/passwd',
    'blobs/a/../../b',
    '/blobs/a',
    'blobs/./a',
    'blobs/',
  ])('ignores the entry %j', (entry) => expect(blobOf(entry)).toBeNull())
})
