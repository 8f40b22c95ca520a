/*
 * Runs the tests, lists those that failed, and ends with one line that counts them. An error outside of any test, such as a
 * file that does not load, counts as a failure. With --watch it stays, recompiles what changes, and runs the chosen files again.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { describeAgentBinary, findAgentBinary } from './agent-binary.mjs'
import { compiler, prepareOrExit, root } from './prepare.mjs'

await prepareOrExit({ dev: true })

const binary = findAgentBinary()
console.log(describeAgentBinary(binary))

const args = process.argv.slice(2)
if (args.includes('--watch')) {
  const watching = spawn(process.execPath, [compiler, '-b', '--watch', '--preserveWatchOutput'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  process.exitCode = await runVitest(args)
  watching.kill()
} else {
  const scratch = mkdtempSync(join(tmpdir(), 'millrace-results-'))
  const results = join(scratch, 'results.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`]
  const code = await runVitest(['run', ...reporters, ...args])
  const files = readResults(results)
  for (const line of failures(files)) console.log(line)
  console.log(summary(files, code))
  rmSync(scratch, { recursive: true, force: true })
  process.exitCode = code
}

function runVitest(words) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const child = spawn(process.execPath, [vitest, ...words], {
    cwd: root,
    env: {
      ...process.env,
      MILLRACE_BUILT: 'yes',
      ...(binary === null ? {} : { BUILDKITE_AGENT_BIN: binary }),
    },
    stdio: 'inherit',
  })
  // The terminal sends Ctrl-C to vitest too; this process stays for the summary.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  return new Promise((resolve) => child.on('close', (status) => resolve(status ?? 1)))
}

/** One line each, with the first line of the message: a log's end is often all that is kept of it. */
function failures(files) {
  return files
    .filter((file) => file.status === 'failed')
    .flatMap(({ name, message, assertionResults }) => {
      const failed = assertionResults.filter((test) => test.status === 'failed')
      const causes = failed.map((test) => [test.fullName, test.failureMessages[0]])
      if (causes.length === 0) causes.push(['The file', message])
      return causes.map(([title, cause]) => `× ${relative(root, name)}: ${title}: ${firstLine(cause)}`)
    })
}

function firstLine(text = '') {
  return text.split('\n', 1)[0].slice(0, 300)
}

function summary(files, status) {
  const tests = files.flatMap((file) => file.assertionResults)
  const count = (...states) => tests.filter((test) => states.includes(test.status)).length
  const broken = files.filter(
    (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
  ).length
  const failed = count('failed') + broken
  const skipped = count('pending', 'skipped', 'todo', 'disabled')
  const result = `${count('passed')} passed, ${failed || (status === 0 ? 0 : 1)} failed`
  return skipped > 0 ? `${skipped} skipped\n${result}` : result
}

function readResults(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).testResults
  } catch {
    return []
  }
}
