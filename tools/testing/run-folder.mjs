/*
 * The folders of one test run. Everything that tests write is below them, and every process that tests start names one of
 * them in its command line, environment or current directory. So whatever is left at the end, or by a run that was killed,
 * can be found and removed.
 */
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

// Short, because paths of Unix sockets are limited to some 100 characters.
const prefix = 'mrt-'

/** One folder is for temporary files, the other for databases and browsers: see testbed/src/scratch.ts. */
export async function makeRunFolder() {
  // Compiled by now.
  const { scratch } = await import('../../testbed/dist/scratch.js')
  const parents = [...new Set([tmpdir(), scratch()])]
  for (const parent of parents) await sweep(parent)
  const folders = parents.map(makeFolder)
  const [disk, fast = disk] = folders
  const segmentsBefore = new Set(sharedMemorySegments())
  return {
    /** For the processes of the run. */
    env: { TMPDIR: disk, MILLRACE_TEST_SCRATCH: fast },
    /** A new file for the results of one run of Vitest. */
    results: () => join(mkdtempSync(join(disk, 'results-')), 'results.jsonl'),
    /** Ends the processes of the run and deletes its folders. Returns the command lines of those processes. */
    async remove() {
      const ended = await remove(folders)
      removeSegments(sharedMemorySegments().filter((name) => !segmentsBefore.has(name)))
      return ended
    },
  }
}

function makeFolder(parent) {
  const folder = mkdtempSync(join(parent, prefix))
  // Jobs run as other users below it.
  chmodSync(folder, 0o1777)
  writeFileSync(join(folder, 'pid'), String(process.pid))
  return folder
}

/** Removes what a run has left that was killed. */
async function sweep(parent) {
  for (const name of listNames(parent).filter((one) => one.startsWith(prefix))) {
    const folder = join(parent, name)
    const pid = Number(readOrEmpty(join(folder, 'pid')))
    if (pid > 0 && !isAlive(pid)) await remove([folder])
  }
}

/** Processes that end by themselves are waited for. The others are first asked, so that PostgreSQL frees its shared memory. */
async function remove(folders) {
  await untilGone(folders, 3_000)
  const left = processesOf(folders)
  for (const { pid } of left) send(pid, 'SIGINT')
  await untilGone(folders, 10_000)
  // A process may start another one before it ends.
  for (let round = 0; round < 10; round += 1) {
    for (const { pid } of processesOf(folders)) send(pid, 'SIGKILL')
    await untilGone(folders, 1_000)
  }
  for (const folder of folders)
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  return [...new Set(left.map(({ command }) => command))]
}

async function untilGone(folders, mostMs) {
  const deadline = performance.now() + mostMs
  while (processesOf(folders).length > 0 && performance.now() < deadline) await delay(50)
}

const memory = '/dev/shm'

/** PostgreSQL leaves its shared memory behind when it is killed, as some tests do. */
const sharedMemorySegments = () => listNames(memory).filter((name) => name.startsWith('PostgreSQL.'))

function removeSegments(names) {
  const inUse = processIds()
    .map((pid) => readOrEmpty(`/proc/${pid}/maps`))
    .join('\n')
  for (const name of names.filter((one) => !inUse.includes(one))) rmSync(join(memory, name), { force: true })
}

const processIds = () =>
  listNames('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)

function processesOf(folders) {
  return processIds()
    .filter((pid) => {
      const text = [
        readOrEmpty(`/proc/${pid}/cmdline`),
        readOrEmpty(`/proc/${pid}/environ`),
        directoryOf(pid),
      ]
      return folders.some((folder) => text.some((one) => one.includes(folder)))
    })
    .map((pid) => ({ pid, command: readOrEmpty(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 160) }))
    .filter(({ command }) => command !== '')
}

function directoryOf(pid) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}

function send(pid, signal) {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function listNames(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function readOrEmpty(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
