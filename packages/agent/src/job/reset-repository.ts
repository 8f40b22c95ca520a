// Deletes everything from a repository's .git with which an earlier job could run commands in the next one: hooks,
// filters, credential helpers, rewritten addresses. Keeps objects, refs and the index, so that the next fetch is small.

import { lstat, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { readGit } from './git-process.ts'
import type { JobRun } from './run.ts'

const KEPT = new Set([
  'HEAD',
  'FETCH_HEAD',
  'ORIG_HEAD',
  'config',
  'config.worktree',
  'index',
  'info',
  'lfs',
  'logs',
  'modules',
  'objects',
  'packed-refs',
  'refs',
  'reftable',
  'shallow',
])

/** Settings that name no program, file or other machine. */
const KEPT_KEYS = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)$/,
  /^core\.sparsecheckout(cone)?$/,
  /^extensions\.(objectformat|partialclone|refstorage|worktreeconfig)$/,
  /^remote\.origin\.(fetch|promisor|partialclonefilter|tagopt)$/,
  /^branch\..*\.(remote|merge)$/s,
  /^submodule\..*\.active$/s,
]

/** False if the folder has no reusable repository. */
export async function resetRepository(run: JobRun): Promise<boolean> {
  const folder = join(run.checkoutPath, '.git')
  // A file or a link points to a repository elsewhere.
  const found = await lstat(folder)
  if (!found.isDirectory()) return false
  return await resetFolder(run, folder)
}

async function resetFolder(run: JobRun, folder: string): Promise<boolean> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const isKept = KEPT.has(entry.name) && !entry.isSymbolicLink()
    if (!isKept) await rm(join(folder, entry.name), { recursive: true, force: true })
  }
  await keepOnly(join(folder, 'info'), 'sparse-checkout')
  for (const name of ['config', 'config.worktree']) {
    if (!(await resetConfig(run, folder, name))) return false
  }
  return await resetModules(run, join(folder, 'modules'))
}

/** Names of submodules may contain slashes, so a repository can be at any depth. */
async function resetModules(run: JobRun, folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) await rm(path, { force: true })
    else if (await isThere(join(path, 'HEAD'))) {
      if (!(await resetFolder(run, path))) return false
    } else if (!(await resetModules(run, path))) return false
  }
  return true
}

async function resetConfig(run: JobRun, folder: string, name: string): Promise<boolean> {
  const path = join(folder, name)
  if (!(await isThere(path))) return name !== 'config'
  const listed = await readGit(run, ['config', '--file', path, '--no-includes', '--null', '--list'])
  if (listed === null) return false
  const lines: string[] = []
  for (const entry of listed.split('\0')) {
    const at = entry.indexOf('\n')
    const [key, value] = at < 0 ? [entry, null] : [entry.slice(0, at), entry.slice(at + 1)]
    if (key === '') continue
    const isKept = KEPT_KEYS.some((pattern) => pattern.test(key))
    if (isKept || (await isWorktreeInside(run, folder, key, value))) lines.push(configLine(key, value))
  }
  const text = lines.join('')
  if (text !== (await readFile(path, 'utf8'))) await writeFile(path, text)
  return true
}

/** The repository of a submodule says where its files are. */
async function isWorktreeInside(
  { checkoutPath }: JobRun,
  folder: string,
  key: string,
  value: string | null,
): Promise<boolean> {
  if (key !== 'core.worktree' || value === null) return false
  const worktree = resolve(folder, value)
  const real = await realpath(worktree).catch(() => worktree)
  const [inside, root] = [real, await realpath(checkoutPath)]
  const path = relative(root, inside)
  return path !== '..' && !path.startsWith(`..${sep}`)
}

/** A section for each key: `[branch "a.b"]`, then the name and the value in quotes. */
function configLine(key: string, value: string | null): string {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')]
  const section = key.slice(0, first)
  const middle = first === last ? '' : ` "${escape(key.slice(first + 1, last))}"`
  const assigned = value === null ? '' : ` = "${escape(value).replaceAll('\n', String.raw`\n`)}"`
  return `[${section}${middle}]\n\t${key.slice(last + 1)}${assigned}\n`
}

function escape(text: string): string {
  return text.replaceAll(/["\\]/g, String.raw`\$&`)
}

async function keepOnly(folder: string, name: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    if (entry.name !== name || !entry.isFile()) {
      await rm(join(folder, entry.name), { recursive: true, force: true })
    }
  }
}

async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  )
}
