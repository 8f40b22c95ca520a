import { readFileSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'

const memory = '/dev/shm'

/**
 * Where tests keep their databases: in memory where there is plenty, because to make, copy and remove their thousand
 * files costs five times as much on a disk. Nothing here tests that a disk keeps what it was told to.
 */
export const scratch = (): string => (isPlenty() && mayExecute() ? memory : tmpdir())

function isPlenty(): boolean {
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
