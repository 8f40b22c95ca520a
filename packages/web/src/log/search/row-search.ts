// Searches rows in a Worker. An expression may take very long, so a search that exceeds its time is ended with its Worker.
import { startWorker } from '../../parts/trusted-types.ts'
import type { Row } from '../model/rows.ts'
import type { Match, Query } from './search.ts'
import workerUrl from './search-worker.ts?worker&url'

const mostMs = 2000

export interface SearchRequest {
  id: number
  query: Query
  rows: ReadonlyArray<readonly [number, string]>
}

export interface SearchResponse {
  id: number
  matches: Match[]
}

export class RowSearch {
  #worker: Worker | null = null
  #last = 0

  /** Finds nothing when the expression is invalid or takes too long: the server's answer tells. */
  find(query: Query, rows: Iterable<readonly [number, Row]>): Promise<Match[]> {
    const worker = (this.#worker ??= startWorker(workerUrl))
    const id = ++this.#last
    const request: SearchRequest = {
      id,
      query,
      rows: Array.from(rows, ([number, { text }]) => [number, text]),
    }
    return new Promise((resolve) => {
      const finish = (matches: Match[]) => {
        clearTimeout(timer)
        worker.removeEventListener('message', onMessage)
        resolve(matches)
      }
      const onMessage = ({ data }: MessageEvent<SearchResponse>) => {
        if (data.id === id) finish(data.matches)
      }
      const timer = setTimeout(() => {
        this.close()
        finish([])
      }, mostMs)
      worker.addEventListener('message', onMessage)
      worker.postMessage(request)
    })
  }

  close(): void {
    this.#worker?.terminate()
    this.#worker = null
  }
}
