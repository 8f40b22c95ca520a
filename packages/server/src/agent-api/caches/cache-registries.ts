// The index of caches that jobs of a cluster share. Agents store the bytes themselves, in a store of the operator's
// choice, under the digest of the entry.
import {
  CacheCommitRequest,
  CacheLookupRequest,
  CacheStoreRequest,
  type CacheCommitResponse,
  type CachePeekResponse,
  type CacheRegistryResponse,
  type CacheRetrieveResponse,
  type CacheStoreResponse,
} from '@millrace/protocol/caches.ts'
import { ok } from '../../http/answer.ts'
import * as caches from './cache-entries.ts'
import { agentRoute, done } from '../route.ts'

const store = 'agent_managed'

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
  body: CacheLookupRequest,
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
  body: CacheLookupRequest,
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
  body: CacheStoreRequest,
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
  body: CacheCommitRequest,
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
  body: CacheLookupRequest,
  async handler({ ctx, job, params, body }) {
    await caches.expire(ctx, await caches.getRegistry(ctx, job, params['registry']), body)
    return done()
  },
})

export const cacheRegistryApi = [getRegistry, peek, retrieve, storeEntry, commit, expire]
