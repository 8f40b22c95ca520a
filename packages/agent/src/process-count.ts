// Counts the processes and threads in this container.

import { openSync, readdirSync, readFileSync, readSync } from 'node:fs'

/** Reads the cgroup's counter if possible, which is cheap; otherwise counts the entries of /proc. */
export function openProcessCount(cgroups = '/sys/fs/cgroup'): () => number {
  // Version 2 keeps everything in one folder, version 1 has one for each controller.
  const folder = [cgroups, `${cgroups}/pids`].find(isOurs)
  return folder === undefined ? countInProc : countInFile(`${folder}/pids.current`)
}

/** A process outside our namespace is listed as 0; then the cgroup counts more than this container. */
function isOurs(folder: string): boolean {
  try {
    readFileSync(`${folder}/pids.current`)
    const pids = readFileSync(`${folder}/cgroup.procs`, 'utf8').trim().split('\n')
    return pids.includes(String(process.pid)) && !pids.includes('0')
  } catch {
    return false
  }
}

/** Kept open, because too many processes may exhaust the file descriptors. */
function countInFile(path: string): () => number {
  const fd = openSync(path, 'r')
  const text = Buffer.alloc(32)
  return () => Number.parseInt(text.toString('latin1', 0, readSync(fd, text, 0, text.length, 0)), 10)
}

function countInProc(): number {
  let count = 0
  for (const name of readdirSync('/proc')) if (/^\d+$/.test(name)) count += countThreads(name)
  return count
}

function countThreads(pid: string): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length
  } catch {
    // It has ended meanwhile.
    return 0
  }
}
