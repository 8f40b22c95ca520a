// Writes a backup while the server runs: all tables in one snapshot, then the blobs.
import { opendir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import tar from 'tar-stream'
import { partitionedTables, partitionLock } from '../db/partitions.ts'
import { connectAlone } from '../db/pool.ts'
import { errorCode, StartupError } from '../db/embedded/startup-error.ts'
import {
  blobEntry,
  contentsEntry,
  formatVersion,
  manifestEntry,
  secretKeyEntry,
  tableEntry,
  type Contents,
  type Manifest,
} from './format.ts'

interface BackupSource {
  blobsDir: string
  /** null: the backup has no key, so its sealed values open only where the key is. */
  secretKey: string | null
}

export interface Backup extends Contents {
  bytes: number
}

const partBytes = 8 * 1024 * 1024

/** Replaces an earlier file only when the new one is complete. */
export async function writeBackup(pool: pg.Pool, file: string, source: BackupSource): Promise<Backup> {
  const partial = `${file}.partial`
  const handle = await open(partial, 'w', 0o600).catch((error: unknown) => {
    throw unwritable(file, error)
  })
  const output = handle.createWriteStream({ flush: true })
  const pack = tar.pack()
  try {
    const filling = fill(pool, pack, source).catch((error: unknown) => {
      pack.destroy(error instanceof Error ? error : new Error(String(error)))
      throw error
    })
    const [, contents] = await Promise.all([pipeline(pack, createGzip(), output), filling])
    await rename(partial, file)
    return { ...contents, bytes: output.bytesWritten }
  } catch (error) {
    await rm(partial, { force: true })
    throw ['ENOSPC', 'EDQUOT', 'EIO', 'EISDIR', 'ENOTEMPTY'].includes(errorCode(error))
      ? unwritable(file, error)
      : error
  }
}

async function fill(pool: pg.Pool, pack: tar.Pack, source: BackupSource): Promise<Contents> {
  const contents: Contents = { tables: {}, sequences: {}, blobs: 0 }
  const client = await connectAlone(pool)
  try {
    // Before the snapshot, so that no partition in it is dropped.
    await client.query('select pg_advisory_lock_shared($1)', [partitionLock])
    await client.query('begin isolation level repeatable read read only')
    await client.query(
      'set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0; set local row_security = off',
    )
    await addEntry(pack, manifestEntry, JSON.stringify(await readManifest(client)))
    if (source.secretKey !== null) await addEntry(pack, secretKeyEntry, source.secretKey)
    for (const table of await listTables(client)) {
      contents.tables[table] = await addTable(client, pack, table)
    }
    contents.sequences = await readSequences(client)
    await client.query('commit')
  } finally {
    await client.end()
  }
  for await (const path of walk(source.blobsDir, '')) {
    if (await addBlob(pack, source.blobsDir, path)) contents.blobs += 1
  }
  await addEntry(pack, contentsEntry, JSON.stringify(contents))
  pack.finalize()
  return contents
}

async function readManifest(client: pg.ClientBase): Promise<Manifest> {
  const found = await client.query<{ exists: boolean }>(
    `select to_regclass('public.migrations') is not null as exists`,
  )
  if (found.rows[0]?.exists !== true) {
    throw new StartupError('There is nothing to back up: this database was never used by Millrace.')
  }
  const { rows } = await client.query<{ name: string; sha256: string }>(
    'select name, sha256 from migrations order by name',
  )
  return { format: formatVersion, made_at: new Date().toISOString(), migrations: rows }
}

/**
 * Unlogged tables hold nothing that must survive a crash, so they are left out. The rows of partitions are those of their
 * table: which partitions there are depends on the time.
 */
export async function listTables(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relpersistence = 'p'
       and not relispartition
     order by relname`,
  )
  return rows.map(({ name }) => name)
}

async function addTable(client: pg.ClientBase, pack: tar.Pack, table: string): Promise<number> {
  const name = `public.${client.escapeIdentifier(table)}`
  // COPY of a table leaves out generated columns, and takes no table with partitions.
  const source = table in partitionedTables ? `(select * from ${name})` : name
  const rows = client.query(copyTo(`copy ${source} to stdout`))
  let part = 0
  for await (const bytes of inParts(rows)) await addEntry(pack, tableEntry(table, ++part), bytes)
  return rows.rowCount
}

async function* inParts(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = []
  let size = 0
  for await (const chunk of chunks) {
    waiting.push(chunk)
    size += chunk.length
    if (size < partBytes) continue
    yield Buffer.concat(waiting)
    waiting = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(waiting)
}

/** Sequences have no snapshots. Read after the tables, their values are at least those in the tables. */
async function readSequences(client: pg.ClientBase): Promise<Record<string, number>> {
  const { rows } = await client.query<{ name: string; value: number }>(
    `select sequencename as name, last_value as value from pg_sequences
     where schemaname = 'public' and last_value is not null`,
  )
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

async function* walk(root: string, below: string): AsyncGenerator<string> {
  const directory = await opendir(join(root, below)).catch(absentIsNull)
  for await (const entry of directory ?? []) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) yield* walk(root, path)
    else if (entry.isFile()) yield path
  }
}

/** False if the blob was deleted after the tables were read, because its row was about to be deleted too. */
async function addBlob(pack: tar.Pack, root: string, path: string): Promise<boolean> {
  const handle = await open(join(root, path)).catch(absentIsNull)
  if (handle === null) return false
  try {
    const { size } = await handle.stat()
    const name = blobEntry(path)
    if (size === 0) await addEntry(pack, name, '')
    else
      await pipeline(handle.createReadStream({ end: size - 1, autoClose: false }), pack.entry({ name, size }))
    return true
  } finally {
    await handle.close()
  }
}

function addEntry(pack: tar.Pack, name: string, content: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    pack.entry({ name }, content, (error) => (error ? reject(error) : resolve()))
  })
}

function absentIsNull(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null
  throw error
}

function unwritable(file: string, error: unknown): StartupError {
  const reason = errorCode(error) || String(error)
  return new StartupError(
    `The backup cannot be written to ${file} (${reason}): make room or give this user access, or name another file.`,
  )
}
