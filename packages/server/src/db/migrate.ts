// Forward-only migrations: plain SQL files, one transaction each, one process at a time.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { connectAlone } from './pool.ts'

const folder = fileURLToPath(new URL('../../migrations/', import.meta.url))
const lockKey = 7_206_473_321

export const createMigrationsTable = `create table if not exists migrations (
  name text primary key, sha256 text not null, applied_at timestamptz(3) not null default now())`

export interface Migration {
  name: string
  sql: string
}

export async function listMigrations(): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => ({
      name: name.replace(/\.sql$/, ''),
      sql: await readFile(folder + name, 'utf8'),
    })),
  )
}

/** Applies what is missing and returns its names. Refuses a database whose applied migrations this program does not know. */
export async function migrate(pool: pg.Pool): Promise<string[]> {
  const migrations = await listMigrations()
  const client = await connectAlone(pool)
  try {
    await client.query('set statement_timeout = 0')
    await client.query('select pg_advisory_lock($1)', [lockKey])
    await client.query(createMigrationsTable)
    const applied = new Map(
      (await client.query<{ name: string; sha256: string }>('select name, sha256 from migrations')).rows.map(
        (row) => [row.name, row.sha256],
      ),
    )
    refuseUnknown(applied, migrations)
    const missing = migrations.filter(({ name }) => !applied.has(name))
    for (const migration of missing) await apply(client, migration)
    return missing.map(({ name }) => name)
  } finally {
    await client.query('select pg_advisory_unlock_all()').catch(() => {})
    await client.end()
  }
}

async function apply(client: pg.ClientBase, { name, sql }: Migration): Promise<void> {
  await client.query('begin')
  try {
    await client.query(sql)
    await client.query('insert into migrations (name, sha256) values ($1, $2)', [name, sha256(sql)])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new Error(`Migration ${name} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

function refuseUnknown(applied: Map<string, string>, migrations: Migration[]): void {
  const known = new Map(migrations.map(({ name, sql }) => [name, sha256(sql)]))
  for (const [name, hash] of applied) {
    const ours = known.get(name)
    if (ours === undefined) {
      throw new Error(
        `The database has migration ${name}, which this version does not know: run a newer Millrace.`,
      )
    }
    if (ours !== hash) throw new Error(`Migration ${name} was changed after it was applied.`)
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
