// The processes of one job. Each leads its own process group, so that a signal reaches all its children.

import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import type { Clock } from '../clock.ts'
import { codeOf } from '../http/exchange.ts'
import type { JobReaper } from '../job-reaper.ts'

export interface ProcessEnd {
  /** Null when a signal ended it. */
  exitStatus: number | null
  signal: NodeJS.Signals | null
}

interface ProcessOptions {
  env: Readonly<Record<string, string>>
  cwd: string
  /** Standard output and error. */
  output: number
}

export interface Processes {
  run(command: readonly [string, ...string[]], options: ProcessOptions): Promise<ProcessEnd>
  /** Standard output comes back instead; standard error goes to the output. */
  read(
    command: readonly [string, ...string[]],
    options: ProcessOptions,
  ): Promise<ProcessEnd & { stdout: string }>
  /** Signals all running processes. */
  signal(signal: NodeJS.Signals): void
  /** Terminates, then kills, everything left in the groups. */
  clear(): Promise<void>
}

const CLEAR_MS = 1000
const CLEAR_CHECK_MS = 10
const MAX_READ_BYTES = 16 * 1024 * 1024

export function createProcesses(clock: Clock, reaper: JobReaper): Processes {
  /** Groups that may have live processes. */
  const groups = new Set<number>()

  function add(group: number): void {
    groups.add(group)
    reaper.watch('group', group)
  }

  function remove(group: number): void {
    groups.delete(group)
    reaper.release('group', group)
  }

  function launch(
    [file, ...args]: readonly [string, ...string[]],
    { env, cwd, output }: ProcessOptions,
    stdout: number | 'pipe',
  ): Promise<ProcessEnd & { stdout: string }> {
    return new Promise((resolve, reject) => {
      const child = spawn(file, args, { env, cwd, detached: true, stdio: ['ignore', stdout, output] })
      const { pid } = child
      if (pid !== undefined) add(pid)
      const parts: Buffer[] = []
      let size = 0
      child.stdout?.on('data', (bytes: Buffer) => {
        size += bytes.length
        if (size <= MAX_READ_BYTES) parts.push(bytes)
      })
      child.on('error', reject)
      // A background process may keep the output open, so wait for `close` only with `pipe`.
      child.on(stdout === 'pipe' ? 'close' : 'exit', (exitStatus, signal) => {
        if (pid !== undefined && !isAlive(pid)) remove(pid)
        resolve({ exitStatus, signal, stdout: Buffer.concat(parts).toString() })
      })
    })
  }

  return {
    run: async (command, options) => {
      const { exitStatus, signal } = await launch(command, options, options.output)
      return { exitStatus, signal }
    },
    read: (command, options) => launch(command, options, 'pipe'),
    signal(signal) {
      for (const group of groups) signalGroup(group, signal)
    },
    async clear() {
      for (const group of groups) if (!isAlive(group)) remove(group)
      if (groups.size === 0) return
      for (const group of groups) signalGroup(group, 'SIGTERM')
      const until = clock.now() + CLEAR_MS
      while (clock.now() < until && (await hasLiving(groups))) await clock.sleep(CLEAR_CHECK_MS)
      for (const group of groups) signalGroup(group, 'SIGKILL')
      for (const group of groups) remove(group)
    },
  }
}

/** Processes that left their group but have a variable of the job. Only where the system shows environments. */
export async function killByVariable(name: string, value: string): Promise<void> {
  const wanted = `${name}=${value}`
  const names = await readdir('/proc').catch(() => [])
  const pids = names.map(Number).filter((pid) => Number.isInteger(pid) && pid > 1 && pid !== process.pid)
  await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
      if (environment.split('\0').includes(wanted)) signalOne(pid, 'SIGKILL')
    }),
  )
}

/** A zombie keeps its group; it does not count where the system shows process states. */
async function hasLiving(groups: ReadonlySet<number>): Promise<boolean> {
  if (![...groups].some(isAlive)) return false
  const names = await readdir('/proc').catch(() => null)
  if (names === null) return true
  const members = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')),
  )
  return members.some((line) => {
    // After the name in parentheses: state, parent, group.
    const [state, , group] = line.slice(line.lastIndexOf(')') + 2).split(' ')
    return state !== 'Z' && groups.has(Number(group))
  })
}

function isAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

function signalGroup(group: number, signal: NodeJS.Signals): void {
  signalOne(-group, signal)
}

function signalOne(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal)
  } catch (error) {
    // The process is gone, or belongs to another user.
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error
  }
}
