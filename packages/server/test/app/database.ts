// One PostgreSQL for the whole run, and in it one migrated template that servers clone. Also one folder for their files.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import pino from 'pino'
import type { TestProject } from 'vitest/node'
import { scratch } from '../../../../testbed/src/scratch.ts'
import { startTemporary } from '../../src/db/embedded/temporary.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/pool.ts'
import { migrateTasks } from '../../src/tasks/run.ts'

declare module 'vitest' {
  interface ProvidedContext {
    database: DatabaseServer
    dataFolder: string
  }
}

interface DatabaseServer {
  host: string
  port: number
  user: string
  password: string
}

const template = 'millrace_template'

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startTemporary({ under: scratch() })
  const { database: _own, ...server } = postgres.connection
  await administer(server, `create database ${template}`)
  const { pool, close } = openDatabase({ ...server, database: template })
  await migrate(pool)
  await migrateTasks(pool, pino({ level: 'silent' }))
  await close()
  const dataFolder = await mkdtemp(join(tmpdir(), 'millrace-data-'))
  project.provide('database', server)
  project.provide('dataFolder', dataFolder)
  return async () => {
    await postgres.stop()
    await rm(dataFolder, { recursive: true, force: true })
  }
}

export async function cloneTemplate(server: DatabaseServer): Promise<pg.PoolConfig> {
  const database = `test_${randomBytes(6).toString('hex')}`
  await administer(server, `create database ${database} template ${template} strategy file_copy`)
  return { ...server, database }
}

export async function dropClone(server: DatabaseServer, database: string): Promise<void> {
  await administer(server, `drop database ${database} with (force)`)
}

/** One for each worker, for as long as it lives: to connect takes as long as to make a database does. */
let administrator: Promise<pg.Client> | undefined

async function administer(server: DatabaseServer, statement: string): Promise<void> {
  administrator ??= connect(server)
  const client = await administrator
  await client.query(statement)
}

async function connect(server: DatabaseServer): Promise<pg.Client> {
  const client = new pg.Client({ ...server, database: 'postgres' })
  // It ends with the database.
  client.on('error', () => {})
  await client.connect()
  return client
}
