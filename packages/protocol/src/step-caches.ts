// The cache of a job's step, which the server keeps. The server knows the step's paths and the cache's name, unless a command of the
// job gives a key and paths of its own; the agent sends and receives blobs. Only agents of this project make these calls.
import { Type, type Static } from 'typebox'
import { maybe } from './maybe.ts'

const Digest = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'must be 64 hexadecimal digits' })

/** The largest blob before compression. Only a manifest may be so large; other blobs are cut smaller. */
const mostBlobBytes = 64 * 1024 * 1024
const mostCacheBlobs = 20_000

const blob = {
  digest: Digest,
  size: Type.Integer({ minimum: 0, maximum: mostBlobBytes }),
}

const Platform = Type.String({ minLength: 1, maxLength: 100 })

const Key = Type.String({ minLength: 1, maxLength: 250, pattern: '^[^\\x00-\\x1f\\x7f]+$' })
const Paths = Type.Array(Type.String({ minLength: 1, maxLength: 1000, pattern: '^[^\\x00]+$' }), {
  minItems: 1,
  maxItems: 100,
})

/** With it the cache is not the step's: it is found by the key and the paths. */
const keyed = { key: maybe(Key), paths: maybe(Paths) }

/** The newest cache whose key begins with one of `restore_keys` is taken when none has the key. */
export const StepCacheRestoreRequest = Type.Object({
  platform: Platform,
  ...keyed,
  restore_keys: maybe(Type.Array(Key, { maxItems: 20 })),
})
export type StepCacheRestoreRequest = Static<typeof StepCacheRestoreRequest>

/** `url` is absolute, or relative to the agent's endpoint. */
const StoredCacheBlob = Type.Object({
  digest: Type.String({ description: 'SHA-256 of the contents before compression' }),
  size: Type.Integer(),
  stored_size: Type.Integer(),
  url: Type.String(),
})
export type StoredCacheBlob = Static<typeof StoredCacheBlob>

const StoredStepCache = Type.Object({
  /** Servers before this field know no keys. */
  key: Type.Optional(Type.String()),
  branch: Type.String(),
  saved_at: Type.String(),
  manifest: StoredCacheBlob,
  blobs: Type.Array(StoredCacheBlob),
})
export type StoredStepCache = Static<typeof StoredStepCache>

/**
 * `cache` is null if there is none. `save` says whether this job may save the cache, and why not. `branch` is that of the job;
 * servers without it know no keys.
 */
export const StepCacheRestoreResponse = Type.Object({
  branch: Type.Optional(Type.String()),
  cache: Type.Union([StoredStepCache, Type.Null()]),
  save: Type.Union([
    Type.Object({ allowed: Type.Literal(true), most_bytes: Type.Integer() }),
    Type.Object({ allowed: Type.Literal(false), reason: Type.String() }),
  ]),
})
export type StepCacheRestoreResponse = Static<typeof StepCacheRestoreResponse>

export const StepCacheUploadsRequest = Type.Object({
  blobs: Type.Array(Type.Object(blob), { minItems: 1, maxItems: mostCacheBlobs }),
})
export type StepCacheUploadsRequest = Static<typeof StepCacheUploadsRequest>

/** Only for blobs that the server does not have. */
export const StepCacheUploadsResponse = Type.Object({
  uploads: Type.Array(Type.Object({ digest: Type.String(), upload_id: Type.String(), url: Type.String() })),
})
export type StepCacheUploadsResponse = Static<typeof StepCacheUploadsResponse>

const SentBlob = Type.Object({ ...blob, upload_id: maybe(Type.String({ format: 'uuid' })) })

export const StepCacheSaveRequest = Type.Object({
  platform: Platform,
  ...keyed,
  manifest: SentBlob,
  blobs: Type.Array(SentBlob, { maxItems: mostCacheBlobs }),
  file_count: Type.Integer({ minimum: 0, maximum: 100_000_000 }),
})
export type StepCacheSaveRequest = Static<typeof StepCacheSaveRequest>

export const StepCacheSaveResponse = Type.Object({ stored_bytes: Type.Integer() })
export type StepCacheSaveResponse = Static<typeof StepCacheSaveResponse>

export const StepCacheDamageRequest = Type.Object({ digest: Digest })
export type StepCacheDamageRequest = Static<typeof StepCacheDamageRequest>
