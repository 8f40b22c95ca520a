import { spawn, spawnSync, type SpawnOptions } from 'node:child_process'
import { readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

export interface Command {
  file: string
  args: string[]
  options: SpawnOptions
}

export interface Result {
  /** Null when the program was killed or could not be started. */
  code: number | null
  stdout: string
  stderr: string
}

/** Runs a program to its end. A program that cannot be started is a result too, with the reason in stderr. */
export function run(command: Command, input = ''): Promise<Result> {
  return new Promise((resolve) => {
    const result: Result = { code: null, stdout: '', stderr: '' }
    const fail = (error: unknown) => resolve({ ...result, stderr: result.stderr + String(error) })
    try {
      // Even an empty write into a closed pipe is an error, and its stack trace takes a tenth of the start.
      const stdin = input === '' ? 'ignore' : 'pipe'
      const child = spawn(command.file, command.args, { ...command.options, stdio: [stdin, 'pipe', 'pipe'] })
      child.on('error', fail)
      child.on('close', (code) => resolve({ ...result, code }))
      child.stdout?.on('data', (chunk: Buffer) => (result.stdout += chunk.toString()))
      child.stderr?.on('data', (chunk: Buffer) => (result.stderr += chunk.toString()))
      child.stdin?.on('error', () => {})
      child.stdin?.end(input)
    } catch (error) {
      fail(error)
    }
  })
}

/**
 * A name for one process: when its pid is reused, also after a reboot, the new process has another name. Undefined when
 * no such process runs.
 */
export function incarnationOf(pid: number): string | undefined {
  if (!isAlive(pid)) return undefined
  if (process.platform !== 'linux') {
    const started = ps(pid, 'lstart=')
    return started === '' ? undefined : started.replaceAll(/[^a-zA-Z0-9]+/g, '')
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in parentheses, which may hold spaces and parentheses itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined
    return `${fields[19]}${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)}`
  } catch {
    return undefined
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Whether this is the process's working directory: that of a postmaster is its data directory. */
export function worksIn(pid: number, directory: string): boolean {
  if (process.platform !== 'linux') return ps(pid, 'args=').includes(directory)
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(directory)
  } catch {
    return false
  }
}

/** True as soon as the condition is true, false after the timeout. */
export async function waitUntil(holds: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  while (!holds()) {
    if (Date.now() > deadline) return false
    await delay(15)
  }
  return true
}

function ps(pid: number, format: string): string {
  return spawnSync('ps', ['-o', format, '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() ?? ''
}
