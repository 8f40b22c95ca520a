// A command that administers borrows whatever database there is: that of DATABASE_URL, the embedded one of a running
// server, or one started for the moment.
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Config } from '../config.ts'
import { clusterIn } from '../db/embedded/cluster.ts'
import { findHolder } from '../db/embedded/data-lock.ts'
import { findHome } from '../db/embedded/placement.ts'
import { findRunning, startEmbedded } from '../db/embedded/server.ts'
import { StartupError } from '../db/embedded/startup-error.ts'
import { openDatabase, type Database } from '../db/pool.ts'
import { openUrl } from './own-database.ts'

/** For what makes no sense without a database, such as one in the wrong directory. */
export async function borrow<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  const { dataDir } = config
  const isThere = () => findHolder(dataDir) !== undefined || existsSync(clusterIn(findHome(dataDir)))
  if (config.database.kind === 'url' || isThere()) return borrowOrMake(config, work)
  throw new StartupError(
    `There is no database in ${dataDir}: run this where Millrace was started, or set MILLRACE_DATA_DIR as it was there.`,
  )
}

export async function borrowOrMake<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  const database =
    config.database.kind === 'url'
      ? await openUrl(config.database.url, config.databaseLimits)
      : await borrowEmbedded(config.dataDir)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

const joinMs = 15_000

/** Joins the database that another process runs, also one that is still starting; else starts it for the moment. */
async function borrowEmbedded(dataDir: string): Promise<Database> {
  const deadline = Date.now() + joinMs
  for (;;) {
    const running = findRunning(dataDir)
    const joined = running && (await tryOpen(running.connection))
    if (joined) return joined
    const isHeld = findHolder(dataDir) !== undefined && Date.now() < deadline
    try {
      if (!isHeld) return await startForTheMoment(dataDir)
    } catch (error) {
      if (findHolder(dataDir) === undefined || Date.now() > deadline) throw error
    }
    await delay(50)
  }
}

/** While somebody holds this lock, the database that was started for the moment is not stopped. */
const joining = `hashtext('millrace joins the database of another command')`

async function tryOpen(connection: pg.PoolConfig): Promise<Database | undefined> {
  const database = openDatabase(connection)
  const client = await database.pool.connect().catch(() => undefined)
  const close = async () => {
    client?.release()
    await database.close()
  }
  const isIn = await client?.query(`select pg_try_advisory_lock_shared(${joining}) as "isIn"`).then(
    ({ rows }) => rows[0].isIn === true,
    () => false,
  )
  if (isIn) return { ...database, close }
  // Whoever started it is about to stop it, or has not finished starting it.
  await close()
  return undefined
}

async function startForTheMoment(dataDir: string): Promise<Database> {
  const embedded = await startEmbedded({ dataDir })
  const database = openDatabase(embedded.connection)
  const close = async () => {
    await waitForOthers(database.pool)
    await database.close()
    await embedded.stop()
  }
  return { ...database, close }
}

/** Another command may have joined; it gets the time to finish. From then on nobody joins. */
async function waitForOthers(pool: pg.Pool): Promise<void> {
  const deadline = Date.now() + joinMs
  const client = await pool.connect()
  try {
    while (Date.now() < deadline) {
      const { rows } = await client.query(`select pg_try_advisory_lock(${joining}) as "isAlone"`)
      if (rows[0].isAlone === true) return
      await delay(50)
    }
  } finally {
    client.release()
  }
}
