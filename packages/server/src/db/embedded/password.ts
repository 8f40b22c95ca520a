/*
 * The database asks everyone for a password. It lies beside the cluster, for the one who runs the database alone; the
 * cluster keeps a SCRAM verifier of it. The socket's directory is private as well, but a job of a local agent must not
 * depend on that alone.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { chownSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Owner } from './privileges.ts'
import { errorCode, StartupError } from './startup-error.ts'

const ITERATIONS = 4096

/** Only the Unix socket is there to connect to; a host rule would never be asked. */
const ACCESS_RULES = '# Written by Millrace at its start.\nlocal all all scram-sha-256\n'

const passwordFile = (home: string) => join(home, 'password')
const rulesFile = (cluster: string) => join(cluster, 'pg_hba.conf')

export function readPassword(home: string): string {
  const password = findPassword(home)
  if (password !== undefined) return password
  throw new StartupError(
    `${passwordFile(home)} is missing, so the database cannot be entered: stop Millrace and start it again, which makes a new one.`,
  )
}

/** False for the cluster of an older Millrace, which let in whoever reached its socket. */
export function asksForPassword(home: string, cluster: string): boolean {
  return findPassword(home) !== undefined && readIfThere(rulesFile(cluster)) === ACCESS_RULES
}

export function ensurePassword(home: string, owner: Owner | undefined): string {
  const found = findPassword(home)
  if (found !== undefined) return found
  const password = randomBytes(32).toString('base64url')
  writeOwned(passwordFile(home), `${password}\n`, owner)
  return password
}

export function writeAccessRules(cluster: string, owner: Owner | undefined): void {
  writeOwned(rulesFile(cluster), ACCESS_RULES, owner)
}

/** What PostgreSQL stores of a password (RFC 5803), so that no log of its statements can show the password itself. */
export function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256')
  const sign = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(sign('Client Key')).digest('base64')
  const serverKey = sign('Server Key').toString('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}

function findPassword(home: string): string | undefined {
  return readIfThere(passwordFile(home))?.trim() || undefined
}

/** Whole or not at all, and never readable for others. */
function writeOwned(file: string, text: string, owner: Owner | undefined): void {
  const partial = `${file}.part`
  writeFileSync(partial, text, { mode: 0o600, flush: true })
  if (owner) chownSync(partial, owner.uid, owner.gid)
  renameSync(partial, file)
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
