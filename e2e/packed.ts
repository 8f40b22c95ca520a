// The package of `npm run pack`.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { oncePerRun } from './once-per-run.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const canBundle = major === 20 ? minor >= 19 : major === 22 ? minor >= 12 : major > 22

/** Why nothing can be packed here; null: it can. */
export const bundlerLacks = canBundle
  ? null
  : `the bundler needs Node 20.19 or 22.12, this is ${process.version}`

/** A folder with the package alone. */
export const packedFolder = (): Promise<string> =>
  oncePerRun('packed', async (folder) => {
    // With vitest's NODE_ENV the site would be built for development.
    const { NODE_ENV: _, ...env } = process.env
    await promisify(execFile)(process.execPath, ['tools/pack.mjs', folder], { cwd: root, env })
  })
