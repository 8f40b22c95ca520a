// One PostgreSQL for the whole run, and in it one migrated template that every test file clones.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { scratch } from '../../../testbed/src/scratch.ts'
import { startTemporary } from '../src/db/embedded/temporary.ts'
import { migrate } from '../src/db/migrate.ts'
import { openDatabase } from '../src/db/pool.ts'

declare module 'vitest' {
  interface ProvidedContext {
    database: { host: string; port: number; user: string }
  }
}

const template = 'millrace_template'

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startTemporary({ under: scratch() })
  const { host, port, user } = postgres.connection
  await administer({ host, port, user }, `create database ${template}`)
  const { pool, close } = openDatabase({ host, port, user, database: template })
  await migrate(pool)
  await close()
  project.provide('database', { host, port, user })
  return postgres.stop
}

export async function cloneTemplate(server: {
  host: string
  port: number
  user: string
}): Promise<pg.PoolConfig> {
  const database = `test_${randomBytes(6).toString('hex')}`
  await administer(server, `create database ${database} template ${template} strategy file_copy`)
  return { ...server, database }
}

export async function dropClone(
  server: { host: string; port: number; user: string },
  database: string,
): Promise<void> {
  await administer(server, `drop database ${database} with (force)`)
}

async function administer(
  server: { host: string; port: number; user: string },
  statement: string,
): Promise<void> {
  const client = new pg.Client({ ...server, database: 'postgres' })
  await client.connect()
  await client.query(statement)
  await client.end()
}
