/*
 * Runs the tests and ends with one line that counts them. What failed outside of any test, such as a file that
 * does not load, counts as failed too.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeAgentBinary, findAgentBinary } from './agent-binary.mjs'
import { prepareOrExit, root } from './prepare.mjs'

await prepareOrExit({ dev: true })

const binary = findAgentBinary()
console.log(describeAgentBinary(binary))

const scratch = mkdtempSync(join(tmpdir(), 'millrace-results-'))
const results = join(scratch, 'results.json')
const code = await runVitest(process.argv.slice(2))
console.log(summary(code))
rmSync(scratch, { recursive: true, force: true })
process.exitCode = code

function runVitest(args) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`]
  // Most of what tests make is garbage soon, as in npm start.
  const node = ['--max-semi-space-size=64', vitest]
  // Tests call nobody outside of this machine, and each of the many processes would read these first.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  const child = spawn(process.execPath, [...node, 'run', ...reporters, ...args], {
    cwd: root,
    env: {
      ...env,
      MILLRACE_BUILT: 'yes',
      ...(binary === null ? {} : { BUILDKITE_AGENT_BIN: binary }),
    },
    stdio: 'inherit',
  })
  // The terminal sends Ctrl-C to both of us; we stay to count.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  return new Promise((resolve) => child.on('close', (status) => resolve(status ?? 1)))
}

function summary(status) {
  const files = readResults()
  const tests = files.flatMap((file) => file.assertionResults)
  const count = (...states) => tests.filter((test) => states.includes(test.status)).length
  const broken = files.filter(
    (file) => file.status === 'failed' && file.assertionResults.every(isNotFailed),
  ).length
  const failed = count('failed') + broken
  const skipped = count('pending', 'skipped', 'todo', 'disabled')
  const result = `${count('passed')} passed, ${failed || (status === 0 ? 0 : 1)} failed`
  return skipped > 0 ? `${skipped} skipped\n${result}` : result
}

function isNotFailed(test) {
  return test.status !== 'failed'
}

function readResults() {
  try {
    return JSON.parse(readFileSync(results, 'utf8')).testResults
  } catch {
    return []
  }
}
