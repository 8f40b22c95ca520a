// The database of a server or worker process.
import type pg from 'pg'
import type { Config } from '../config/config.ts'
import { startEmbedded } from '../db/embedded/server.ts'
import { StartupError } from '../db/embedded/startup-error.ts'
import { migrate, readVersion } from '../db/migrate.ts'
import { inspectEndpoint, isSameDatabase, type Endpoint } from '../db/pooler.ts'
import { openDatabase, type Database, type DatabaseLimits, type DatabaseOptions } from '../db/pool.ts'
import { serverName, serverNamePrefix } from '../db/server-name.ts'
import { within } from './within.ts'

export interface OwnDatabase extends Database {
  how: string
  /** The folders of its files and its socket; empty with DATABASE_URL. */
  folders: string[]
  /** Rejects when the database ends by itself; else stays pending. */
  lost: Promise<never>
}

export async function openOwnDatabase(
  config: Config,
  say: (sentence: string) => void,
  observers: Pick<DatabaseOptions, 'onWaited' | 'tracer'>,
): Promise<OwnDatabase> {
  const options = {
    limits: config.databaseLimits,
    maxConnections: config.databaseConnections,
    applicationName: serverName(config.roles, await readVersion()),
    ...observers,
  }
  const never = new Promise<never>(() => {})
  if (config.database.kind === 'url') {
    return {
      ...(await openServerUrl(options, config.database, say)),
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
  const database = openDatabase(embedded.connection, options)
  const close = async () => {
    isClosing = true
    await within(1000, database.close)
    await embedded.stop()
  }
  const folders = [embedded.home, embedded.connection.host]
  return { ...database, close, how: `runs ${embedded.how}`, folders, lost }
}

/** For commands that must not run beside a server. */
export async function refuseRunningServers(pool: pg.Pool): Promise<void> {
  const { rowCount } = await pool.query(
    'select from pg_stat_activity where datname = current_database() and starts_with(application_name, $1) limit 1',
    [serverNamePrefix],
  )
  if (rowCount === 0) return
  throw new StartupError(
    'A Millrace server runs on this database: stop every server and worker that uses it, then restore.',
  )
}

const oldestVersion = 14

interface DatabaseAddress {
  url: string
  directUrl: string | null
}

/** For servers and workers, which may use a pooler. */
async function openServerUrl(
  options: DatabaseOptions & { limits: DatabaseLimits },
  { url, directUrl }: DatabaseAddress,
  say: (sentence: string) => void,
): Promise<Database> {
  const { limits } = options
  if (directUrl === null) return openSessions('DATABASE_URL', url, options)
  const { preparesStatements } = await inspect('DATABASE_URL', url, limits)
  await (await openSessions(directSetting, directUrl, { limits })).close()
  const database = openDatabase(url, { ...options, pooler: { direct: directUrl, preparesStatements } })
  if (!(await isSameDatabase(database.pool, database.direct))) {
    await database.close()
    throw new StartupError(
      `DATABASE_URL and ${directSetting} lead to different databases: correct one of them.`,
    )
  }
  if (!preparesStatements) {
    say(
      'The pooler of DATABASE_URL keeps no prepared statements, so PostgreSQL plans every statement anew: ' +
        'use PgBouncer 1.21 or newer with max_prepared_statements = 1000.',
    )
  }
  return database
}

const directSetting = 'MILLRACE_DATABASE_DIRECT_URL'

/** For commands. They bypass the pooler: they migrate, copy whole tables and hold locks. */
export const openUrl = ({ url, directUrl }: DatabaseAddress, limits: DatabaseLimits): Promise<Database> =>
  directUrl === null
    ? openSessions('DATABASE_URL', url, { limits })
    : openSessions(directSetting, directUrl, { limits })

/** Refuses an address whose connections are not sessions of PostgreSQL, or not with our settings. */
async function openSessions(
  setting: string,
  url: string,
  options: DatabaseOptions & { limits: DatabaseLimits },
): Promise<Database> {
  const wayOut = `set ${directSetting} to the address of PostgreSQL itself.`
  const { pools } = await inspect(setting, url, options.limits)
  if (pools === 'transactions') {
    throw new StartupError(
      `${setting} leads to a pooler in transaction mode, which loses notifications and locks: ${wayOut}`,
    )
  }
  const database = openDatabase(url, options)
  try {
    if (pools === 'sessions') await database.pool.query('select')
    return database
  } catch (error) {
    await database.close()
    throw new StartupError(
      `${setting} leads to a pooler that refuses settings (${reasonOf(error)}): ${wayOut}`,
    )
  }
}

async function inspect(setting: string, url: string, limits: DatabaseLimits): Promise<Endpoint> {
  // As if there were a pooler: one would refuse the settings of other connections.
  const probe = openDatabase(url, { limits, pooler: { direct: url, preparesStatements: false } })
  let endpoint: Endpoint
  try {
    endpoint = await inspectEndpoint(probe.pool)
  } catch (error) {
    throw new StartupError(
      `${setting} does not answer (${reasonOf(error)}): start that PostgreSQL, or correct ${setting}.`,
    )
  } finally {
    await probe.close()
  }
  if (endpoint.version >= oldestVersion) return endpoint
  throw new StartupError(
    `${setting} leads to PostgreSQL ${endpoint.version}: set it to PostgreSQL ${oldestVersion} or newer.`,
  )
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
