// Runs the checks of CI: format, lint, types, import directions, schema freshness, tests. Stops at the first failure.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { prepare } from './prepare.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = (name) => fileURLToPath(new URL(`../node_modules/.bin/${name}`, import.meta.url))
const node = process.execPath

await prepare({ dev: true })

const steps = [
  ['Format', bin('oxfmt'), ['--check', '.']],
  ['Lint', bin('oxlint'), ['--type-aware', '--deny-warnings', '.']],
  ...['engine', 'agent', 'server', 'cli', 'web'].map((name) => [
    `Types of the tests of ${name}`,
    bin('tsc'),
    ['-p', `packages/${name}/tsconfig.test.json`],
  ]),
  ['Types of the end-to-end tests', bin('tsc'), ['-p', 'e2e']],
  ['Import directions', node, ['tools/check-imports.mjs']],
  ['Schema', node, ['tools/schema.mjs', '--check']],
  ['Tests', node, ['tools/test.mjs']],
]

for (const [title, command, args] of steps) {
  console.log('')
  console.log(title)
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) {
    console.error('Failed:', title)
    process.exit(1)
  }
}
