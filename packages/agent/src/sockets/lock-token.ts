// The token with which trusted jobs reach their locks. Jobs that run as another user than the agent cannot read its file:
// they get it in their environment, and jobs of forks do not.

import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../http/exchange.ts'
import { makeOwnFolder } from './own-folder.ts'

const tokenFile = (tokensPath: string) => join(tokensPath, 'lock-token')

/** The same for all agents that use the folder. */
export async function makeLockToken(tokensPath: string): Promise<string> {
  await makeOwnFolder(tokensPath)
  const path = tokenFile(tokensPath)
  const own = randomBytes(24).toString('hex')
  const written = `${path}.${own.slice(0, 8)}`
  writeFileSync(written, own, { mode: 0o600, flag: 'wx' })
  try {
    // Never shows a file without its token.
    linkSync(written, path)
    return own
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    return readFileSync(path, 'utf8')
  } finally {
    rmSync(written, { force: true })
  }
}

export function findLockToken(tokensPath: string): string | null {
  try {
    return readFileSync(tokenFile(tokensPath), 'utf8')
  } catch {
    return null
  }
}
