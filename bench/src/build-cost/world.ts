// Starts a whole installation: PostgreSQL with durable commits, `millrace up`, and `millrace agent start`. Builds are created and
// read over HTTP.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startEmbedded } from '@millrace/server/db/embedded/server.ts'
import pg from 'pg'
import { findChild } from './cpu.ts'

export interface World {
  url: string
  /** An administrator's. */
  token: string
  api: Api
  /** For the bench's own questions to the database. */
  sql: pg.Client
  databaseUrl: string
  databasePid: number
  serverPid: number
  /** Jobs of local agents see this folder, too. */
  shared: string
  /** Of `millrace agent start`. */
  startAgents(count: number): Promise<Agents>
  /** Those that the server runs itself, if its settings say so. */
  localAgents(): Agents
  stop(): Promise<void>
}

export interface Agents {
  pid: number
  /** Whether their process is a child of the server. */
  isLocal: boolean
  stop(): Promise<void>
}

export type Api = <T>(method: string, path: string, body?: object) => Promise<T>

const millrace = fileURLToPath(new URL('../../../packages/cli/bin/millrace.js', import.meta.url))

/** `countsStatements`: with pg_stat_statements, which costs a little CPU itself. `env`: more settings of the server. */
export async function startWorld(
  countsStatements: boolean,
  env: Record<string, string> = {},
): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const dataDir = join(folder, 'data')
  const shared = join(folder, 'shared')
  mkdirSync(shared)
  if (countsStatements) await preloadStatements(dataDir)
  const database = await startEmbedded({ dataDir })
  const sql = new pg.Client(database.url)
  await sql.connect()
  if (countsStatements) await sql.query('create extension if not exists pg_stat_statements')
  const server = startMillrace(['up', '--json'], folder, {
    DATABASE_URL: database.url,
    MILLRACE_DATA_DIR: join(folder, 'server'),
    MILLRACE_AGENTS: '0',
    MILLRACE_JOB_FOLDERS: shared,
    MILLRACE_LOG_LEVEL: 'info',
    PORT: '0',
    MILLRACE_RATE_LIMIT_ORGANIZATION: '10000000',
    MILLRACE_RATE_LIMIT_USER: '10000000',
    ...env,
  })
  const started = JSON.parse(await firstLine(server)) as Started
  const api = apiAt(`${started.url}/v2/organizations/${started.first.organization}`, started.first.token)
  return {
    url: started.url,
    token: started.first.token,
    api,
    sql,
    databaseUrl: database.url,
    databasePid: database.pid,
    serverPid: server.pid ?? 0,
    shared,
    localAgents: () => ({
      pid: findChild(server.pid ?? 0, 'local.js'),
      isLocal: true,
      // They stop with the server.
      stop: () => Promise.resolve(),
    }),
    startAgents: (count) => startAgents(started.url, api, folder, count),
    async stop() {
      await end(server)
      await sql.end()
      await database.stop()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

interface Started {
  url: string
  first: { token: string; organization: string }
}

async function preloadStatements(dataDir: string): Promise<void> {
  const database = await startEmbedded({ dataDir })
  const sql = new pg.Client(database.url)
  await sql.connect()
  await sql.query(`alter system set shared_preload_libraries = 'pg_stat_statements'`)
  await sql.end()
  await database.stop()
}

export async function createAgentToken(api: Api): Promise<string> {
  const [cluster] = await api<Array<{ id: string }>>('GET', '/clusters')
  const { token } = await api<{ token: string }>('POST', `/clusters/${cluster?.id}/tokens`, {
    description: 'bench',
  })
  return token
}

async function startAgents(url: string, api: Api, folder: string, count: number): Promise<Agents> {
  const token = await createAgentToken(api)
  const buildPath = mkdtempSync(join(folder, 'builds-'))
  const flags = [
    '--token',
    token,
    '--endpoint',
    `${url}/v3`,
    '--spawn',
    String(count),
    '--build-path',
    buildPath,
  ]
  const child = startMillrace(['agent', 'start', '--json', ...flags], folder, { HOME: folder })
  await firstLine(child)
  return { pid: child.pid ?? 0, isLocal: false, stop: () => end(child) }
}

export function startMillrace(
  args: readonly string[],
  folder: string,
  env: Record<string, string>,
): ChildProcess {
  const log = openSync(join(folder, 'log'), 'a')
  const child = spawn(process.execPath, [millrace, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', log],
  })
  closeSync(log)
  return child
}

export async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The program has no output.')
  const lines = createInterface(child.stdout)
  const [line] = (await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`The program ended with ${String(code)}.`)
    }),
  ])) as [string]
  child.stdout.resume()
  return line
}

export async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

const apiAt =
  (base: string, token: string): Api =>
  async <T>(method: string, path: string, body?: object) => {
    const answer = await fetch(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as T
  }
