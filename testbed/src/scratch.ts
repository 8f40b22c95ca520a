import { mkdirSync, readFileSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'

/**
 * The folder for databases of tests: in memory if there is enough, because creating, copying and deleting a thousand files
 * takes five times as long on a disk. `npm test` gives each run a folder of its own there.
 */
export const scratch = (): string =>
  process.env['MILLRACE_TEST_SCRATCH'] ?? (hasRoom() && mayExecute() ? memory : tmpdir())

/** Servers of tests show it to the jobs of their agents. */
export function folderForJobs(): string {
  const path = join(scratch(), 'millrace-for-jobs')
  mkdirSync(path, { recursive: true })
  return path
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return Math.min(bavail * bsize, freemem()) > 6 * 1024 ** 3
  } catch {
    return false
  }
}

/** Jobs run below some of these folders. */
function mayExecute(): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  const [, , , options = 'noexec'] =
    mounts.findLast((line) => line.split(' ')[1] === memory)?.split(' ') ?? []
  return !options.split(',').includes('noexec')
}
