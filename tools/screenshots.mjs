/*
 * Writes a picture of every page, in light, in dark and as wide as a phone: npm run screenshots -- FOLDER. The test that looks
 * at every page takes them.
 */
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { prepareOrExit, root } from './prepare.mjs'

const folder = resolve(process.argv[2] ?? 'screenshots')
await prepareOrExit({ dev: true })
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--project', 'e2e', 'e2e/web/every-page.test.ts'],
  { cwd: root, stdio: 'inherit', env: { ...process.env, MILLRACE_BUILT: 'yes', SCREENSHOTS: folder } },
)
console.log(`The pictures are in ${folder}.`)
process.exitCode = status ?? 1
