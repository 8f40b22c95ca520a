/*
 * The database requires a password. It is in a file beside the cluster that only the user of the database can read; the
 * cluster keeps a SCRAM verifier of it. The socket's directory is private as well, but jobs of local agents must not be kept
 * out by that alone.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { chownSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Owner } from './privileges.ts'
import { errorCode, StartupError } from './startup-error.ts'

const ITERATIONS = 4096

/** PostgreSQL listens on the Unix socket only, so no host rule is needed. */
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

/** False for the cluster of an older Millrace, which had no password. */
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

/** The verifier that PostgreSQL stores (RFC 5803), so that its log of statements never shows the password. */
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

/** Writes atomically, and never readable for others. */
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
