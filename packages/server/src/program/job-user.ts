// A server that runs as root gives the jobs of local agents two users: one for trusted jobs, one for jobs of forks. Their
// files are outside of the data directory, in a folder that these users can enter: the builds, and a copy of the agent's
// program and of Node if the users cannot read the originals, for example below root's home.
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, copyFileSync, existsSync, linkSync, lstatSync, mkdirSync } from 'node:fs'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { JobIdentity } from '@millrace/protocol/local-agents.ts'
import { findNameOf, type Owner } from '../db/embedded/privileges.ts'
import { run } from '../db/embedded/processes.ts'
import { errorCode } from '../db/embedded/startup-error.ts'
import { agentFolder, programFiles } from '../hosted/runner.ts'
import type { AgentProgram, JobSeparation } from './agent-program.ts'

const sharedRoot = '/var/lib/millrace'
/** An operator can create this account for trusted jobs, for example with SSH keys in its home. */
const accountName = 'millrace-job'
// Between the ranges that distributions and systemd use, and below 65536, the limit in many containers.
const firstUid = 60_600
const pairs = 250

/** Returns the reason if this process may not do it. */
export async function separateByUser(
  dataDir: string,
  inherited: Record<string, string>,
): Promise<JobSeparation | string> {
  const users = await findUsers(dataDir)
  const folder = makeFolder(dataDir)
  for (const user of [users.trusted, users.forks]) {
    const { code, stderr } = await runAs(user, '/bin/sh', ['-c', 'cd "$1"', 'sh', folder])
    if (code !== 0) return `it cannot start processes as another user (${stderr.trim().split('\n').at(-1)})`
  }
  const program = await findProgram(users, folder)
  if (program === null) return 'the users for jobs cannot run Node'
  const gitConfig = writeGitConfig(folder)
  const identity = (user: Owner, name: string): JobIdentity => {
    const buildPath = join(folder, name)
    const home = join(buildPath, '.home')
    for (const path of [buildPath, home]) own(path, user)
    const environment = { ...inherited, HOME: home, GIT_CONFIG_SYSTEM: gitConfig }
    return { command: [], user, buildPath, environment }
  }
  const socketsPath = join(folder, 'sockets')
  mkdirSync(socketsPath, { recursive: true, mode: 0o711 })
  const trusted = identity(users.trusted, 'builds')
  const forks = identity(users.forks, 'forks')
  return { program, socketsPath, jobs: { kind: 'separate', trusted, forks } }
}

async function findUsers(dataDir: string): Promise<{ trusted: Owner; forks: Owner }> {
  const start = Number.parseInt(digestOf(dataDir).slice(0, 6), 16)
  const account = await findAccount()
  for (let step = 0; ; step++) {
    const uid = firstUid + 2 * ((start + step) % pairs)
    const names = await Promise.all([findNameOf(uid), findNameOf(uid + 1)])
    // A user with a name belongs to someone else.
    if (names.some((name) => name !== undefined) && step < pairs) continue
    return { trusted: account ?? { uid, gid: uid }, forks: { uid: uid + 1, gid: uid + 1 } }
  }
}

async function findAccount(): Promise<Owner | undefined> {
  const command = (flag: string) => ({ file: 'id', args: [flag, accountName], options: {} })
  const [uid, gid] = await Promise.all([run(command('-u')), run(command('-g'))])
  return uid.code === 0 && gid.code === 0 ? { uid: Number(uid.stdout), gid: Number(gid.stdout) } : undefined
}

/** The same folder at every start, so that checkouts are reused; a temporary one where that cannot be written. */
function makeFolder(dataDir: string): string {
  const folder = join(sharedRoot, `${basename(dataDir)}-${digestOf(dataDir).slice(0, 8)}`)
  try {
    mkdirSync(sharedRoot, { recursive: true })
    chmodSync(sharedRoot, 0o755)
    deleteOrphans()
    mkdirSync(folder, { recursive: true })
    chmodSync(folder, 0o755)
    // With DATABASE_URL there may be no data directory.
    if (existsSync(dataDir))
      writeFileSync(join(folder, ownerFile), `${realpathSync(dataDir)}\n`, { mode: 0o600 })
    return folder
  } catch (error) {
    if (!['EROFS', 'EACCES', 'EPERM', 'ENOTDIR'].includes(errorCode(error))) throw error
    const temporary = mkdtempSync(join(tmpdir(), 'millrace-jobs-'))
    chmodSync(temporary, 0o755)
    return temporary
  }
}

const ownerFile = 'data-directory'

/** Deletes the folders of installations whose data directory is gone. Everything in them can be created again. */
function deleteOrphans(): void {
  for (const name of readdirSync(sharedRoot)) {
    const folder = join(sharedRoot, name)
    const file = join(folder, ownerFile)
    if (!existsSync(file) || existsSync(readFileSync(file, 'utf8').trim())) continue
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

function digestOf(dataDir: string): string {
  const path = existsSync(dataDir) ? realpathSync(dataDir) : dataDir
  return createHash('sha256').update(path).digest('hex')
}

/** Replaces anything that is no folder of this user. Links are not followed. */
function own(path: string, { uid, gid }: Owner): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found !== undefined && (!found.isDirectory() || found.uid !== uid)) {
    rmSync(path, { recursive: true, force: true })
  }
  mkdirSync(path, { recursive: true, mode: 0o700 })
  chownSync(path, uid, gid)
}

/** Repositories on this disk mostly belong to another user than the job's, and git refuses those by default. */
function writeGitConfig(folder: string): string {
  const file = join(folder, 'gitconfig')
  writeFileSync(file, '[include]\n\tpath = /etc/gitconfig\n[safe]\n\tdirectory = *\n')
  return file
}

async function findProgram(
  users: { trusted: Owner; forks: Owner },
  folder: string,
): Promise<AgentProgram | null> {
  const inPlace = { node: process.execPath, folder: agentFolder }
  if (await canRun(users.forks, inPlace)) return inPlace
  const copy = { node: copyNode(folder), folder: await copyProgram(folder) }
  return (await canRun(users.forks, copy)) ? copy : null
}

/** The program ends at once when it has no IPC channel. */
async function canRun(user: Owner, { node, folder }: AgentProgram): Promise<boolean> {
  const { code } = await runAs(user, node, [join(folder, 'dist', 'separate', 'program.js')])
  return code === 0
}

const runAs = (user: Owner, file: string, args: string[]) =>
  run({ file, args, options: { ...user, cwd: '/', env: { PATH: process.env['PATH'] } } })

/** A hard link where that is possible, because the file is large. */
function copyNode(folder: string): string {
  const copy = join(folder, 'node')
  const original = realpathSync(process.execPath)
  const made = statSync(copy, { throwIfNoEntry: false })
  const { ino, size, mtimeMs } = statSync(original)
  if (made !== undefined && (made.ino === ino || (made.size === size && made.mtimeMs > mtimeMs))) return copy
  const partial = `${copy}.part`
  rmSync(partial, { force: true })
  try {
    linkSync(original, partial)
  } catch {
    copyFileSync(original, partial)
    chmodSync(partial, 0o755)
  }
  renameSync(partial, copy)
  return copy
}

async function copyProgram(folder: string): Promise<string> {
  const root = join(folder, 'program')
  rmSync(root, { recursive: true, force: true })
  for (const { name, mode, source } of await programFiles()) {
    if (source.kind !== 'file') continue
    const target = join(root, name)
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 })
    copyFileSync(source.path, target)
    chmodSync(target, mode)
  }
  return join(root, 'node_modules', '@millrace', 'agent')
}
