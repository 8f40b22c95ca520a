// For a server that runs as root where sandboxes do not work, as in many containers: jobs run as another user. Their files are
// outside of the data directory, in a folder that this user can enter: the builds, and a copy of the agent's program and of
// Node if the user cannot read the originals, for example below root's home.
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, lchownSync, linkSync, lstatSync, mkdirSync } from 'node:fs'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Owner } from '../db/embedded/privileges.ts'
import { run } from '../db/embedded/processes.ts'
import { errorCode } from '../db/embedded/startup-error.ts'
import { agentFolder, programFiles } from '../hosted/runner.ts'
import type { AgentProgram, JobSeparation } from './agent-program.ts'
import { findJobAccount, findJobUsers } from './job-users.ts'

const sharedRoot = '/var/lib/millrace'
/** Names the data directory of the installation. */
const ownerFile = 'data-directory'

/** Returns the reason if this process may not do it. */
export async function jobsOfAnotherUser(
  dataDir: string,
  inherited: Record<string, string>,
  refusal: string,
): Promise<JobSeparation | string> {
  const [unnamed] = await findJobUsers(dataDir, 1)
  const { uid, gid } = (await findJobAccount()) ?? unnamed ?? { uid: 0, gid: 0 }
  const user = { uid, gid }
  await deleteOldFolders((owner) => !existsSync(owner))
  const folder = makeFolder(dataDir)
  const { code, stderr } = await runAs(user, '/bin/sh', ['-c', 'cd "$1"', 'sh', folder])
  if (code !== 0) return `it cannot start processes as another user (${stderr.trim().split('\n').at(-1)})`
  const program = await findProgram(user, folder)
  if (program === null) return 'the user for jobs cannot run Node'
  const buildPath = makeBuilds(folder, user)
  const environment = {
    ...inherited,
    HOME: join(buildPath, '.home'),
    GIT_CONFIG_SYSTEM: writeGitConfig(folder),
  }
  const socketsPath = join(folder, 'sockets')
  mkdirSync(socketsPath, { recursive: true, mode: 0o711 })
  const paths = { buildPath, environment, node: program.node, program: programOf(program) }
  return {
    program,
    socketsPath,
    environment: inherited,
    jobs: { kind: 'other-user', user, paths, refusal },
  }
}

const programOf = ({ folder }: AgentProgram) => join(folder, 'dist', 'separate', 'program.js')

/** Only root can rename anything in the folder above, so this folder is no link of a job. */
function makeBuilds(folder: string, { uid, gid }: Owner): string {
  const path = join(folder, `builds-${uid}`)
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) mkdirSync(path, { mode: 0o700 })
  lchownSync(path, uid, gid)
  return path
}

/** The same folder at every start, so that checkouts are reused; a temporary one where that cannot be written. */
function makeFolder(dataDir: string): string {
  const digest = createHash('sha256').update(dataDir).digest('hex')
  const folder = join(sharedRoot, `${basename(dataDir)}-${digest.slice(0, 8)}`)
  try {
    mkdirSync(folder, { recursive: true })
    for (const path of [sharedRoot, folder]) chmodSync(path, 0o755)
    writeFileSync(join(folder, ownerFile), dataDir, { mode: 0o600 })
    return folder
  } catch (error) {
    if (!['EROFS', 'EACCES', 'EPERM', 'ENOTDIR'].includes(errorCode(error))) throw error
    const temporary = mkdtempSync(join(tmpdir(), 'millrace-jobs-'))
    chmodSync(temporary, 0o755)
    return temporary
  }
}

/**
 * Deletes the folders of installations that have no jobs of another user any more. What jobs could write is deleted as their
 * owner, so that a link leads to nothing that this user could not delete anyway.
 */
export async function deleteOldFolders(isOld: (dataDir: string) => boolean): Promise<void> {
  for (const name of existsSync(sharedRoot) ? readdirSync(sharedRoot) : []) {
    const folder = join(sharedRoot, name)
    const file = join(folder, ownerFile)
    if (!existsSync(file) || !isOld(readFileSync(file, 'utf8').trim())) continue
    const ofJobs = readdirSync(folder).filter((entry) => lstatSync(join(folder, entry)).uid !== 0)
    if ((await Promise.all(ofJobs.map((entry) => deleteAsOwner(join(folder, entry))))).every(Boolean)) {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** False if something is left. */
async function deleteAsOwner(path: string): Promise<boolean> {
  const { uid, gid } = lstatSync(path)
  await runAs({ uid, gid }, 'find', [path, '-mindepth', '1', '-delete'])
  try {
    rmdirSync(path)
    return true
  } catch {
    return false
  }
}

/** Repositories on this disk mostly belong to another user than the job's, and git refuses those by default. */
function writeGitConfig(folder: string): string {
  const file = join(folder, 'gitconfig')
  writeFileSync(file, '[include]\n\tpath = /etc/gitconfig\n[safe]\n\tdirectory = *\n')
  return file
}

async function findProgram(user: Owner, folder: string): Promise<AgentProgram | null> {
  const inPlace = { node: process.execPath, folder: agentFolder }
  if (await canRun(user, inPlace)) return inPlace
  const copy = { node: copyNode(folder), folder: await copyProgram(folder) }
  return (await canRun(user, copy)) ? copy : null
}
/** The program ends at once when it has no IPC channel. */
async function canRun(user: Owner, { node, folder }: AgentProgram): Promise<boolean> {
  const { code } = await runAs(user, node, [programOf({ node, folder })])
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
