/*
 * Writes pictures of every page, dialog and state, in light, in dark and as wide as a phone: npm run screenshots -- FOLDER. Only
 * those whose names begin with one of the words after the folder, if there are any. The tests that look at them take them.
 */
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { prepareOrExit, root } from './prepare.mjs'

const [given = 'screenshots', ...names] = process.argv.slice(2)
const folder = resolve(given)
await prepareOrExit({ dev: true })
const files = ['every-page', 'every-state'].map((name) => `e2e/web/${name}.test.ts`)
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--project', 'e2e', ...files],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      MILLRACE_BUILT: 'yes',
      SCREENSHOTS: folder,
      SCREENSHOTS_OF: names.join(' '),
    },
  },
)
console.log(`The pictures are in ${folder}.`)
process.exitCode = status ?? 1
