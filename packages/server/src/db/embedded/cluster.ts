import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { asksForPassword, ensurePassword, scramVerifier, writeAccessRules } from './password.ts'
import type { Placement } from './placement.ts'
import { type Result, run } from './processes.ts'
import { StartupError } from './startup-error.ts'

export const USER = 'millrace'
export const DATABASE = 'millrace'

const UNFINISHED = 'unfinished-'

export function clusterIn(home: string): string {
  return join(home, 'cluster')
}

/**
 * Creates the cluster if there is none, else checks that this PostgreSQL can read it. It is created under another name
 * and renamed, so that an incomplete one is never used.
 */
export async function ensureCluster(placement: Placement, durable: boolean): Promise<void> {
  const { home, binaries } = placement
  const cluster = clusterIn(home)
  removeUnfinished(home)
  if (existsSync(join(cluster, 'PG_VERSION'))) {
    checkVersion(cluster, binaries.major)
    // PostgreSQL insists on this mode, and copies and restored backups often lose it.
    chmodSync(cluster, 0o700)
    if (!asksForPassword(home, cluster)) await askForPassword(placement, cluster, durable)
    return
  }
  if (existsSync(cluster) && readdirSync(cluster).length > 0) {
    throw new StartupError(
      `${cluster} is not a PostgreSQL database: move it away, or set MILLRACE_DATA_DIR to another directory.`,
    )
  }
  const unfinished = join(home, UNFINISHED + randomBytes(4).toString('hex'))
  try {
    await initialize(placement, unfinished, durable)
    renameSync(unfinished, cluster)
    if (durable) syncDirectory(home)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

function removeUnfinished(home: string): void {
  for (const name of readdirSync(home)) {
    if (!name.startsWith(UNFINISHED)) continue
    // The initdb of a killed process may still be writing; the next start deletes its files.
    rmSync(join(home, name), { recursive: true, force: true, maxRetries: 5 })
  }
}

function checkVersion(cluster: string, major: number): void {
  const made = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  if (made === String(major)) return
  throw new StartupError(
    `The database in ${cluster} was made by PostgreSQL ${made} and this Millrace brings PostgreSQL ${major}: ` +
      'make a backup with the Millrace that made it (millrace backup FILE), move the directory away and restore ' +
      'the backup here (millrace restore FILE).',
  )
}

async function initialize(placement: Placement, cluster: string, durable: boolean): Promise<void> {
  const { runner, binaries } = placement
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--encoding=UTF8']
  // No client connects before the role has its password and the access rules require it.
  const access = [`--username=${USER}`, '--auth-local=reject', '--auth-host=reject']
  const flags = [...locale, ...access, '--no-instructions', ...(durable ? [] : ['--no-sync'])]
  const made = await run(runner.command(binaries.initdb, ['-D', cluster, ...flags]))
  if (made.code !== 0) throw failure(cluster, made)
  await askForPassword(placement, cluster, durable, `CREATE DATABASE ${DATABASE}\n`)
}

/** The rules are written last: they prove that the role has the password. */
async function askForPassword(
  { home, runner, binaries }: Placement,
  cluster: string,
  durable: boolean,
  before = '',
): Promise<void> {
  const verifier = scramVerifier(ensurePassword(home, runner.owner))
  const settings = ['-c', 'exit_on_error=on', '-c', 'log_checkpoints=off', ...(durable ? [] : ['-F'])]
  const single = runner.command(binaries.postgres, ['--single', ...settings, '-D', cluster, 'postgres'])
  const done = await run(single, `${before}ALTER ROLE ${USER} PASSWORD '${verifier}'\n`)
  if (done.code !== 0) throw failure(cluster, done)
  writeAccessRules(cluster, runner.owner)
}

function failure(cluster: string, { stdout, stderr }: Result): StartupError {
  if (stderr.includes('could not look up effective user ID')) {
    return new StartupError(
      `PostgreSQL needs a name for user id ${process.geteuid?.()}: add the user to /etc/passwd, ` +
        'or set DATABASE_URL to a PostgreSQL 14 or newer.',
    )
  }
  const lines = `${stdout}\n${stderr}`.trim().split('\n')
  const cause = lines.find((line) => /error:|ERROR:|FATAL:|PANIC:/.test(line)) ?? lines.at(-1)
  const reason = cause?.replace(/^.*?(error|ERROR|FATAL|PANIC):\s*/, '') || 'no reason given'
  return new StartupError(
    `PostgreSQL could not make its database in ${dirname(cluster)} (${reason}): put that right and start again, ` +
      'or set DATABASE_URL to another PostgreSQL.',
  )
}

function syncDirectory(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
