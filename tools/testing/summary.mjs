// The end of the output of a test run: what was slow, skipped, unsteady and failed, and last a line `N passed, N failed`.
import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { failuresOf } from './results.mjs'

/** More unsteady files than this fail the run: then it is not the machine. */
export const mostUnsteady = 5

const slowestFiles = 10

/**
 * `files` are those of the whole run, each with its last result; a file that failed first and passed alone has that first
 * result in `first`. Returns the lines, and whether the run has passed.
 */
export function summarize({ root, files, stray, interrupted, leftovers }) {
  const nameOf = ({ file }) => relative(root, file)
  const failed = files.filter((file) => file.failed && (file.ended || !interrupted))
  const unsteady = files.filter((file) => file.first !== undefined && !file.failed)
  const count = (state) => files.flatMap(({ tests }) => tests).filter((test) => test.state === state).length
  const failures = failed.flatMap((file) =>
    failuresOf(file).map(([title, message]) => ({ file, title, message })),
  )
  const tooMany = unsteady.length > mostUnsteady
  const failedCount = failures.length + stray.length + (tooMany ? unsteady.length - mostUnsteady : 0)
  const lines = [
    ...section(
      'Slowest files',
      slowest(files).map((file) => `${seconds(file.ms)}  ${nameOf(file)}`),
    ),
    ...section('By kind', byKind(files)),
    ...section('Skipped', skipReasons(files)),
    ...section('Left behind by tests, and ended', leftovers),
    ...section(
      'Unsteady: failed, then passed alone',
      unsteady.flatMap((file) =>
        failuresOf(file.first).map(
          ([title, message]) => `~ ${nameOf(file)}: ${title}: ${firstLine(message)} (${loadOf(file.first)})`,
        ),
      ),
    ),
    ...(tooMany ? [`${unsteady.length} files are unsteady; at most ${mostUnsteady} may be.`] : []),
    ...section('Failed', [
      ...failures.map(({ file, title, message }) => `× ${nameOf(file)}: ${title}: ${firstLine(message)}`),
      ...stray.map((message) => `× outside of any file: ${firstLine(message)}`),
    ]),
    ...interruption(files, interrupted),
    '',
    ...(count('skipped') > 0 ? [`${count('skipped')} skipped`] : []),
    `${count('passed')} passed, ${failedCount} failed`,
  ]
  return { lines, passed: failedCount === 0 }
}

const section = (title, lines) => (lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)])

const slowest = (files) => [...files].sort((a, b) => b.ms - a.ms).slice(0, slowestFiles)

function byKind(files) {
  return [...groupByProject(files)].map(([kind, members]) => {
    const tests = members.reduce((sum, file) => sum + file.tests.length, 0)
    return `${seconds(members.reduce((sum, { ms }) => sum + ms, 0))}  ${kind}: ${tests} tests in ${members.length} files`
  })
}

function groupByProject(files) {
  const groups = new Map()
  for (const file of files) groups.set(file.project, [...(groups.get(file.project) ?? []), file])
  return groups
}

/** The names of skipped tests say what they need: see testbed/src/needing.ts. */
function skipReasons(files) {
  const counts = new Map()
  for (const { name, state } of files.flatMap(({ tests }) => tests)) {
    if (state !== 'skipped') continue
    const reason = /\((needs .*?)\)(?= > |$)/.exec(name)?.[1] ?? 'no reason is given'
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  return [...counts].map(([reason, count]) => `${String(count).padStart(5)}  ${reason}`)
}

function interruption(files, interrupted) {
  if (!interrupted) return []
  const missing = files.filter(({ ended }) => !ended).length
  return ['', `Interrupted: ${missing} of ${files.length} files did not end.`]
}

const seconds = (ms) => `${(ms / 1000).toFixed(1).padStart(7)} s`

const loadOf = ({ load }) => `load ${load.toFixed(1)} on ${availableParallelism()} processors`

const firstLine = (text) => text.split('\n', 1)[0].slice(0, 300)
