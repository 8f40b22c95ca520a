// The CPU time of processes, from /proc. The kernel counts in hundredths of a second, so measure many builds at once.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

interface Stat {
  pid: number
  parent: number
  /** Milliseconds of the process, and of its children that have ended. */
  own: number
  ended: number
}

function readStat(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program may contain spaces.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const ms = (from: number) => (((fields[from] ?? 0) + (fields[from + 1] ?? 0)) * 1000) / ticksPerSecond
    return { pid, parent: fields[1] ?? 0, own: ms(11), ended: ms(13) }
  } catch {
    return null
  }
}

/** The process and its descendants that run now. */
function family(pid: number): Stat[] {
  const all = readdirSync('/proc').flatMap((name) =>
    /^\d+$/.test(name) ? (readStat(Number(name)) ?? []) : [],
  )
  const descendantsOf = (parent: number): Stat[] =>
    all.flatMap((stat) => (stat.parent === parent ? [stat, ...descendantsOf(stat.pid)] : []))
  return [...all.filter((stat) => stat.pid === pid), ...descendantsOf(pid)]
}

/** The ids of the process and its children. */
export const familyOf = (pid: number): number[] => family(pid).map((stat) => stat.pid)

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** Milliseconds of the process, its descendants, and those that have ended. */
export const cpuOfFamily = (pid: number): number => sum(family(pid).map(({ own, ended }) => own + ended))

/** The child of the process that runs this program. */
export function findChild(pid: number, program: string): number {
  const found = family(pid).find(
    (stat) => stat.pid !== pid && readFileSync(`/proc/${stat.pid}/cmdline`, 'utf8').includes(program),
  )
  if (found === undefined) throw new Error(`${program} does not run.`)
  return found.pid
}

/** An agent: its own time and that of its helpers, apart from the programs that it started and that have ended. */
export function cpuOfAgent(pid: number): { own: number; programs: number } {
  const stats = family(pid)
  return {
    own: sum(stats.map(({ own }) => own)),
    programs: sum(stats.map(({ ended }) => ended)),
  }
}

/** The memory of the process and its descendants. Pages that processes share are counted once. */
export const memoryOfFamily = (pid: number): number =>
  sum(family(pid).map((stat) => sharedMegabytes(stat.pid)))

function sharedMegabytes(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    return Number(/^Pss:\s*(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024
  } catch {
    // It has ended since.
    return 0
  }
}

export function memoryMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s*(\d+) kB/.exec(status)?.[1] ?? NaN) / 1024
}
