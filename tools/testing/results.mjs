/*
 * The results of one run of Vitest, read from the lines of reporter.mjs: a map from file to what became of it.
 *
 * A file has failed if one of its tests failed, if it did not load, if an error was thrown outside of its tests, or if its
 * worker ended before it did.
 */
import { readFileSync } from 'node:fs'

/** `stray` are the messages of errors that belong to no file. */
export function readResults(path) {
  const files = new Map()
  const stray = []
  for (const line of linesOf(path)) {
    if (line.kind === 'planned') files.set(keyOf(line), unfinished(line))
    if (line.kind === 'ended') files.set(keyOf(line), finished(line))
    if (line.kind === 'stray') {
      const file = [...files.values()].find((one) => one.file === line.file)
      if (file === undefined) stray.push(line.message)
      else Object.assign(file, { failed: true, load: line.load, errors: [...file.errors, line.message] })
    }
  }
  // The error of a worker that died belongs to the file that it ran.
  const dead = [...files.values()].find(({ ended }) => !ended)
  if (dead === undefined) return { files, stray }
  dead.errors.push(...stray)
  return { files, stray: [] }
}

/** Two projects may run the same file. */
const keyOf = ({ project, file }) => `${project} ${file}`

const unfinished = ({ file, project }) => ({
  file,
  project,
  ended: false,
  failed: true,
  ms: 0,
  load: 0,
  errors: ['It did not end.'],
  tests: [],
})

const finished = ({ file, project, ok, ms, load, errors, tests }) => ({
  file,
  project,
  ended: true,
  failed: !ok,
  ms,
  load,
  errors,
  tests,
})

function linesOf(path) {
  try {
    const lines = readFileSync(path, 'utf8').split('\n')
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
  } catch {
    return []
  }
}

/** What failed in a file, as pairs of title and message. An error beside the tests counts as one failure. */
export function failuresOf({ tests, errors }) {
  const failed = tests.filter(({ state }) => state === 'failed').map(({ name, message }) => [name, message])
  return [...failed, ...errors.map((message) => ['the file', message])]
}
