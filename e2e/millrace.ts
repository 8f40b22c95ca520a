// Starts and calls real millrace processes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject, onTestFinished } from 'vitest'
import { folderForJobs, scratch } from '../testbed/src/scratch.ts'

/** An installed package can be tested instead of this clone. */
export const program =
  process.env['MILLRACE_TEST_PROGRAM'] ??
  fileURLToPath(new URL('../packages/cli/bin/millrace.js', import.meta.url))

export type Settings = Record<string, string>

export interface Ended {
  /** null: ended by a signal. */
  code: number | null
  stdout: string
  stderr: string
}

export interface Running {
  pid: number
  output(): { stdout: string; stderr: string }
  /** Signals only the process. */
  signal(name: NodeJS.Signals): void
  /** Kills the whole process group, like `kill -9 -PID`. */
  killGroup(): void
  ended: Promise<Ended>
}

/** Deleted after the test. */
export function aDirectory(parent = scratch()): string {
  const path = mkdtempSync(join(parent, 'millrace-e2e-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 }))
  return path
}

/** Jobs of local agents can read and write it, also as another user. */
export function aSharedDirectory(): string {
  const path = aDirectory(folderForJobs())
  chmodSync(path, 0o777)
  return path
}

/** A data directory with a migrated, empty database. */
export function aDataDirectory(): string {
  const path = aDirectory()
  copyEmptyInstallation(path)
  return path
}

export function copyEmptyInstallation(path: string): void {
  cpSync(inject('emptyInstallation'), path, { recursive: true })
}

interface Surroundings {
  /** Standard input; none without it. */
  input?: string
  /** The working directory. */
  folder?: string
}

/** Starts `millrace …` with only these settings, and kills it after the test. */
export const spawnMillrace = (
  args: readonly string[],
  settings: Settings,
  surroundings?: Surroundings,
): Running => killAfterTest(keepMillrace(args, settings, surroundings))

function killAfterTest(running: Running): Running {
  onTestFinished(async () => {
    running.signal('SIGKILL')
    await running.ended
  })
  return running
}

/** Like spawnMillrace, but does not kill the process. */
export function keepMillrace(
  args: readonly string[],
  settings: Settings,
  surroundings?: Surroundings,
): Running {
  return launch(process.execPath, [program, ...args], settings, surroundings)
}

/** Starts any program with only these settings. */
export function launch(
  file: string,
  args: readonly string[],
  settings: Settings,
  { input, folder = tmpdir() }: Surroundings = {},
): Running {
  const child = spawn(file, args, {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...settings },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  const { pid, stdin } = child
  if (pid === undefined) throw new Error('The process did not start.')
  // A process may end without reading its input.
  stdin?.on('error', () => {})
  stdin?.end(input)
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = once(child, 'close').then(([code]: (number | null)[]) => ({
    code: code ?? null,
    stdout,
    stderr,
  }))
  return {
    pid,
    output: () => ({ stdout, stderr }),
    signal: (name) => void child.kill(name),
    killGroup: () => void process.kill(-pid, 'SIGKILL'),
    ended,
  }
}

/** Runs `millrace …` to its end. */
export const millrace = (
  args: readonly string[],
  settings: Settings,
  surroundings?: Surroundings,
): Promise<Ended> => spawnMillrace(args, settings, surroundings).ended

export interface Client {
  url: string
  /** Empty unless this start created the first organization. */
  token: string
  database: string
  get(path: string, token?: string): Promise<Answer>
  post(path: string, body: object, token?: string): Promise<Answer>
  put(path: string, body: object, token?: string): Promise<Answer>
}

export type Server = Running & Client

export interface Answer {
  status: number
  body: Json
}

/** A JSON value read by the names of its fields. */
export interface Json {
  [key: string]: Json
}

/** Creating a database may take long on a busy machine. */
export const startMs = 300_000

/** Runs `millrace up` on a free port. Resolves when it reports that it runs. */
export async function startServer(
  settings: Settings,
  command = 'up',
  start = spawnMillrace,
): Promise<Server> {
  const forJobs = { MILLRACE_JOB_FOLDERS: `${folderForJobs()}:rw` }
  const running = start([command, '--json'], { PORT: '0', ...forJobs, ...settings })
  let isOver = false
  void running.ended.then(() => (isOver = true))
  const line = await eventually(
    `millrace ${command} says that it runs`,
    async () => {
      if (isOver) throw new Error(`millrace ${command} ended: ${running.output().stderr}`)
      const { stdout } = running.output()
      return stdout.includes('\n') && stdout
    },
    startMs,
    20,
  )
  const { url, database, first } = JSON.parse(line) as {
    url: string
    database: string
    first: { token: string } | null
  }
  return { ...running, ...clientOf({ url, token: first?.token ?? '', database }) }
}

/** The server that all tests share. Tests create objects with unique names there. */
export function theServer(): Client & { pid: number; settings: Settings } {
  const { dataDir, pid, ...server } = inject('sharedServer')
  return { ...clientOf(server), pid, settings: { MILLRACE_DATA_DIR: dataDir } }
}

/** Calls the server at `url` with the token. */
export function clientOf({ url, token, database }: Pick<Client, 'url' | 'token' | 'database'>): Client {
  const ask = async (path: string, as: string, init: RequestInit = {}): Promise<Answer> => {
    const headers = { Authorization: `Bearer ${as}`, 'Content-Type': 'application/json' }
    const response = await fetch(url + path, { ...init, headers })
    const text = await response.text()
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Json }
  }
  return {
    url,
    token,
    database,
    get: (path, as = token) => ask(path, as),
    post: (path, body, as = token) => ask(path, as, { method: 'POST', body: JSON.stringify(body) }),
    put: (path, body, as = token) => ask(path, as, { method: 'PUT', body: JSON.stringify(body) }),
  }
}

/** The URL of the embedded PostgreSQL. */
export function databaseUrl({ database }: Pick<Client, 'database'>, name = 'millrace'): string {
  const files = /files in (.*)$/.exec(database)?.[1] ?? ''
  const password = readFileSync(join(files, 'password'), 'utf8').trim()
  return `postgresql:///${name}?host=${encodeURIComponent(`${files}/run`)}&port=54329&user=millrace&password=${password}`
}

export async function stop(server: Running): Promise<Ended> {
  server.signal('SIGTERM')
  return server.ended
}

/**
 * Waits until the condition holds, and fails after the deadline. Polls less and less often, to spare the server.
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | undefined | false>,
  withinMs = 300_000,
  mostMs = 200,
): Promise<T> {
  const deadline = Date.now() + withinMs
  for (let pauseMs = 20; ; pauseMs = Math.min(2 * pauseMs, mostMs)) {
    const seen = await check()
    if (seen !== undefined && seen !== false) return seen
    if (Date.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${what}`)
    await once(AbortSignal.timeout(pauseMs), 'abort')
  }
}
