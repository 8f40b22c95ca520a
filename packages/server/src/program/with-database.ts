// Runs the work of an administrative command on the database of DATABASE_URL, on the embedded one of a running server,
// or on the embedded one started just for the command.
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Config } from '../config/config.ts'
import { clusterIn } from '../db/embedded/cluster.ts'
import { DataDirInUse, findHolder } from '../db/embedded/data-lock.ts'
import { findHome } from '../db/embedded/placement.ts'
import { findRunning, startEmbedded } from '../db/embedded/server.ts'
import { StartupError } from '../db/embedded/startup-error.ts'
import { openDatabase, type Database } from '../db/pool.ts'
import { openUrl } from './own-database.ts'

/** Refuses to create a database: without one the directory is most likely the wrong one. */
export async function withExistingDatabase<T>(
  config: Config,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const { dataDir } = config
  const exists = () => findHolder(dataDir) !== undefined || existsSync(clusterIn(findHome(dataDir)))
  if (config.database.kind === 'url' || exists()) return withDatabase(config, work)
  throw new StartupError(
    `There is no database in ${dataDir}: run this where Millrace was started, or set MILLRACE_DATA_DIR as it was there.`,
  )
}

/** Creates the database if there is none. */
export async function withDatabase<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  const database =
    config.database.kind === 'url'
      ? await openUrl(config.database, config.databaseLimits)
      : await openEmbedded(config.dataDir)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Creating a database takes seconds, and more on a busy machine. */
const joinMs = 30_000

/** Connects to the database that another process runs or is starting; else starts it for this command. */
async function openEmbedded(dataDir: string): Promise<Database> {
  const deadline = Date.now() + joinMs
  for (;;) {
    const running = findRunning(dataDir)
    const joined = running && (await tryOpen(running.connection))
    if (joined) return joined
    const isHeld = findHolder(dataDir) !== undefined && Date.now() < deadline
    try {
      if (!isHeld) return await startForCommand(dataDir)
    } catch (error) {
      if (!(error instanceof DataDirInUse) || Date.now() > deadline) throw error
    }
    await delay(50)
  }
}

/** A command that started the database does not stop it while another command holds this lock. */
const joinLock = `hashtext('millrace joins the database of another command')`

async function tryOpen(connection: pg.PoolConfig): Promise<Database | undefined> {
  const database = openDatabase(connection)
  const client = await database.pool.connect().catch(() => undefined)
  const close = async () => {
    client?.release()
    await database.close()
  }
  const hasJoined = await client
    ?.query(`select pg_try_advisory_lock_shared(${joinLock}) as "hasJoined"`)
    .then(
      ({ rows }) => rows[0].hasJoined === true,
      () => false,
    )
  if (hasJoined) return { ...database, close }
  // The process that started it is about to stop it, or has not finished starting it.
  await close()
  return undefined
}

async function startForCommand(dataDir: string): Promise<Database> {
  const embedded = await startEmbedded({ dataDir })
  const database = openDatabase(embedded.connection)
  const close = async () => {
    await waitForOthers(database.pool)
    await database.close()
    await embedded.stop()
  }
  return { ...database, close }
}

/** Waits for other commands that have joined, and lets no further one join. */
async function waitForOthers(pool: pg.Pool): Promise<void> {
  const deadline = Date.now() + joinMs
  const client = await pool.connect()
  try {
    while (Date.now() < deadline) {
      const { rows } = await client.query(`select pg_try_advisory_lock(${joinLock}) as "isAlone"`)
      if (rows[0].isAlone === true) return
      await delay(50)
    }
  } finally {
    client.release()
  }
}
