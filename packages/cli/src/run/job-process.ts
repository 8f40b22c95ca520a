// The processes of one job: a shell and all it starts, in a process group of their own. The job has ended when the
// shell has and nothing of the group is left; what the shell leaves behind is asked to stop, and killed when the
// grace is over.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { closeSync, constants, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { constants as system } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { JobReaper } from '@millrace/agent/job-reaper.ts'

export interface JobEnd {
  exitStatus: number
  signal: string | null
}

export interface JobStart {
  command: string
  cwd: string
  env: Readonly<Record<string, string>>
  graceMs: number
  /** A path in the run's private folder where nothing lies yet. */
  pipe: string
  reaper: JobReaper
  onOutput: (chunk: Buffer) => void
}

const POLL_MS = 20
/** For what the system takes to bury killed processes, and for output that one in another session holds open. */
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

  /** Asks all processes of the group to stop, and kills them when the grace is over. */
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
      // The group is gone already.
    }
  }
}

/**
 * Both ends of one pipe for all output, so that its order is kept. The pipes that Node makes are sockets, and a
 * script cannot open those as /dev/stderr.
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

/** Killed by signal n is 128 + n, as shells say it. Rejects when there was no process to begin with. */
function endOf(child: ChildProcess): Promise<JobEnd> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) =>
      resolve({ exitStatus: code ?? 128 + (signal === null ? 0 : system.signals[signal]), signal }),
    )
  })
}

/** A process that has ended and that nobody has buried yet still counts for the system, but not here. */
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
