// A commit of the work tree as it is: tracked, staged and untracked files, without ignored ones. It is made with an index and an
// object folder of its own, so the repository of the user does not change: neither index, branch and reflog nor objects.
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { oneLine } from '../text.ts'
import { Refused } from '../../refused.ts'

export interface Snapshot {
  commit: string
  /** The commit that it is based on; null: there is none yet. */
  base: string | null
  /** How many files differ from the base. */
  changedFiles: number
  /** Submodules whose uncommitted changes are not part of it. */
  changedSubmodules: string[]
  push(remote: string, ref: string): Promise<void>
  unpush(remote: string, ref: string): Promise<void>
  /** Deletes the temporary files. */
  close(): Promise<void>
}

/** `root` is the top of the work tree. */
export async function takeSnapshot(root: string, message: string): Promise<Snapshot> {
  await refuseConflicts(root)
  const folder = await mkdtemp(join(tmpdir(), 'millrace-preflight-'))
  const close = () => rm(folder, { recursive: true, force: true })
  try {
    const env = await prepare(root, folder)
    const git = (...args: string[]) => runGit(root, env, args)
    await git('add', '--all')
    const tree = await git('write-tree')
    const base = await findBase(root)
    const commit = await commitTree(root, env, [tree, ...(base === null ? [] : ['-p', base]), '-m', message])
    const changed =
      base === null ? await git('ls-tree', '-r', '--name-only', '-z', tree) : await git(...DIFF, base, tree)
    return {
      commit,
      base,
      changedFiles: changed.split('\0').filter((path) => path !== '').length,
      changedSubmodules: await listChangedSubmodules(root),
      push: async (remote, ref) => {
        if (await usesLfs(root, env, commit)) await git('lfs', 'push', remote, commit)
        await git(...PUSH, '--', remote, `${commit}:${ref}`)
      },
      unpush: async (remote, ref) => void (await git(...PUSH, '--', remote, `:${ref}`)),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

const DIFF = ['diff-tree', '-r', '--name-only', '--no-renames', '-z']
/** Hooks and settings of the user's own pushes do not apply. */
const PUSH = ['push', '--quiet', '--no-verify', '--recurse-submodules=no', '--no-follow-tags', '--no-signed']

/** Starts with a copy of the user's index, so that git need not read files that have not changed. */
async function prepare(root: string, folder: string): Promise<NodeJS.ProcessEnv> {
  const pathOf = async (name: string) =>
    resolve(root, await runGit(root, process.env, ['rev-parse', '--git-path', name]))
  const [index, objects] = await Promise.all([pathOf('index'), pathOf('objects')])
  const own = { index: join(folder, 'index'), objects: join(folder, 'objects') }
  await mkdir(own.objects)
  // A new repository has no index yet.
  await copyFile(index, own.index).catch(() => {})
  const known = process.env['GIT_ALTERNATE_OBJECT_DIRECTORIES']
  return {
    ...process.env,
    GIT_INDEX_FILE: own.index,
    GIT_OBJECT_DIRECTORY: own.objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: known ? `${objects}:${known}` : objects,
  }
}

async function refuseConflicts(root: string): Promise<void> {
  if ((await runGit(root, process.env, ['ls-files', '--unmerged'])) !== '') {
    throw new Refused('The work tree has merge conflicts. Resolve them and run git add, then try again.')
  }
}

async function findBase(root: string): Promise<string | null> {
  return runGit(root, process.env, ['rev-parse', '--verify', '--quiet', 'HEAD']).catch(() => null)
}

/** git refuses to commit for a user without a name and an email address. */
async function commitTree(root: string, env: NodeJS.ProcessEnv, args: readonly string[]): Promise<string> {
  const isKnown = await runGit(root, env, ['var', 'GIT_COMMITTER_IDENT']).then(
    () => true,
    () => false,
  )
  const person = { NAME: 'millrace', EMAIL: 'millrace@localhost' }
  const names = isKnown
    ? {}
    : {
        GIT_AUTHOR_NAME: person.NAME,
        GIT_AUTHOR_EMAIL: person.EMAIL,
        GIT_COMMITTER_NAME: person.NAME,
        GIT_COMMITTER_EMAIL: person.EMAIL,
      }
  return runGit(root, { ...env, ...names }, ['commit-tree', ...args])
}

/** Their commits are part of the snapshot, their files are not. */
async function listChangedSubmodules(root: string): Promise<string[]> {
  const status = await runGit(root, process.env, ['status', '--porcelain=v2', '-z', '--untracked-files=no'])
  return status.split('\0').flatMap((entry) => {
    const [, path] = /^1 .. S.(?:M.|.U) (?:\S+ ){5}(.*)$/s.exec(entry) ?? []
    return path === undefined ? [] : [path]
  })
}

/** Large files are sent by a hook of git-lfs, which does not run here. */
async function usesLfs(root: string, env: NodeJS.ProcessEnv, commit: string): Promise<boolean> {
  const args = ['grep', '--quiet', 'filter=lfs', commit, '--', '.gitattributes', '**/.gitattributes']
  return runGit(root, env, args).then(
    () => true,
    () => false,
  )
}

const execute = promisify(execFile)
/** Hooks and background programs of the user have nothing to do with the temporary index. */
const CONFIG = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-c', 'core.splitIndex=false']

async function runGit(root: string, env: NodeJS.ProcessEnv, args: readonly string[]): Promise<string> {
  try {
    const options = { env, maxBuffer: 256 * 1024 * 1024 }
    const { stdout } = await execute('git', ['-C', root, ...CONFIG, ...args], options)
    return stdout.replace(/\n+$/, '')
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error)
    throw new Refused(`git ${args[0]} failed: ${said.split('\n').map(oneLine).join('\n')}`)
  }
}
