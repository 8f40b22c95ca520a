// What an idle installation does, by source: the wake-ups of its processes, and the statements that they send. A wake-up is a
// voluntary context switch: a thread that had waited runs, and waits again.
import { readdirSync, readFileSync } from 'node:fs'
import type { World } from '../build-cost/world.ts'
import { familyOf } from '../build-cost/cpu.ts'

/** By the name of the source. */
export type Counts = ReadonlyMap<string, number>

/** The wake-ups of a process and its children so far. Those of a program's helper threads are counted together. */
export function countWakeUps(pid: number): Counts {
  const counts = new Map<string, number>()
  for (const id of familyOf(pid)) {
    for (const thread of readThreads(id)) {
      const name = Number(thread) === id ? nameOf(id) : `${nameOf(id)}, other threads`
      counts.set(name, (counts.get(name) ?? 0) + readSwitches(id, thread))
    }
  }
  return counts
}

function readThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    // It has ended since.
    return []
  }
}

function readSwitches(pid: number, thread: string): number {
  try {
    const text = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')
    return Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(text)?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** PostgreSQL shows in its title what a process is for. */
function nameOf(pid: number): string {
  try {
    const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    const role = /^postgres: (.*)$/.exec(title)?.[1]
    if (role === undefined) return /postgres\b/.test(title) ? 'postmaster' : 'program'
    return / (idle|[A-Z]{3,})/.test(role) ? 'sessions' : role
  } catch {
    return 'ended'
  }
}

/** How often each statement was sent so far. */
export async function countStatements({ sql }: World): Promise<Counts> {
  const { rows } = await sql.query<{ text: string; calls: number }>(`
    select regexp_replace(query, '\\s+', ' ', 'g') as text, sum(calls)::float8 as calls from pg_stat_statements
    where query !~ 'pg_stat_statements' group by 1`)
  return new Map(rows.map(({ text, calls }) => [text, calls]))
}

/** Per second, the most frequent first. */
export function ratesOf(before: Counts, after: Counts, seconds: number): Array<[string, number]> {
  return [...after]
    .map(([name, count]): [string, number] => [name, (count - (before.get(name) ?? 0)) / seconds])
    .filter(([, rate]) => rate > 0)
    .toSorted(([, one], [, other]) => other - one)
}
