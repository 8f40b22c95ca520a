// The processes of one job: a shell and its children, in their own process group. The job ends when the shell has exited and
// the group is empty. Processes that outlive the shell are terminated, and killed after the grace period.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { closeSync, constants, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { constants as system } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { JobReaper } from '@millrace/agent/job-reaper.ts'

interface JobEnd {
  exitStatus: number
  signal: string | null
}

interface JobStart {
  command: string
  cwd: string
  env: Readonly<Record<string, string>>
  graceMs: number
  /** An unused path in the run's private folder. */
  pipe: string
  reaper: JobReaper
  onOutput: (chunk: Buffer) => void
}

const POLL_MS = 20
/** Time for the system to reap killed processes, and for output that a process of another session keeps open. */
const PATIENCE_MS = 1000

export class JobProcess {
  readonly ended: Promise<JobEnd>
  private readonly start: JobStart
  private readonly child: ChildProcess
  private killTimer: NodeJS.Timeout | null = null
  private killedAt: number | null = null

  constructor(start: JobStart) {
    this.start = start
    const output = openPipe(start.pipe)
    try {
      this.child = spawn('/bin/sh', ['-e', '-c', start.command], {
        cwd: start.cwd,
        env: start.env,
        detached: true,
        stdio: ['ignore', output.writeEnd, output.writeEnd],
      })
    } catch (error) {
      closeSync(output.readEnd)
      throw error
    } finally {
      closeSync(output.writeEnd)
    }
    if (this.child.pid !== undefined) start.reaper.watch('group', this.child.pid)
    const reader = new Socket({ fd: output.readEnd, readable: true, writable: false })
    this.ended = this.follow(reader)
  }

  /** Terminates the group, and kills it after the grace period. */
  stop(): void {
    if (this.killTimer !== null) return
    this.signal('SIGTERM')
    this.killTimer = setTimeout(() => this.kill(), this.start.graceMs)
  }

  kill(): void {
    this.killedAt ??= Date.now()
    this.signal('SIGKILL')
  }

  private async follow(reader: Socket): Promise<JobEnd> {
    reader.on('data', this.start.onOutput)
    const closed = new Promise<void>((resolve) => reader.once('close', () => resolve()))
    const end = await endOf(this.child)
    await this.clearGroup()
    await Promise.race([closed, delay(PATIENCE_MS, undefined, { ref: false })])
    reader.destroy()
    return end
  }

  private async clearGroup(): Promise<void> {
    const { pid } = this.child
    if (pid === undefined) return
    while (isGroupAlive(pid) && !this.hasWaitedEnough()) {
      this.stop()
      await delay(POLL_MS)
    }
    if (this.killTimer !== null) clearTimeout(this.killTimer)
    this.start.reaper.release('group', pid)
  }

  private hasWaitedEnough(): boolean {
    return this.killedAt !== null && Date.now() - this.killedAt > PATIENCE_MS
  }

  private signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.child.pid === undefined) return
    try {
      process.kill(-this.child.pid, signal)
    } catch {
      // The group has ended.
    }
  }
}

/**
 * Both ends of one pipe for all output, which keeps its order. Node's own pipes are sockets, which a script cannot open as
 * /dev/stderr.
 */
function openPipe(path: string): { readEnd: number; writeEnd: number } {
  execFileSync('mkfifo', ['-m', '600', path])
  try {
    const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    return { readEnd, writeEnd: openSync(path, constants.O_WRONLY) }
  } finally {
    rmSync(path)
  }
}

/** Signal n is status 128 + n, as in shells. Rejects if the process did not start. */
function endOf(child: ChildProcess): Promise<JobEnd> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) =>
      resolve({ exitStatus: code ?? 128 + (signal === null ? 0 : system.signals[signal]), signal }),
    )
  })
}

/** Zombies do not count. */
function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
  } catch {
    return false
  }
  return (
    process.platform !== 'linux' || listProcesses().some(({ pgrp, state }) => pgrp === group && state !== 'Z')
  )
}

function listProcesses(): { pgrp: number; state: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        const [state = '', , pgrp = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        return [{ state, pgrp: Number(pgrp) }]
      } catch {
        return []
      }
    })
}
