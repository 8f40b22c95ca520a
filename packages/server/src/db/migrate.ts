// Forward-only migrations: plain SQL files, one transaction each, one process at a time.
//
// Two releases share a schema while replicas are replaced one by one, so a migration only adds. One that drops what the previous
// release uses comes a release later, and its first line names the oldest version that works without:
// `-- contract: needs 0.2.0`. The table `migration_contracts` keeps that, so that an older program knows whether it may run.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { packageFolder } from '../lib/package-files.ts'
import { connectAlone } from './pool.ts'

const folder = join(packageFolder, 'migrations')
const lockKey = 7_206_473_321
const lockMs = 2000

export const createMigrationsTable = `create table if not exists migrations (
  name text primary key, sha256 text not null, applied_at timestamptz(3) not null default now())`

export interface Migration {
  name: string
  sql: string
  /** The oldest version that works after it; null: the previous one does, because nothing is dropped. */
  needs: string | null
}

const contractLine = /^-- contract: needs (\d+\.\d+\.\d+)\n/

export async function listMigrations(): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(folder, name), 'utf8')
      return { name: name.replace(/\.sql$/, ''), sql, needs: contractLine.exec(sql)?.[1] ?? null }
    }),
  )
}

/** Applies the missing migrations and returns their names. Refuses a database that lacks what this program needs. */
export async function migrate(pool: pg.Pool): Promise<string[]> {
  const migrations = await listMigrations()
  const client = await connectAlone(pool)
  try {
    await client.query(`set statement_timeout = 0; set lock_timeout = ${lockMs}`)
    await retryLocked(() => client.query('select pg_advisory_lock($1)', [lockKey]))
    await client.query(createMigrationsTable)
    const { rows: applied } = await client.query<Applied>('select name, sha256 from migrations')
    refuseChanged(applied, migrations)
    await refuseTooNew(client, migrations)
    const missing = migrations.filter(({ name }) => !applied.some((row) => row.name === name))
    for (const migration of missing) await retryLocked(() => apply(client, migration))
    return missing.map(({ name }) => name)
  } finally {
    await client.query('select pg_advisory_unlock_all()').catch(() => {})
    await client.end()
  }
}

interface Applied {
  name: string
  sha256: string
}

/**
 * A migration that waits for a lock keeps every request waiting that needs the same table, so it waits only briefly and tries
 * again: a backup may hold the lock for hours.
 */
async function retryLocked(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work()
      return
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
      if (!(cause instanceof pg.DatabaseError && ['55P03', '40P01'].includes(cause.code ?? ''))) throw error
      await delay(lockMs)
    }
  }
}

async function apply(client: pg.ClientBase, { name, sql, needs }: Migration): Promise<void> {
  await client.query('begin')
  try {
    await client.query(sql)
    await client.query('insert into migrations (name, sha256) values ($1, $2)', [name, sha256(sql)])
    if (needs !== null)
      await client.query('insert into migration_contracts (name, needs) values ($1, $2)', [name, needs])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new Error(`Migration ${name} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

function refuseChanged(applied: readonly Applied[], migrations: readonly Migration[]): void {
  const known = new Map(migrations.map(({ name, sql }) => [name, sha256(sql)]))
  for (const { name, sha256: then } of applied) {
    const now = known.get(name)
    if (now !== undefined && now !== then)
      throw new Error(`Migration ${name} was changed after it was applied.`)
  }
}

async function refuseTooNew(client: pg.ClientBase, migrations: readonly Migration[]): Promise<void> {
  const table = await client.query<{ exists: boolean }>(
    `select to_regclass('migration_contracts') is not null as exists`,
  )
  if (table.rows[0]?.exists !== true) return
  const { rows } = await client.query<{ name: string; needs: string }>(
    'select name, needs from migration_contracts order by name',
  )
  const version = await readVersion()
  for (const { name, needs } of rows) {
    if (migrations.some((known) => known.name === name) || !isOlder(version, needs)) continue
    throw new Error(
      `The database has migration ${name}, which needs Millrace ${needs} or newer; this is ${version}: run a newer Millrace.`,
    )
  }
}

export async function readVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string
  }
  return version
}

function isOlder(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split('.').map(Number))
  const at = [0, 1, 2].find((index) => a?.[index] !== b?.[index])
  return at !== undefined && (a?.[at] ?? 0) < (b?.[at] ?? 0)
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
