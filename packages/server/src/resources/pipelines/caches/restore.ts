// Finds the cache of a job's step, or one that a command of the job names, and the URLs of its blobs.
import type {
  StepCacheRestoreRequest,
  StepCacheRestoreResponse,
  StoredCacheBlob,
} from '@millrace/protocol/step-caches.ts'
import { originsOf } from '../../../conductor/trust.ts'
import type { Context } from '../../../context.ts'
import { notFound, refused } from '../../../lib/errors.ts'
import { countUse } from '../cache_uses/queries.ts'
import * as caches from './queries.ts'
import { branchesToRead, defaultSizeGb, hashPaths, mostCacheBytes, sortedPaths } from './rules.ts'
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

interface Asked {
  platform: string
  key?: string | null | undefined
  paths?: string[] | null | undefined
}

/** The key of a command takes the place of the step's name. */
export async function getStepCache(ctx: Context, job: CachingJob, asked: Asked): Promise<StepCache> {
  const { platform } = asked
  const step = await caches.findStep(ctx.db, job.organizationId, job.id)
  const cache = askedCache(asked) ?? step?.cache
  if (step === undefined || !cache) throw notFound('The step of this job has no cache')
  const { name, paths, sizeGb } = cache
  return {
    address: { pipelineId: job.pipelineId, name: name ?? step.slug, platform, pathsHash: hashPaths(paths) },
    paths: sortedPaths(paths),
    branch: step.branch,
    branchesToRead: branchesToRead(step),
    mostBytes: mostCacheBytes(sizeGb, ctx.config.caches.entryBytes),
  }
}

function askedCache({ key, paths }: Asked): { name: string; paths: string[]; sizeGb: number } | null {
  if (!key && !paths) return null
  if (!key || !paths) throw refused('A cache with a key has paths, and one with paths has a key.')
  return { name: key, paths, sizeGb: defaultSizeGb }
}

export async function restoreCache(
  ctx: Context,
  job: CachingJob,
  asked: StepCacheRestoreRequest,
): Promise<StepCacheRestoreResponse> {
  const { address, branch, branchesToRead: branches, mostBytes } = await getStepCache(ctx, job, asked)
  const reason = await reasonNotToSave(ctx, job)
  const save: StepCacheRestoreResponse['save'] =
    reason === null ? { allowed: true, most_bytes: mostBytes } : { allowed: false, reason }
  const found =
    (await caches.findOfBranches(ctx.db, job.organizationId, address, branches)) ??
    (await findByPrefix(ctx, job, address, branches, asked.restore_keys ?? []))
  await countUse(ctx.db, job.organizationId, job.pipelineId, { isHit: found !== undefined, at: ctx.now() })
  if (found === undefined) return { branch, cache: null, save }
  const blobs = await caches.listBlobs(ctx.db, job.organizationId, found.id)
  const [manifest, ...rest] = await Promise.all(blobs.map((blob) => presentBlob(ctx, blob)))
  // A cache that was deleted meanwhile has no blobs.
  if (manifest === undefined) return { branch, cache: null, save }
  await caches.noteUse(ctx.db, job.organizationId, found.id, ctx.now().toISOString())
  const { name: key, saved_at } = found
  return { branch, cache: { key, branch: found.branch, saved_at, manifest, blobs: rest }, save }
}

/** Earlier prefixes come first, whatever branch has them. */
async function findByPrefix(
  ctx: Context,
  job: CachingJob,
  address: caches.CacheAddress,
  branches: readonly string[],
  prefixes: readonly string[],
): Promise<caches.CacheRow | undefined> {
  for (const prefix of prefixes) {
    const found = await caches.findByPrefix(ctx.db, job.organizationId, address, { branches, prefix })
    if (found !== undefined) return found
  }
  return undefined
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
