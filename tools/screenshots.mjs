/*
 * Writes pictures of every page, dialog and state, in light, in dark and as wide as a phone: npm run screenshots -- FOLDER. Words
 * after the folder choose some: the beginnings of names, and the looks light, dark, narrow and dark-narrow. The tests that look at
 * them take them.
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
