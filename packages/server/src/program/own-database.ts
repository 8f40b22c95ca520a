// The database of a server or worker process.
import type pg from 'pg'
import type { Config } from '../config.ts'
import { startEmbedded } from '../db/embedded/server.ts'
import { StartupError } from '../db/embedded/startup-error.ts'
import { migrate } from '../db/migrate.ts'
import { openDatabase, type Database, type DatabaseLimits } from '../db/pool.ts'
import { within } from './within.ts'

export interface OwnDatabase extends Database {
  how: string
  /** The folders of its files and its socket; empty with DATABASE_URL. */
  folders: string[]
  /** Rejects when the database ends by itself; else stays pending. */
  lost: Promise<never>
}

export async function openOwnDatabase(config: Config, say: (sentence: string) => void): Promise<OwnDatabase> {
  const never = new Promise<never>(() => {})
  if (config.database.kind === 'url') {
    return {
      ...(await openUrl(config.database.url, config.databaseLimits, serverName)),
      how: 'is the one of DATABASE_URL',
      folders: [],
      lost: never,
    }
  }
  const embedded = await startEmbedded({ dataDir: config.dataDir, log: say })
  let isClosing = false
  const lost = embedded.exited.then(({ code, signal }) => {
    if (isClosing) return never
    throw new StartupError(
      `PostgreSQL ended by itself (${signal ?? `code ${code}`}); it ran ${embedded.how}: read postgres.log there, then start again.`,
    )
  })
  lost.catch(() => {})
  const database = openDatabase(embedded.connection, {
    limits: config.databaseLimits,
    applicationName: serverName,
  })
  const close = async () => {
    isClosing = true
    await within(1000, database.close)
    await embedded.stop()
  }
  const folders = [embedded.home, embedded.connection.host]
  return { ...database, close, how: `runs ${embedded.how}`, folders, lost }
}

/** The application_name of servers and workers. Sessions of commands have none. */
const serverName = 'millrace server'

/** For commands that must not run beside a server. */
export async function refuseRunningServers(pool: pg.Pool): Promise<void> {
  const { rowCount } = await pool.query(
    'select from pg_stat_activity where datname = current_database() and application_name = $1 limit 1',
    [serverName],
  )
  if (rowCount === 0) return
  throw new StartupError(
    'A Millrace server runs on this database: stop every server and worker that uses it, then restore.',
  )
}

const oldestVersion = 14

export async function openUrl(
  url: string,
  limits: DatabaseLimits,
  applicationName?: string,
): Promise<Database> {
  const probe = openDatabase(url, { limits })
  try {
    const { rows } = await probe.pool.query<{ version: number }>(
      `select current_setting('server_version_num')::int / 10000 as version`,
    )
    const version = rows[0]?.version ?? 0
    if (version >= oldestVersion) {
      return openDatabase(url, { limits, ...(applicationName === undefined ? {} : { applicationName }) })
    }
    throw new StartupError(
      `DATABASE_URL leads to PostgreSQL ${version}: set it to PostgreSQL ${oldestVersion} or newer.`,
    )
  } catch (error) {
    if (error instanceof StartupError) throw error
    throw new StartupError(
      `DATABASE_URL does not answer (${reasonOf(error)}): start that PostgreSQL, or correct DATABASE_URL.`,
    )
  } finally {
    await probe.close()
  }
}

/** A host name with several addresses fails with one error for each. */
function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  return first instanceof Error ? first.message : String(first)
}

export async function migrateOrRefuse(pool: pg.Pool): Promise<string[]> {
  try {
    return await migrate(pool)
  } catch (error) {
    throw new StartupError(reasonOf(error), { cause: error })
  }
}
