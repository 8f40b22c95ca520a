// Entries of a cache registry. The bytes travel elsewhere; this is their index.
import { Type, type Static } from 'typebox'
import { maybe } from './maybe.ts'

export const CacheKeyPart = Type.Object({
  value: Type.String({ maxLength: 4096 }),
  mandatory: Type.Boolean(),
})
export type CacheKeyPart = Static<typeof CacheKeyPart>

export const CacheBlob = Type.Object({
  digest: Type.Object({
    algorithm: Type.Literal('sha256'),
    value: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'must be 64 hexadecimal digits' }),
  }),
  file_size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  compression: Type.Union([Type.Literal('zstd'), Type.Literal('zip')]),
})
export type CacheBlob = Static<typeof CacheBlob>

const lookup = {
  target_paths: Type.Array(Type.String({ maxLength: 4096 }), { minItems: 1, maxItems: 500 }),
  cache_key: Type.Array(CacheKeyPart, { minItems: 1, maxItems: 100 }),
}

export const CacheLookupRequest = Type.Object(lookup)
export type CacheLookupRequest = Static<typeof CacheLookupRequest>

export const CacheRegistryResponse = Type.Object({
  uuid: Type.String(),
  name: Type.String(),
  store: Type.Union([Type.Literal('agent_managed'), Type.Literal('local_file')]),
})
export type CacheRegistryResponse = Static<typeof CacheRegistryResponse>

const found = { ...lookup, blobs: Type.Array(CacheBlob), store: Type.String(), message: Type.String() }

export const CachePeekResponse = Type.Object(found)
export type CachePeekResponse = Static<typeof CachePeekResponse>

export const CacheRetrieveResponse = Type.Object({
  ...found,
  expires_at: Type.String(),
  fallback: Type.Boolean(),
  multipart: Type.Boolean(),
  download_instructions: Type.Array(Type.Unknown()),
})
export type CacheRetrieveResponse = Static<typeof CacheRetrieveResponse>

export const CacheStoreRequest = Type.Object({
  ...lookup,
  blobs: Type.Array(CacheBlob, { minItems: 1, maxItems: 1000 }),
  platform: Type.String({ maxLength: 255 }),
})
export type CacheStoreRequest = Static<typeof CacheStoreRequest>

export const CacheStoreResponse = Type.Object({
  upload_id: Type.String(),
  multipart: Type.Boolean(),
  upload_instructions: Type.Array(Type.Unknown()),
  message: Type.String(),
})
export type CacheStoreResponse = Static<typeof CacheStoreResponse>

export const CacheCommitRequest = Type.Object({
  upload_id: Type.String({ maxLength: 255 }),
  e_tags: maybe(Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 10_000 })),
})

export const CacheCommitResponse = Type.Object({ message: Type.String() })
export type CacheCommitResponse = Static<typeof CacheCommitResponse>
