// A PostgreSQL of our own binaries that can be restarted, killed, copied to a streaming standby, and promoted.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, closeSync, copyFileSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { findBinaries, linkLibraries } from '@millrace/server/db/embedded/binaries.ts'
import { readPostmaster } from '@millrace/server/db/embedded/postmaster.ts'
import { listRunners, works, type Runner } from '@millrace/server/db/embedded/privileges.ts'
import { run, waitUntil } from '@millrace/server/db/embedded/processes.ts'
import { postgresArguments } from '@millrace/server/db/embedded/settings.ts'
import { PORT, socketFile } from '@millrace/server/db/embedded/socket-dir.ts'

const user = 'millrace'
const database = 'millrace'
const startMs = 300_000

export type ShutdownMode = 'fast' | 'immediate'

export class Postgres {
  readonly folder: string
  private readonly runner: Runner
  private child: ChildProcess | null = null

  private constructor(folder: string, runner: Runner) {
    this.folder = folder
    this.runner = runner
  }

  /** Creates an empty database in a new folder and starts it. Only users who can enter the folder can connect. */
  static async create(folder: string): Promise<Postgres> {
    const runner = await findRunner()
    const postgres = new Postgres(folder, runner)
    postgres.makeFolders()
    const flags = ['--no-sync', '--auth=trust', `--username=${user}`, '--encoding=UTF8', '--locale=C']
    const made = await run(runner.command(binaries.initdb, ['-D', postgres.cluster, ...flags]))
    if (made.code !== 0) throw new Error(`PostgreSQL could not make its database: ${made.stderr}`)
    await postgres.start()
    await postgres.query(`create database ${database}`, 'postgres')
    return postgres
  }

  /** The path of its Unix socket. */
  get socket(): string {
    return socketFile(this.socketDir)
  }

  get url(): string {
    return `postgresql:///${database}?host=${encodeURIComponent(this.socketDir)}&port=${PORT}&user=${user}`
  }

  /** The database at a port of this machine that forwards to its socket. */
  static urlAt(port: number): string {
    return `postgresql://${user}@127.0.0.1:${port}/${database}`
  }

  /** Returns when it accepts connections. */
  async start(): Promise<void> {
    const log = openSync(join(this.folder, 'postgres.log'), 'a')
    const { file, args, options } = this.runner.command(
      binaries.postgres,
      postgresArguments(this.cluster, this.socketDir, true),
      { detached: true, stdio: ['ignore', log, log] },
    )
    const child = spawn(file, args, options)
    closeSync(log)
    this.child = child
    const isReady = () => readPostmaster(this.cluster)?.isReady === true
    if (!(await waitUntil(isReady, startMs))) throw new Error(`PostgreSQL does not start: see ${this.folder}`)
  }

  async stop(mode: ShutdownMode): Promise<void> {
    const { child } = this
    const pid = readPostmaster(this.cluster)?.pid
    this.child = null
    if (child === null || pid === undefined || child.exitCode !== null) return
    const exited = once(child, 'exit')
    process.kill(pid, mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await exited
  }

  async query<Row extends pg.QueryResultRow>(text: string, name = database): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.url.replace(`/${database}?`, `/${name}?`) })
    await client.connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }

  /** Starts a standby that streams from this server, with its files in a new folder. */
  async startStandby(folder: string): Promise<Postgres> {
    const standby = new Postgres(folder, this.runner)
    standby.makeFolders()
    await this.query(
      `select pg_create_physical_replication_slot('${slot}', true)
       where not exists (select from pg_replication_slots where slot_name = '${slot}')`,
    )
    await this.copyTo(standby)
    const source = `host=${this.socketDir} port=${PORT} user=${user} application_name=${slot}`
    standby.write('postgresql.auto.conf', `primary_conninfo = '${source}'\nprimary_slot_name = '${slot}'\n`)
    standby.write('standby.signal', '')
    await standby.start()
    return standby
  }

  /** From here on, a commit is acknowledged only when the standby has it. */
  async waitForStandby(): Promise<void> {
    await this.query(`alter system set synchronous_standby_names = '${slot}'`)
    await this.query('select pg_reload_conf()')
    for (;;) {
      const rows = await this.query(`select from pg_stat_replication where sync_state = 'sync'`)
      if (rows.length > 0) return
      await delay(50)
    }
  }

  async promote(): Promise<void> {
    await this.query('select pg_promote(true)')
  }

  /** Stops a standby and lets this server delete what it kept for it. */
  async dismissStandby(standby: Postgres): Promise<void> {
    await standby.stop('immediate')
    for (;;) {
      const rows = await this.query(`select from pg_replication_slots where slot_name = '${slot}' and active`)
      if (rows.length === 0) break
      await delay(50)
    }
    await this.query(`select pg_drop_replication_slot('${slot}')`)
    rmSync(standby.folder, { recursive: true, force: true })
  }

  /** A base backup: the files may change while they are copied, and the log of changes repairs the copy. */
  private async copyTo(standby: Postgres): Promise<void> {
    const client = new pg.Client({ connectionString: this.url })
    await client.connect()
    try {
      await client.query(`select pg_backup_start('${slot}', fast => true)`)
      copyTree(this.cluster, standby.cluster)
      const { rows } = await client.query<{ labelfile: string }>(
        'select labelfile from pg_backup_stop(wait_for_archive => false)',
      )
      standby.write('backup_label', rows[0]?.labelfile ?? '')
    } finally {
      await client.end()
    }
    standby.chown(standby.cluster)
  }

  private get cluster(): string {
    return join(this.folder, 'cluster')
  }

  private get socketDir(): string {
    return join(this.folder, 'run')
  }

  private makeFolders(): void {
    mkdirSync(this.folder, { mode: 0o755 })
    for (const path of [this.cluster, this.socketDir]) mkdirSync(path, { mode: 0o700 })
    this.chown(this.folder)
  }

  private write(name: string, text: string): void {
    const file = join(this.cluster, name)
    writeFileSync(file, text, { mode: 0o600 })
    this.chown(file)
  }

  private chown(path: string): void {
    const { owner } = this.runner
    if (owner === undefined) return
    chownSync(path, owner.uid, owner.gid)
    if (!statSync(path).isDirectory()) return
    for (const name of readdirSync(path)) this.chown(join(path, name))
  }
}

const slot = 'standby'
const binaries = findBinaries()

async function findRunner(): Promise<Runner> {
  linkLibraries(binaries)
  for await (const runner of listRunners({})) if (await works(runner)) return runner
  throw new Error('No user of this machine can run PostgreSQL.')
}

/** What a base backup leaves out, because the copy makes it anew. */
const emptyFolders = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_stat_tmp',
  'pg_subtrans',
])
const leftOut = /^(postmaster\.(pid|opts)|pg_internal\.init|pgsql_tmp.*|postgresql\.auto\.conf.*)$/

function copyTree(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (leftOut.test(entry.name)) continue
    const [source, copy] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) {
      mkdirSync(copy, { mode: 0o700 })
      if (emptyFolders.has(entry.name)) for (const name of foldersIn(source)) mkdirSync(join(copy, name))
      else copyTree(source, copy)
    } else copyUnlessGone(source, copy)
  }
}

const foldersIn = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() && entry.name !== slot ? [entry.name] : [],
  )

/** A table that was deleted meanwhile has no file any more. */
function copyUnlessGone(from: string, to: string): void {
  try {
    copyFileSync(from, to)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
}
