import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findHome } from './placement.ts'
import { type EmbeddedOptions, type EmbeddedPostgres, launch } from './server.ts'

/** A database for tests: not durable, deleted after stop() or when this process dies. */
export async function startTemporary({
  under = tmpdir(),
  ...options
}: Omit<EmbeddedOptions, 'dataDir'> & { under?: string } = {}): Promise<EmbeddedPostgres> {
  const dataDir = mkdtempSync(join(under, 'millrace-temporary-'))
  const remove = () => {
    for (const path of [dirname(findHome(dataDir)), dataDir]) {
      rmSync(path, { recursive: true, force: true, maxRetries: 5 })
    }
  }
  try {
    const database = await launch({ ...options, dataDir }, { durable: false, shutdown: 'immediate' })
    const stop = async () => {
      await database.stop()
      remove()
    }
    return { ...database, stop }
  } catch (error) {
    remove()
    throw error
  }
}
