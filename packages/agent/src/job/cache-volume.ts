// A step's cached paths are links into a volume that outlives the job.

import { createHash } from 'node:crypto'
import { cp, lstat, mkdir, readlink, rm, symlink } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import type { JobRun } from './run.ts'

export async function linkVolume(run: JobRun, cachePath: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) run.log.say(`# ${path}: ${await link(run, cachePath, path)}`)
}

/** Returns lines for the log. */
async function link(run: JobRun, cachePath: string, path: string): Promise<string> {
  const home = run.env['HOME'] ?? '/root'
  const location = resolve(run.checkoutPath, path.replace(/^~(?=\/|$)/, home))
  if (isAbove(location, run.checkoutPath) || isAbove(location, cachePath))
    return 'holds more than a cache, left out'
  const kept = join(cachePath, 'paths', createHash('sha256').update(path).digest('hex').slice(0, 32))
  const isNew = (await mkdir(kept, { recursive: true })) !== undefined
  const found = await lstat(location).catch(() => null)
  if (found?.isSymbolicLink() === true && (await readlink(location)) === kept) return 'linked already'
  if (found !== null && !found.isDirectory()) return 'is no folder, left out'
  if (found !== null) {
    // Files of the checkout stay, unless the cache has an entry with the same name.
    await cp(location, kept, { recursive: true, force: false, verbatimSymlinks: true })
    await rm(location, { recursive: true, force: true })
  }
  await mkdir(dirname(location), { recursive: true })
  await symlink(kept, location)
  return isNew ? 'begins empty' : 'found'
}

const isAbove = (folder: string, other: string) => !relative(folder, other).startsWith('..')
