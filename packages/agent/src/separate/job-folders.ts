// The folders of one sandboxed job, and the workspaces of pipelines. A workspace has what the jobs of one pipeline share on one
// agent: checkout, home and plugins. It is renamed into the folder of a job, and back after the job, so that no job ever sees
// another workspace.
//
//   running/HOST-PID-RANDOM/  of one job: `tmp` and `builds`, which it sees; `root`, on which a sandbox may be built
//   workspaces/USER/…         of the pipelines whose jobs do not run now
//
// Jobs can write below `tmp` and `builds`, and exchange anything there for a link. So this file only makes, renames and
// removes single names in folders that no job reaches. Trees of jobs are deleted in a sandbox.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, lchownSync, lstatSync, mkdirSync, mkdtempSync } from 'node:fs'
import { readdirSync, readFileSync, renameSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { codeOf } from '../http/exchange.ts'
import type { SandboxFolders } from '../settings.ts'

export interface JobFolders {
  path: string
  /** False: a folder of the machine was made or deleted since, so a sandbox in these folders shows too little or too much. */
  isCurrent(): boolean
  /** Gives the job the workspace of this name, or a new one. */
  takeWorkspace(name: string): void
  /** After the job's last process has ended. Resolves when everything but a kept workspace is deleted. */
  close(): Promise<void>
}

export function makeJobFolders(sandbox: SandboxFolders): JobFolders {
  const parent = join(sandbox.folder, runningFolder)
  mkdirSync(parent, { recursive: true, mode: 0o700 })
  const path = mkdtempSync(join(parent, `${namePrefix(process.pid)}-`))
  const tmp = join(path, 'tmp')
  makeFor(sandbox.user, tmp, 0o1777)
  for (const shared of sandbox.optional) makeParents(sandbox.user, tmp, shared)
  for (const name of ['builds', 'root']) mkdirSync(join(path, name))
  // The user of a job enters it, whatever the umask.
  chmodSync(join(path, 'builds'), 0o755)
  const workspace = join(path, 'builds', sandbox.workspace)
  const present = presentOf(sandbox)
  return {
    path,
    isCurrent: () => presentOf(sandbox) === present,
    takeWorkspace(name) {
      const kept = join(sandbox.folder, workspacesFolder, String(sandbox.user?.uid ?? 'own'), name)
      if (sandbox.keepsWorkspaces) {
        mkdirSync(dirname(kept), { recursive: true, mode: 0o700 })
        writeFileSync(join(path, ownerFile), kept)
      }
      if (!sandbox.keepsWorkspaces || !renames(kept, workspace)) makeFor(sandbox.user, workspace, 0o700)
    },
    close: () => clear(path, sandbox),
  }
}

/** Clears what agents of this machine left that were killed. Workspaces are back when it returns; the rest takes longer. */
export function clearLeftFolders(sandboxes: readonly SandboxFolders[]): void {
  for (const parent of new Set(sandboxes.map(({ folder }) => join(folder, runningFolder)))) {
    for (const name of namesIn(parent).filter(isLeft)) {
      const path = join(parent, name)
      const uid = lstatSync(join(path, 'tmp'), { throwIfNoEntry: false })?.uid
      const sandbox = sandboxes.find(({ user }) => user === null || user.uid === uid)
      if (sandbox !== undefined) void clear(path, sandbox)
    }
  }
}

const presentOf = ({ optional }: SandboxFolders): string =>
  optional.filter((one) => existsSync(one)).join('\n')

const runningFolder = 'running'
const workspacesFolder = 'workspaces'
/** Names the place of the workspace among the others. */
const ownerFile = 'workspace'

/** What it cannot delete is deleted after the next start. */
async function clear(path: string, sandbox: SandboxFolders): Promise<void> {
  try {
    await giveBackAndDelete(path, sandbox)
  } catch {
    // For example a file system that has become read-only.
  }
}

async function giveBackAndDelete(path: string, sandbox: SandboxFolders): Promise<void> {
  giveBack(path, join(path, 'builds', sandbox.workspace))
  if (removes(path, sandbox)) return
  // The sandbox needs those that were empty.
  for (const name of ['tmp', 'builds', 'root']) mkdirSync(join(path, name), { recursive: true })
  const [file, ...args] = [...sandbox.empty, '/bin/sh', '-c', EMPTY]
  const emptying = spawn(file, args, { cwd: path, stdio: 'ignore', detached: true })
  await once(emptying, 'exit').catch(() => {})
  removes(path, sandbox)
}

/** Packages of Go, for example, are folders that their owner cannot write to. */
const EMPTY = `
empty() { find /tmp /builds -mindepth 1 -delete; }
empty || { chmod -R u+rwX /tmp/* /tmp/.[!.]* /builds/*; empty; }
`

function giveBack(path: string, workspace: string): void {
  const kept = readOwner(join(path, ownerFile))
  if (kept === null || lstatSync(workspace, { throwIfNoEntry: false })?.isDirectory() !== true) return
  // Not if another agent of that name was faster.
  renames(workspace, kept)
}

function readOwner(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** False if the source is not there, or something else is at the target. */
function renames(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(codeOf(error))) return false
    throw error
  }
}

/** False if a job's folder is not empty. */
function removes(path: string, { workspace }: SandboxFolders): boolean {
  const removed = [join('builds', workspace), 'builds', 'tmp', 'root'].every((name) =>
    isGone(join(path, name), rmdirSync),
  )
  return removed && isGone(join(path, ownerFile), unlinkSync) && isGone(path, rmdirSync)
}

function isGone(path: string, remove: (path: string) => void): boolean {
  try {
    remove(path)
    return true
  } catch (error) {
    return codeOf(error) === 'ENOENT'
  }
}

function makeFor(user: SandboxFolders['user'], path: string, mode: number): void {
  mkdirSync(path, { mode: 0o700 })
  if (user !== null) lchownSync(path, user.uid, user.gid)
  chmodSync(path, mode)
}

/** Folders of the machine in `/tmp` get mount points in the job's own. Its user can delete them if it owns what they are in. */
function makeParents(user: SandboxFolders['user'], tmp: string, shared: string): void {
  const [, root, ...names] = dirname(shared).split('/')
  if (root !== 'tmp') return
  let folder = tmp
  for (const name of names) {
    folder = join(folder, name)
    if (!existsSync(folder)) makeFor(user, folder, 0o755)
  }
}

function namePrefix(pid: number): string {
  return `${hostname().replaceAll(/[^\w.]/g, '_')}-${pid}`
}

/** Its agent has ended. Another machine can share the folder, so its agents are left alone. */
function isLeft(name: string): boolean {
  const [, prefix, pid] = /^((?:.*)-(\d+))-[^-]*$/.exec(name) ?? []
  if (prefix === undefined || prefix !== namePrefix(Number(pid))) return false
  if (Number(pid) === process.pid) return true
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return codeOf(error) === 'ESRCH'
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}
