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
  const place = resolve(run.checkoutPath, path.replace(/^~(?=\/|$)/, home))
  if (isAbove(place, run.checkoutPath) || isAbove(place, cachePath))
    return 'holds more than a cache, left out'
  const kept = join(cachePath, 'paths', createHash('sha256').update(path).digest('hex').slice(0, 32))
  const isNew = (await mkdir(kept, { recursive: true })) !== undefined
  const found = await lstat(place).catch(() => null)
  if (found?.isSymbolicLink() === true && (await readlink(place)) === kept) return 'linked already'
  if (found !== null && !found.isDirectory()) return 'is no folder, left out'
  if (found !== null) {
    // Files of the checkout stay, unless the cache has an entry with the same name.
    await cp(place, kept, { recursive: true, force: false, verbatimSymlinks: true })
    await rm(place, { recursive: true, force: true })
  }
  await mkdir(dirname(place), { recursive: true })
  await symlink(kept, place)
  return isNew ? 'begins empty' : 'found'
}

const isAbove = (folder: string, other: string) => !relative(folder, other).startsWith('..')
