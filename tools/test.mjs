/*
 * Runs the tests and ends with one line that counts them.
 *
 *   npm test                what proves the product: unit tests, HTTP on a real PostgreSQL, the main journeys
 *   npm run test:all        everything there is
 *   npm test -- PATH…       the test files whose path contains one of these
 *   npm test -- --changed   the test files that import what git says is changed (--changed=main: since then)
 *   npm test -- --watch     stays, compiles what changes, and runs the chosen files again
 *
 * A file that fails is run once more, alone, after the others. If it passes then, the summary calls it unsteady.
 */
import { spawn } from 'node:child_process'
import { watch } from 'node:fs'
import { constants as system } from 'node:os'
import { join, relative } from 'node:path'
import { describeAgentBinary, findAgentBinary } from './testing/agent-binary.mjs'
import { compile } from './compile.mjs'
import { prepareOrExit, root } from './prepare.mjs'
import { readResults } from './testing/results.mjs'
import { makeRunFolder } from './testing/run-folder.mjs'
import { mostUnsteady, summarize } from './testing/summary.mjs'

/** The projects of vitest.config.ts that `npm test` runs. */
const mainProjects = ['engine', 'server', 'agent-cli', 'web', 'journeys']

/** So many files are not unsteady: something is broken, and running each again takes too long. */
const mostReruns = 4 * mostUnsteady

const nothing = { files: new Map(), stray: [], status: 0 }

const given = process.argv.slice(2)
const isAll = given.includes('--all')
const isChanged = given.some((word) => /^--changed(=|$)/.test(word))
const isWatch = given.includes('--watch')
const args = given.filter((word) => word !== '--all')
const isPart = isChanged || isWatch || args.length > 0

// A part builds what its files need: see testbed/src/build.ts.
await prepareOrExit({ dev: true, ...(isPart && { only: 'code' }) })

const folder = await makeRunFolder()
const binary = findAgentBinary()
if (isAll) console.log(describeAgentBinary(binary))

let current = null
let interrupted = null
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    // Vitest ends at once, and what it leaves is ended with the run's folder.
    current?.kill(interrupted === null ? signal : 'SIGKILL')
    interrupted = signal
  })
}

process.exitCode = isWatch ? await stayAndWatch() : await runOnce()

async function stayAndWatch() {
  const stop = recompileOnChange()
  const status = await vitest(args)
  stop()
  await folder.remove()
  return status
}

async function runOnce() {
  const selection = await select()
  const { files, stray, status } = selection === null ? nothing : await run(selection)
  const failed = [...files].filter(([, file]) => file.failed)
  if (failed.length <= mostReruns) await runAgain(files, failed)
  const leftovers = await folder.remove()
  // Vitest fails without a failed file if no file matches, or if a global setup throws.
  const isExplained = status === 0 || failed.length + stray.length > 0 || interrupted !== null
  const { lines, passed } = summarize({
    root,
    files: [...files.values()],
    stray: isExplained ? stray : ['Vitest failed: see its message above.'],
    interrupted: interrupted !== null,
    leftovers: interrupted === null ? leftovers : [],
  })
  console.log(lines.join('\n'))
  if (interrupted !== null) return 128 + system.signals[interrupted]
  return passed ? 0 : 1
}

/** Runs each of these files alone, and replaces its result. */
async function runAgain(files, failed) {
  for (const [key, first] of failed) {
    if (interrupted !== null) return
    console.log(`\nAgain, alone: ${relative(root, first.file)}`)
    const project = first.project === '' ? [] : ['--project', first.project]
    const again = await run([first.file, ...optionsOf(args), ...project, '--maxWorkers=1'])
    const second = again.files.get(key) ?? { ...first, errors: again.stray }
    files.set(key, { ...second, first })
  }
}

/** The words for Vitest that choose the files; null: there is nothing to run. */
async function select() {
  if (isChanged) return selectChanged()
  return isAll || isPart ? args : mainProjects.flatMap((name) => ['--project', name])
}

/** Vitest follows the imports of sources, not those of compiled files. */
async function selectChanged() {
  const output = []
  const env = { MILLRACE_TEST_SOURCES: 'yes' }
  const status = await vitest(['list', '--filesOnly', '--json', ...args], env, (chunk) => output.push(chunk))
  // Then its message is above, and it fails again.
  if (status !== 0) return args
  const text = Buffer.concat(output).toString()
  const files = JSON.parse(text.slice(text.indexOf('['))).map(({ file }) => file)
  if (files.length === 0) {
    console.log('No test file imports anything that has changed.')
    return null
  }
  return [...optionsOf(args).filter((word) => !word.startsWith('--changed')), ...files]
}

async function run(selection) {
  const results = folder.results()
  const reporters = ['--reporter=default', `--reporter=${join(root, 'tools', 'testing', 'reporter.mjs')}`]
  const status = await vitest(['run', ...reporters, ...selection], { MILLRACE_TEST_RESULTS: results })
  return { status, ...readResults(results) }
}

/** The given words without paths. */
function optionsOf(words) {
  const takesValue = new Set(['-t', '--testNamePattern', '--config', '--project'])
  return words.filter((word, at) => word.startsWith('-') || takesValue.has(words[at - 1]))
}

/** Returns the exit status. */
function vitest(words, env = {}, onOutput) {
  const child = spawn(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), ...words], {
    cwd: root,
    env: {
      ...process.env,
      ...folder.env,
      ...env,
      ...(!isPart && { MILLRACE_BUILT: 'yes' }),
      ...(binary !== null && { BUILDKITE_AGENT_BIN: binary }),
    },
    stdio: ['inherit', onOutput === undefined ? 'inherit' : 'pipe', 'inherit'],
  })
  current = child
  child.stdout?.on('data', onOutput)
  return new Promise((resolve) => child.on('close', (status) => resolve(status ?? 1)))
}

function recompileOnChange() {
  let timer
  const watcher = watch(join(root, 'packages'), { recursive: true }, (_event, name) => {
    if (!/^\w+\/src\/.*\.ts$/.test(name ?? '')) return
    clearTimeout(timer)
    timer = setTimeout(() => void compile().catch((error) => console.error(error.message)), 50)
  })
  return () => watcher.close()
}
