// The cache of a step. A hosted agent links the cached paths into a volume that outlives the job. Any other agent restores them
// from the server before the command, and saves them after it. A cache never fails a job.

import * as caches from '../api/caches.ts'
import { Damaged } from '../cache/manifest.ts'
import { findLocations } from '../cache/locations.ts'
import type { CacheLocation } from '../cache/locations.ts'
import { platform } from '../cache/platform.ts'
import { restore } from '../cache/restore.ts'
import { save } from '../cache/save.ts'
import { readableCount, readableSize, secondsSince } from '../cache/sizes.ts'
import { linkVolume } from './cache-volume.ts'
import type { JobRun } from './run.ts'

export async function prepareCache(run: JobRun): Promise<void> {
  const paths = cachedPaths(run.job.step?.cache)
  if (paths.length === 0) return
  const { cachePath, verificationKeys, verificationFailure } = run.settings
  if (verificationKeys !== null && verificationFailure === 'block') {
    // Whoever controls the server could put a program into it.
    run.log.say('# The job runs without a cache, because no signature covers its files')
    return
  }
  if (cachePath === null) await restoreFromServer(run, paths)
  else {
    run.log.say('~~~ Linking the cache')
    await linkVolume(run, cachePath, paths)
  }
}

async function restoreFromServer(run: JobRun, paths: readonly string[]): Promise<void> {
  run.log.say('~~~ Restoring the cache')
  try {
    const locations = locationsOf(run, paths)
    const startMs = performance.now()
    const { cache, save: rule } = await caches.restoreCache(run.api, run.job.id, { platform })
    run.cache = { save: rule, restored: null }
    if (cache === null) {
      run.log.say('# There is no cache yet')
      return
    }
    const restored = await restore(run.api, cache, locations)
    run.cache = { save: rule, restored }
    run.log.say(
      `# Restored ${readableCount(restored.files, 'file')}, ${readableSize(restored.bytes)}, from branch ${cache.branch}, saved at ${cache.saved_at}; ${readableSize(restored.received)} received in ${secondsSince(startMs)}`,
    )
  } catch (error) {
    run.log.say(`# The job runs without a cache: ${messageOf(error)}`)
    if (error instanceof Damaged && run.job.from_fork !== true) {
      await caches.reportDamage(run.api, run.job.id, error.digest).catch(() => {})
    }
  }
}

/** After a command that succeeded. */
export async function saveCache(run: JobRun): Promise<void> {
  const { cache } = run
  if (cache === null || run.cancel.requested !== null) return
  run.log.say('~~~ Saving the cache')
  if (!cache.save.allowed) {
    run.log.say(`# The cache is not saved: ${cache.save.reason}`)
    return
  }
  try {
    const locations = locationsOf(run, cachedPaths(run.job.step?.cache))
    const startMs = performance.now()
    const mostBytes = cache.save.most_bytes
    const saved = await save(run.api, {
      jobId: run.job.id,
      key: null,
      locations,
      mostBytes,
      restored: cache.restored,
    })
    if (saved.kind === 'empty') run.log.say('# There is nothing to save')
    else if (saved.kind === 'unchanged') {
      run.log.say(`# The cache is as it was restored, so it is not saved (${secondsSince(startMs)})`)
    } else {
      const { files, bytes, packs, sentPacks, sentBytes, leftOut } = saved
      run.log.say(
        `# Saved ${readableCount(files, 'file')}, ${readableSize(bytes)}; ${sentPacks} of ${readableCount(packs, 'pack')} changed, ${readableSize(sentBytes)} sent in ${secondsSince(startMs)}`,
      )
      if (leftOut > 0) run.log.say(`# Sockets, pipes and devices are not cached: ${leftOut} left out`)
    }
  } catch (error) {
    run.log.say(`# The cache is not saved: ${messageOf(error)}`)
  }
}

function locationsOf(run: JobRun, paths: readonly string[]): CacheLocation[] {
  const home = run.env['HOME'] ?? '/root'
  const { locations, leftOut } = findLocations(paths, { checkoutPath: run.checkoutPath, home })
  for (const { path, reason } of leftOut) run.log.say(`# ${path}: ${reason}`)
  return locations
}

function cachedPaths(cache: unknown): string[] {
  const paths: unknown = typeof cache === 'object' && cache !== null && 'paths' in cache ? cache.paths : []
  return Array.isArray(paths) ? paths.filter((path): path is string => typeof path === 'string') : []
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
