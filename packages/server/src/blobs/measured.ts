// A store whose requests are timed and counted.
import { ApiError } from '../lib/errors.ts'
import { timed, type Metrics } from '../lib/metrics.ts'
import type { BlobStore } from './store.ts'

export function measureBlobs(store: BlobStore, { blobRequests }: Pick<Metrics, 'blobRequests'>): BlobStore {
  const measure = <T>(operation: string, run: () => Promise<T>): Promise<T> =>
    timed(blobRequests, { operation }, run, resultOf)
  return {
    put: (key, body, size) => measure('put', () => store.put(key, body, size)),
    get: (key, range) => measure('get', () => store.get(key, range)),
    head: (key) => measure('head', () => store.head(key)),
    delete: (key) => measure('delete', () => store.delete(key)),
    startParts: (key) => measure('start_parts', () => store.startParts(key)),
    putPart: (key, uploadId, part, body, size) =>
      measure('put_part', () => store.putPart(key, uploadId, part, body, size)),
    completeParts: (key, uploadId, parts) =>
      measure('complete_parts', () => store.completeParts(key, uploadId, parts)),
    abortParts: (key, uploadId) => measure('abort_parts', () => store.abortParts(key, uploadId)),
    direct: store.direct,
    tidy: (olderThan) => measure('tidy', () => store.tidy(olderThan)),
  }
}

/** Only a failure of the store is one; a body that ends early or is too long is the sender's. */
const resultOf = (error: unknown): string =>
  error instanceof ApiError && error.status === 503 ? 'failed' : 'aborted'
