/*
 * Loads a backup into an empty database, in one transaction: first the backup's schema, then its rows. Foreign keys are
 * dropped before and added again after the rows, so tables need no order, all keys are checked, and the owner of the
 * tables may do it without being a superuser.
 */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import tar from 'tar-stream'
import { partitionedTables } from '../db/partitions.ts'
import { connectAlone } from '../db/pool.ts'
import { errorCode, StartupError } from '../db/embedded/startup-error.ts'
import { createMigrationsTable, listMigrations, type Migration } from '../db/migrate.ts'
import {
  blobOf,
  contentsEntry,
  formatVersion,
  manifestEntry,
  secretKeyEntry,
  tableOf,
  type Contents,
  type Manifest,
} from './format.ts'
import { listTables } from './write.ts'

export interface RestoreTarget {
  blobsDir: string
  /** Called with the backup's key before the commit; throws to refuse it. */
  takeSecretKey(key: string): void
}

export interface Restored extends Contents {
  made_at: string
  secret_key: boolean
}

interface ForeignKey {
  table: string
  name: string
  definition: string
}

export async function restoreBackup(pool: pg.Pool, file: string, target: RestoreTarget): Promise<Restored> {
  const archive = openArchive(file)
  const staging = `${target.blobsDir}.restoring`
  const client = await connectAlone(pool)
  try {
    await client.query('begin')
    await client.query('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0')
    const restored = await load(client, archive, target, staging)
    if (restored.blobs > 0) await rename(staging, target.blobsDir)
    await client.query('commit')
    return restored
  } catch (error) {
    await rm(staging, { recursive: true, force: true })
    throw archive.problem() ?? error
  } finally {
    archive.close()
    // The end of the session rolls back, also after a failed COPY.
    await client.end()
  }
}

async function load(
  client: pg.ClientBase,
  archive: Archive,
  target: RestoreTarget,
  staging: string,
): Promise<Restored> {
  await archive.next()
  if (archive.name() !== manifestEntry) throw archive.damaged('it does not begin with a manifest')
  const manifest = JSON.parse(await archive.readText()) as Manifest
  const migrations = await findMigrations(manifest)
  await refuseUsedBlobs(target.blobsDir)
  await createSchema(client, migrations)
  const foreignKeys = await dropForeignKeys(client)
  const tables = await lockEmptyTables(client)
  await setTriggers(client, tables, 'disable')

  const loaded: Contents = { tables: {}, sequences: {}, blobs: 0 }
  let secretKey = false
  await archive.next()
  while (archive.name() !== contentsEntry) {
    const name = archive.name()
    if (name === null) throw archive.damaged('its end is missing')
    const table = tableOf(name)
    const blob = blobOf(name)
    if (table !== null) {
      const target = tables.find((one) => one === table) ?? tables.find((one) => isPartitionOf(one, table))
      if (target === undefined) throw archive.damaged(`its schema has no table ${table}`)
      loaded.tables[table] = await loadTable(client, archive, table, target)
      continue
    }
    if (blob !== null) {
      await writeBlob(archive, join(staging, blob))
      loaded.blobs += 1
    } else if (name === secretKeyEntry) {
      target.takeSecretKey(await archive.readText())
      secretKey = true
    } else throw archive.damaged(`it has an entry ${name}`)
    await archive.next()
  }
  const contents = JSON.parse(await archive.readText()) as Contents
  await archive.next()
  compare(archive, contents, loaded)
  for (const [sequence, value] of Object.entries(contents.sequences)) {
    await client.query('select setval($1::regclass, $2)', [
      `public.${client.escapeIdentifier(sequence)}`,
      value,
    ])
  }
  await rebaseOutbox(client, tables)
  for (const { table, name, definition } of foreignKeys) {
    await client.query(`alter table ${table} add constraint ${client.escapeIdentifier(name)} ${definition}`)
  }
  await setTriggers(client, tables, 'enable')
  return { ...contents, made_at: manifest.made_at, secret_key: secretKey }
}

/**
 * Events carry the id of the transaction that wrote them, which means nothing in this database. Events that the relay has
 * read get a past id, the others the id of this transaction. Pages that were open before must be loaded again.
 */
async function rebaseOutbox(client: pg.ClientBase, tables: readonly string[]): Promise<void> {
  if (!tables.includes('notification_cursor')) {
    if (tables.includes('events')) await client.query('update events set xid = 0')
    return
  }
  await client.query(`
    update events e set xid = case
      when e.xid < c.from_xid or (e.xid < c.to_xid and e.id <= c.last_event_id) then 0
      else (pg_current_xact_id()::text)::bigint end
    from notification_cursor c`)
  await client.query('update notification_cursor set from_xid = 1, to_xid = 1, last_event_id = 0')
  if (tables.includes('event_horizon'))
    await client.query('update event_horizon set xid = (pg_current_xact_id()::text)::bigint')
}

/** The migrations of the backup. This version must know all of them. */
async function findMigrations(manifest: Manifest): Promise<Migration[]> {
  if (manifest.format !== formatVersion) {
    throw new StartupError(
      `The backup has format ${manifest.format}, which this version does not know: restore it with a newer Millrace.`,
    )
  }
  const known = await listMigrations()
  return manifest.migrations.map(({ name, sha256 }) => {
    const migration = known.find((candidate) => candidate.name === name)
    if (migration === undefined) {
      throw new StartupError(
        `The backup has migration ${name}, which this version does not know: restore it with a newer Millrace.`,
      )
    }
    if (createHash('sha256').update(migration.sql).digest('hex') !== sha256) {
      throw new StartupError(
        `The backup was made under another migration ${name} than this version has: restore it with the Millrace that made it.`,
      )
    }
    return migration
  })
}

async function createSchema(client: pg.ClientBase, migrations: readonly Migration[]): Promise<void> {
  await client.query(createMigrationsTable)
  await client.query('lock table migrations in access exclusive mode')
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name')
  const applied = new Set(rows.map(({ name }) => name))
  if (applied.size > 0) await refuseUsed(client)
  const newer = rows.find(({ name }) => !migrations.some((migration) => migration.name === name))
  if (newer !== undefined) {
    throw new StartupError(
      `The database has migration ${newer.name}, which is newer than the backup: restore into a database without tables.`,
    )
  }
  for (const { name, sql } of migrations) {
    if (!applied.has(name)) await client.query(sql)
  }
  // The backup has this table too.
  await client.query('delete from migrations')
}

async function refuseUsed(client: pg.ClientBase): Promise<void> {
  await client.query('lock table organizations in access exclusive mode')
  const { rowCount } = await client.query('select from organizations limit 1')
  if (rowCount === 0) return
  throw new StartupError(
    'The database already has an organization: restore into an empty database, ' +
      'by another DATABASE_URL or another MILLRACE_DATA_DIR.',
  )
}

async function refuseUsedBlobs(blobsDir: string): Promise<void> {
  const names = await readdir(blobsDir).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  })
  if (names.length === 0) return
  throw new StartupError(
    `There are files in ${blobsDir} already: move them away, or set MILLRACE_DATA_DIR to another directory.`,
  )
}

async function dropForeignKeys(client: pg.ClientBase): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as "table", conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace and conparentid = 0
     order by 1, 2`,
  )
  for (const { table, name } of rows) {
    await client.query(`alter table ${table} drop constraint ${client.escapeIdentifier(name)}`)
  }
  return rows
}

/** Migrations insert rows into these tables; the backup has the true ones. */
const filledByMigrations = new Set(['event_horizon', 'migration_contracts', 'notification_cursor'])

/** Locks all tables until the end of the transaction, and refuses any that has rows. */
async function lockEmptyTables(client: pg.ClientBase): Promise<string[]> {
  const tables = await listTables(client)
  for (const name of tables) {
    const table = `public.${client.escapeIdentifier(name)}`
    await client.query(`lock table ${table} in access exclusive mode`)
    if (filledByMigrations.has(name)) await client.query(`delete from ${table}`)
    const { rowCount } = await client.query(`select from ${table} limit 1`)
    if (rowCount === 0) continue
    throw new StartupError(`The database has rows in ${name} already: restore into an empty database.`)
  }
  return tables
}

/** Triggers have already run when the rows were first written. */
async function setTriggers(
  client: pg.ClientBase,
  tables: readonly string[],
  to: 'enable' | 'disable',
): Promise<void> {
  for (const table of tables) {
    await client.query(`alter table public.${client.escapeIdentifier(table)} ${to} trigger user`)
  }
}

/** Versions that knew no partitions wrote each of them as a table. */
const isPartitionOf = (table: string, name: string) =>
  table in partitionedTables &&
  /^_(first|default|\d{8})$/.test(name.slice(table.length)) &&
  name.startsWith(table)

async function loadTable(
  client: pg.ClientBase,
  archive: Archive,
  table: string,
  target: string,
): Promise<number> {
  const rows = client.query(copyFrom(`copy public.${client.escapeIdentifier(target)} from stdin`))
  await pipeline(partsOf(archive, table), rows)
  return rows.rowCount
}

async function* partsOf(archive: Archive, table: string): AsyncGenerator<Buffer> {
  for (let name = archive.name(); name !== null && tableOf(name) === table; name = archive.name()) {
    yield* archive.content()
    await archive.next()
  }
}

async function writeBlob(archive: Archive, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await pipeline(archive.content(), createWriteStream(path, { mode: 0o600, flush: true }))
}

function compare(archive: Archive, promised: Contents, loaded: Contents): void {
  for (const [table, rows] of Object.entries(promised.tables)) {
    const found = loaded.tables[table] ?? 0
    if (found !== rows) throw archive.damaged(`${table} has ${found} rows instead of ${rows}`)
  }
  if (loaded.blobs !== promised.blobs) {
    throw archive.damaged(`it has ${loaded.blobs} blobs instead of ${promised.blobs}`)
  }
}

type Entry = tar.Extract extends AsyncIterable<infer E> ? E : never

interface Archive {
  /** The current entry's; null at the end. */
  name(): string | null
  next(): Promise<void>
  content(): AsyncIterable<Buffer>
  readText(): Promise<string>
  /** Why the file could not be read. */
  problem(): StartupError | null
  damaged(how: string): StartupError
  close(): void
}

function openArchive(file: string): Archive {
  const extract = tar.extract()
  let problem: StartupError | null = null
  const damaged = (how: string) =>
    new StartupError(`${file} is damaged or not a backup of Millrace (${how}): restore another backup.`)
  const entries = extract[Symbol.asyncIterator]()
  let current: Entry | null = null
  async function* content(): AsyncGenerator<Buffer> {
    // An entry yields buffers, though its type does not say so.
    if (current !== null) yield* current as AsyncIterable<Buffer>
  }
  pipeline(createReadStream(file), createGunzip(), extract).catch((error: unknown) => {
    const code = errorCode(error)
    // Closed early because of another error.
    if (code === 'ERR_STREAM_PREMATURE_CLOSE') return
    problem = ['ENOENT', 'EACCES', 'EISDIR', 'EIO'].includes(code)
      ? new StartupError(
          `The backup ${file} cannot be read (${code}): name a file that is there and readable.`,
        )
      : damaged(error instanceof Error ? error.message : String(error))
  })
  return {
    name: () => current?.header.name ?? null,
    async next() {
      const { value, done } = await entries.next()
      current = done === true ? null : value
    },
    content,
    async readText() {
      const chunks: Buffer[] = []
      for await (const chunk of content()) chunks.push(chunk)
      return Buffer.concat(chunks).toString('utf8')
    },
    problem: () => problem,
    damaged,
    close: () => extract.destroy(),
  }
}
