// The index of caches that jobs of a cluster share. Agents keep the bytes themselves, in a store of the operator's
// choice, under the digest that stands here.
import { Type } from 'typebox'
import type {
  CacheCommitResponse,
  CachePeekResponse,
  CacheRegistryResponse,
  CacheRetrieveResponse,
  CacheStoreResponse,
} from '@millrace/protocol/caches.ts'
import { ok } from '../http/answer.ts'
import * as caches from './cache-entries.ts'
import { agentRoute, done, maybe } from './route.ts'

const store = 'agent_managed'

const Lookup = {
  target_paths: Type.Array(Type.String({ maxLength: 4096 }), { minItems: 1, maxItems: 500 }),
  cache_key: Type.Array(Type.Object({ value: Type.String({ maxLength: 4096 }), mandatory: Type.Boolean() }), {
    minItems: 1,
    maxItems: 100,
  }),
}

const Blob = Type.Object({
  digest: Type.Object({
    algorithm: Type.Literal('sha256'),
    value: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'must be 64 hexadecimal digits' }),
  }),
  file_size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  compression: Type.Union([Type.Literal('zstd'), Type.Literal('zip')]),
})

const getRegistry = agentRoute({
  method: 'GET',
  url: '/v3/cache_registries/:registry',
  token: 'job',
  forks: 'reads_shared',
  async handler({ ctx, job, params }) {
    const { id, name } = await caches.getRegistry(ctx, job, params['registry'])
    const answer: CacheRegistryResponse = { uuid: id, name, store }
    return ok(answer)
  },
})

const peek = agentRoute({
  method: 'POST',
  url: '/v3/cache_registries/:registry/peek',
  token: 'job',
  forks: 'reads_shared',
  body: Type.Object(Lookup),
  async handler({ ctx, job, params, body }) {
    const registry = await caches.getRegistry(ctx, job, params['registry'])
    const { target_paths, cache_key, blobs } = await caches.getExact(ctx, registry, body)
    const answer: CachePeekResponse = { target_paths, cache_key, blobs, store, message: 'Cache entry found' }
    return ok(answer)
  },
})

const retrieve = agentRoute({
  method: 'POST',
  url: '/v3/cache_registries/:registry/retrieve',
  token: 'job',
  forks: 'reads_shared',
  body: Type.Object(Lookup),
  async handler({ ctx, job, params, body }) {
    const registry = await caches.getRegistry(ctx, job, params['registry'])
    const { isExact, ...entry } = await caches.getClosest(ctx, registry, body)
    const answer: CacheRetrieveResponse = {
      ...entry,
      store,
      fallback: !isExact,
      multipart: false,
      download_instructions: [],
      message: 'Cache entry found',
    }
    return ok(answer)
  },
})

const storeEntry = agentRoute({
  method: 'PUT',
  url: '/v3/cache_registries/:registry/store',
  token: 'job',
  forks: { refused: 'entries of their own in shared caches' },
  body: Type.Object({
    ...Lookup,
    blobs: Type.Array(Blob, { minItems: 1, maxItems: 1000 }),
    platform: Type.String({ maxLength: 255 }),
  }),
  async handler({ ctx, job, params, body }) {
    const registry = await caches.getRegistry(ctx, job, params['registry'])
    const answer: CacheStoreResponse = {
      upload_id: await caches.announce(ctx, registry, body),
      multipart: false,
      upload_instructions: [],
      message: 'Commit the entry when its bytes are in the store',
    }
    return ok(answer)
  },
})

const commit = agentRoute({
  method: 'PUT',
  url: '/v3/cache_registries/:registry/commit',
  token: 'job',
  forks: { refused: 'entries of their own in shared caches' },
  body: Type.Object({
    upload_id: Type.String({ maxLength: 255 }),
    e_tags: maybe(Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 10_000 })),
  }),
  async handler({ ctx, job, params, body }) {
    await caches.commit(ctx, await caches.getRegistry(ctx, job, params['registry']), body.upload_id)
    const answer: CacheCommitResponse = { message: 'Cache entry committed' }
    return ok(answer)
  },
})

const expire = agentRoute({
  method: 'POST',
  url: '/v3/cache_registries/:registry/expire',
  token: 'job',
  forks: { refused: 'say over shared caches' },
  body: Type.Object(Lookup),
  async handler({ ctx, job, params, body }) {
    await caches.expire(ctx, await caches.getRegistry(ctx, job, params['registry']), body)
    return done()
  },
})

export const cacheRegistryApi = [getRegistry, peek, retrieve, storeEntry, commit, expire]
