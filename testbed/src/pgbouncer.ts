// Runs PgBouncer in front of a PostgreSQL that listens on a Unix socket, which PgBouncer's user may not be able to open.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from './free-port.ts'

export interface Upstream {
  /** The directory of its socket. */
  host: string
  port: number
  user: string
  password: string
}

export interface PgbouncerOptions {
  mode?: 'transaction' | 'session'
  /** Connections to PostgreSQL, for each database. */
  poolSize?: number
  /** 0: prepared statements are not kept, as in versions before 1.21. */
  preparedStatements?: number
  /** Lines of its configuration. */
  more?: readonly string[]
}

interface Pgbouncer {
  port: number
  stop(): Promise<void>
}

interface Program {
  file: string
  /** Since 1.21. */
  preparesStatements: boolean
}

const program = findProgram()

/** Why it cannot run here; null: it can. */
export const pgbouncerLacks = typeof program === 'string' ? program : null

/** Before 1.21 it ignores the wish for prepared statements. */
export const pgbouncerPrepares = typeof program !== 'string' && program.preparesStatements

function findProgram(): Program | string {
  const file = process.env['MILLRACE_PGBOUNCER'] || 'pgbouncer'
  const { stdout, error } = spawnSync(file, ['--version'], { encoding: 'utf8' })
  if (error !== undefined) return `there is no program ${file}`
  const [, major = '0', minor = '0'] = /PgBouncer (\d+)\.(\d+)/.exec(stdout) ?? []
  return { file, preparesStatements: Number(major) > 1 || Number(minor) >= 21 }
}

export async function startPgbouncer(upstream: Upstream, options: PgbouncerOptions = {}): Promise<Pgbouncer> {
  if (typeof program === 'string') throw new Error(program)
  const forwarder = await startForwarder(upstream)
  const folder = mkdtempSync(join(tmpdir(), 'millrace-pgbouncer-'))
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(file, configuration(upstream, forwarder.port, port, program, options))
  const child = spawn(program.file, ['--quiet', file], { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    forwarder.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await untilListening(child, port)
  } catch (error) {
    await stop()
    throw new Error(`PgBouncer did not start: ${errors}`, { cause: error })
  }
  return { port, stop }
}

function configuration(
  { user, password }: Upstream,
  upstreamPort: number,
  port: number,
  { preparesStatements }: Program,
  { mode = 'transaction', poolSize = 4, preparedStatements = 1000, more = [] }: PgbouncerOptions,
): string {
  return [
    '[databases]',
    `* = host=127.0.0.1 port=${upstreamPort} user=${user} password=${password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    `default_pool_size = ${poolSize}`,
    'max_client_conn = 500',
    ...(preparesStatements ? [`max_prepared_statements = ${preparedStatements}`] : []),
    // It refuses to run as root.
    ...(process.getuid?.() === 0 ? ['user = nobody'] : []),
    ...more,
    '',
  ].join('\n')
}

const startMs = 120_000

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  const deadline = Date.now() + startMs
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch (error) {
      if (child.exitCode !== null || Date.now() > deadline) throw error
    } finally {
      socket.destroy()
    }
    await delay(20)
  }
}

async function startForwarder({ host, port }: Upstream) {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    const upstream = connect(`${host}/.s.PGSQL.${port}`)
    for (const socket of [client, upstream]) keep(socket)
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  await listening(server)
  const stop = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { port: portOf(server), stop }
}

async function listening(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port
