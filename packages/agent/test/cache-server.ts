// Answers the cache requests of agents from memory.

import { randomUUID } from 'node:crypto'
import type {
  StepCacheRestoreRequest,
  StepCacheSaveRequest,
  StoredCacheBlob,
} from '@millrace/protocol/step-caches.ts'
import type { Counterpart } from './counterpart.ts'

export interface CacheServer {
  /** Stored blobs by digest. */
  blobs: Map<string, Buffer>
  /** The saved cache; null: none. */
  saved: StepCacheSaveRequest | null
  /** Those with a key, by key. */
  keyed: Map<string, StepCacheSaveRequest>
  /** Digests that were sent, in this order. */
  sent: string[]
  damaged: string[]
  mostBytes: number
  /** Why the job may not save; null: it may. */
  refusal: string | null
}

export function serveCaches(server: Counterpart): CacheServer {
  const state: CacheServer = {
    blobs: new Map(),
    saved: null,
    keyed: new Map(),
    sent: [],
    damaged: [],
    mostBytes: 1e9,
    refusal: null,
  }
  const uploads = new Map<string, string>()
  const read = (body: Buffer) => JSON.parse(body.toString()) as unknown
  const stored = ({ digest, size }: { digest: string; size: number }): StoredCacheBlob => ({
    digest,
    size,
    stored_size: state.blobs.get(digest)?.length ?? 0,
    url: `caches/${digest}`,
  })
  const find = ({ key, restore_keys: prefixes }: StepCacheRestoreRequest): StepCacheSaveRequest | null => {
    if (!key) return state.saved
    const begins = (prefix: string) => [...state.keyed.keys()].findLast((name) => name.startsWith(prefix))
    const name = state.keyed.has(key) ? key : (prefixes ?? []).map(begins).find((one) => one !== undefined)
    return state.keyed.get(name ?? '') ?? null
  }
  server.answer(/^POST \/v3\/jobs\/[^/]+\/cache\/restore/, ({ body }) => {
    const found = find(read(body) as StepCacheRestoreRequest)
    return {
      status: 200,
      body: {
        branch: 'main',
        cache:
          found === null
            ? null
            : {
                key: found.key ?? 'demo',
                branch: 'main',
                saved_at: '2026-01-02T03:04:05.000Z',
                manifest: stored(found.manifest),
                blobs: found.blobs.map(stored),
              },
        save:
          state.refusal === null
            ? { allowed: true, most_bytes: state.mostBytes }
            : { allowed: false, reason: state.refusal },
      },
    }
  })
  server.answer(/^POST \/v3\/jobs\/[^/]+\/cache\/uploads/, ({ body }) => {
    const { blobs } = read(body) as { blobs: Array<{ digest: string }> }
    const missing = blobs.filter(({ digest }) => !state.blobs.has(digest))
    return {
      status: 200,
      body: {
        uploads: missing.map(({ digest }) => {
          const id = randomUUID()
          uploads.set(id, digest)
          return { digest, upload_id: id, url: `caches/${id}` }
        }),
      },
    }
  })
  server.answer(/^PUT \/v3\/caches\//, ({ path, body }) => {
    const digest = uploads.get(path.split('/').at(-1) ?? '') ?? ''
    state.blobs.set(digest, Buffer.from(body))
    state.sent.push(digest)
    return { status: 200, body: {} }
  })
  server.answer(/^GET \/v3\/caches\//, ({ path }, response) => {
    const bytes = state.blobs.get(path.split('/').at(-1) ?? '')
    if (bytes === undefined) return { status: 404, body: { message: 'No blob found' } }
    response.writeHead(200, { 'Content-Type': 'application/octet-stream' })
    response.end(bytes)
    return null
  })
  server.answer(/^PUT \/v3\/jobs\/[^/]+\/cache$/, ({ body }) => {
    const saved = read(body) as StepCacheSaveRequest
    if (saved.key) state.keyed.set(saved.key, saved)
    else state.saved = saved
    return { status: 200, body: { stored_bytes: 1 } }
  })
  server.answer(/^POST \/v3\/jobs\/[^/]+\/cache\/damage/, ({ body }) => {
    state.damaged.push((read(body) as { digest: string }).digest)
    return { status: 200, body: {} }
  })
  return state
}
