// The server and the agents of a soak: real processes that are started, killed and started again.
import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../testbed/dist/free-port.js'
import type { Entry } from './ledger.ts'

const millrace = fileURLToPath(new URL('../../../packages/cli/bin/millrace.js', import.meta.url))
const simulated = fileURLToPath(new URL('./child-agents.js', import.meta.url))

export interface Started {
  url: string
  /** How the database runs; ends with the folder of its files. */
  database: string
  first: { token: string; organization: string } | null
}

export function databaseUrl({ database }: Started): string {
  const files = /files in (.*)$/.exec(database)?.[1] ?? ''
  const password = readFileSync(join(files, 'password'), 'utf8').trim()
  return `postgresql:///millrace?host=${encodeURIComponent(`${files}/run`)}&port=54329&user=millrace&password=${password}`
}

interface ServerOptions {
  command?: 'up' | 'serve' | 'worker'
  /** Gets its standard error. */
  logFile?: string
  /** Called when it ends without `end`. */
  onExit?(reason: string): void
}

export class Server {
  private child: ChildProcess | null = null
  private readonly settings: Record<string, string>
  private readonly options: ServerOptions
  /** The end of its standard error. */
  complaints = ''

  constructor(dataDir: string, settings: Record<string, string>, options: ServerOptions = {}) {
    this.settings = { MILLRACE_DATA_DIR: dataDir, ...settings }
    this.options = options
  }

  /** First on a free port, later on the same port. */
  async start(): Promise<Started> {
    const { command = 'up', logFile, onExit } = this.options
    this.settings['PORT'] ??= String(await freePort())
    const child = spawn(process.execPath, [...process.execArgv, millrace, command, '--json'], {
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...this.settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.child = child
    child.stderr.on('data', (bytes: Buffer) => {
      this.complaints = (this.complaints + bytes.toString()).slice(-20_000)
      if (logFile !== undefined) appendFileSync(logFile, bytes)
    })
    child.once('exit', (code, signal) => {
      if (this.child === child) onExit?.(signal ?? `code ${code}`)
    })
    let said = ''
    for await (const bytes of child.stdout as AsyncIterable<Buffer>) {
      said += bytes.toString()
      if (!said.includes('\n')) continue
      const started = JSON.parse(said) as Started
      return started
    }
    throw new Error(`The server did not start: ${this.complaints}`)
  }

  get pid(): number {
    return this.child?.pid ?? 0
  }

  signal(name: NodeJS.Signals): void {
    this.child?.kill(name)
  }

  /** Returns its exit code; null: ended by a signal. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const { child } = this
    this.child = null
    if (child !== null) await endProcess(child, signal)
    return child?.exitCode ?? null
  }
}

export interface AgentProcess {
  kill(): Promise<void>
  signal(name: NodeJS.Signals): void
}

interface SimulatedSettings {
  address: string
  token: string
  agents: number
  seed: number
  /** The share of agents with a ping stream. */
  streams: number
  jobMs: number
}

export async function startSimulated(
  settings: SimulatedSettings,
  record: (entry: Entry) => void,
): Promise<AgentProcess> {
  const child = fork(simulated, [], {
    env: { PATH: process.env['PATH'] ?? '', SOAK_AGENTS: JSON.stringify(settings) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  child.on('message', (entry) => record(entry as Entry))
  return { kill: () => endProcess(child, 'SIGKILL'), signal: (name) => void child.kill(name) }
}

interface RunnerSettings {
  address: string
  token: string
  agents: number
  folder: string
  queue: string
  /** Gets its standard error; absent: it is ours. */
  logFile?: string
}

/** Our runner with real commands; restarted when it ends. */
export async function startRunner(settings: RunnerSettings): Promise<AgentProcess> {
  let isWanted = true
  let child = spawnRunner(settings)
  const keepUp = () => {
    child.once('exit', () => {
      if (!isWanted) return
      child = spawnRunner(settings)
      keepUp()
    })
  }
  keepUp()
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  return {
    kill: () => {
      isWanted = false
      return endProcess(child, 'SIGKILL')
    },
    signal: (name) => void child.kill(name),
  }
}

function spawnRunner({ address, token, agents, folder, queue, logFile }: RunnerSettings) {
  const args = ['agent', 'start', '--token', token, '--endpoint', `${address}/v3`, '--queue', queue]
  const places = [
    '--spawn',
    String(agents),
    '--name',
    'runner-%hostname-%pid-%spawn',
    '--build-path',
    join(folder, 'builds'),
  ]
  const child = spawn(process.execPath, [...process.execArgv, millrace, ...args, ...places, '--json'], {
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, SOAK_FOLDER: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stderr.on('data', (bytes: Buffer) => {
    if (logFile === undefined) process.stderr.write(bytes)
    else appendFileSync(logFile, bytes)
  })
  return child
}

async function endProcess(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}
