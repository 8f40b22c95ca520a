// How many processes and threads there are in the container that this program is in.

import { openSync, readdirSync, readFileSync, readSync } from 'node:fs'

/** By the kernel's own count where that can be read, which costs next to nothing; else by all that /proc shows. */
export function openProcessCount(cgroups = '/sys/fs/cgroup'): () => number {
  // Version 2 keeps everything in one folder, version 1 has one for each controller.
  const folder = [cgroups, `${cgroups}/pids`].find(isOurs)
  return folder === undefined ? countInProc : countInFile(`${folder}/pids.current`)
}

/** A process outside of our namespace is a 0 there: then the folder counts more than this container. */
function isOurs(folder: string): boolean {
  try {
    readFileSync(`${folder}/pids.current`)
    const pids = readFileSync(`${folder}/cgroup.procs`, 'utf8').trim().split('\n')
    return pids.includes(String(process.pid)) && !pids.includes('0')
  } catch {
    return false
  }
}

/** It stays open: when processes get out of hand, files may be what there are no more of. */
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
