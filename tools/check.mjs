// Runs the checks of CI: format, lint, types, imports, exports and schema freshness side by side, then all tests.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { compiler } from './compile.mjs'
import { prepareOrExit, root } from './prepare.mjs'
import { step } from './progress.mjs'

await prepareOrExit({ dev: true, only: 'code' })

const node = process.execPath
const bin = (name) => join(root, 'node_modules', '.bin', name)
const testTypes = (name) => [node, compiler, '-p', name]

/** Each list runs in order: the types of tests and the linter need the declarations of the packages. */
const checks = {
  Format: [[bin('oxfmt'), '--check', '.']],
  'Types and lint': [
    [node, 'tools/web-types.mjs'],
    [node, compiler, '-b', '.', 'packages/web'],
    ...['engine', 'agent', 'server', 'cli', 'web'].map((name) =>
      testTypes(`packages/${name}/tsconfig.test.json`),
    ),
    testTypes('e2e'),
    testTypes('tools'),
    [bin('oxlint'), '--type-aware', '--deny-warnings', '.'],
  ],
  Imports: [[node, 'tools/check-imports.mjs']],
  Exports: [[node, 'tools/check-exports.mjs']],
  Schema: [[node, 'tools/schema.mjs', '--check']],
}

const outcomes = await step('Checking format, types, lint, imports, exports and schema', () =>
  Promise.all(Object.entries(checks).map(([title, commands]) => runInOrder(title, commands))),
)
const failed = outcomes.filter(({ status }) => status !== 0)
for (const { title, output } of failed) console.error(`\nFailed: ${title}\n${output.trim()}`)
if (failed.length > 0) process.exit(1)

process.exitCode = await runTests()

/** Until the first that fails. */
async function runInOrder(title, commands) {
  for (const [file, ...args] of commands) {
    const { status, output } = await run(file, args)
    if (status !== 0) return { title, status, output }
  }
  return { title, status: 0, output: '' }
}

function run(file, args) {
  const child = spawn(file, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk))
  return new Promise((resolve) => {
    child.on('close', (status) => resolve({ status: status ?? 1, output: Buffer.concat(output).toString() }))
  })
}

function runTests() {
  const child = spawn(node, ['tools/test.mjs', '--all'], { cwd: root, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => signal !== 'SIGINT' && child.kill(signal))
  }
  return new Promise((resolve) => child.on('close', (status) => resolve(status ?? 1)))
}
