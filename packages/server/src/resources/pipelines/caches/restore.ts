// Finds the cache of a job's step, and the URLs of its blobs.
import type { StepCacheRestoreResponse, StoredCacheBlob } from '@millrace/protocol/step-caches.ts'
import { originsOf } from '../../../conductor/trust.ts'
import type { Context } from '../../../context.ts'
import { notFound } from '../../../lib/errors.ts'
import * as caches from './queries.ts'
import { branchesToRead, hashPaths, mostCacheBytes, sortedPaths } from './rules.ts'
import { readUrl } from './urls.ts'

export interface CachingJob {
  id: string
  organizationId: string
  pipelineId: string
  buildId: string
}

interface StepCache {
  address: caches.CacheAddress
  paths: string[]
  branch: string
  branchesToRead: string[]
  mostBytes: number
}

export async function getStepCache(ctx: Context, job: CachingJob, platform: string): Promise<StepCache> {
  const step = await caches.findStep(ctx.db, job.organizationId, job.id)
  if (!step?.cache) throw notFound('The step of this job has no cache')
  const { name, paths, sizeGb } = step.cache
  return {
    address: { pipelineId: job.pipelineId, name: name ?? step.slug, platform, pathsHash: hashPaths(paths) },
    paths: sortedPaths(paths),
    branch: step.branch,
    branchesToRead: branchesToRead(step),
    mostBytes: mostCacheBytes(sizeGb, ctx.config.caches.entryBytes),
  }
}

export async function restoreCache(
  ctx: Context,
  job: CachingJob,
  platform: string,
): Promise<StepCacheRestoreResponse> {
  const { address, branchesToRead: branches, mostBytes } = await getStepCache(ctx, job, platform)
  const reason = await reasonNotToSave(ctx, job)
  const save: StepCacheRestoreResponse['save'] =
    reason === null ? { allowed: true, most_bytes: mostBytes } : { allowed: false, reason }
  const found = await caches.findOfBranches(ctx.db, job.organizationId, address, branches)
  if (found === undefined) return { cache: null, save }
  const blobs = await caches.listBlobs(ctx.db, job.organizationId, found.id)
  const [manifest, ...rest] = await Promise.all(blobs.map((blob) => presentBlob(ctx, blob)))
  // A cache that was deleted meanwhile has no blobs.
  if (manifest === undefined) return { cache: null, save }
  await caches.noteUse(ctx.db, job.organizationId, found.id, ctx.now().toISOString())
  const { branch, saved_at } = found
  return { cache: { branch, saved_at, manifest, blobs: rest }, save }
}

const presentBlob = async (ctx: Context, blob: caches.BlobRow): Promise<StoredCacheBlob> => ({
  digest: blob.digest,
  size: blob.size_bytes,
  stored_size: blob.stored_bytes,
  url: await readUrl(ctx, blob.blob_key),
})

/** Builds of forks never save, trusted or not: anybody can write these, and other builds read the cache. */
export async function reasonNotToSave(ctx: Context, job: CachingJob): Promise<string | null> {
  if (ctx.config.caches.entryBytes === 0) return 'this server keeps no caches'
  const { isFork } = await originsOf(ctx.db, job.organizationId, job.buildId)
  return isFork ? 'builds of pull requests from forks read the cache and never write it' : null
}
