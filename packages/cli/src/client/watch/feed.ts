// The changes of a build, live and without gaps. A graph has a cursor; the event stream continues there, and again after every
// break. If the server refuses the stream, the graph is polled.
import { setTimeout as pause } from 'node:timers/promises'
import type { Api } from '../api.ts'
import { RefusedByServer } from '../failures.ts'
import { readServerEvents } from './server-events.ts'
import { hasEnded, type Graph } from './graph.ts'
import { WatchedBuild, type Change, type Changes } from './model.ts'

interface FeedListener {
  /** Called once, before all changes. */
  onOpen(watched: WatchedBuild): void
  onChanges(watched: WatchedBuild, changes: readonly Change[]): void
  /** null: the connection is back. */
  onProblem(problem: string | null): void
}

export interface FeedOptions {
  signal: AbortSignal
  /** How long the server may be away. */
  patienceMs?: number
  pollMs?: number
  /** Whether this is all that the caller wants to see. */
  isOver?(watched: WatchedBuild): boolean
}

/** Resolves when the build has ended, or with the signal. `path` is of the build. Throws if the build cannot be watched. */
export async function followBuild(
  api: Api,
  path: string,
  listener: FeedListener,
  { signal, patienceMs = 300_000, pollMs = 2000, isOver = ({ build }) => hasEnded(build) }: FeedOptions,
): Promise<WatchedBuild | null> {
  let watched: WatchedBuild | null = null
  let cursor: string | null = null
  let mayStream = true
  let failures = 0
  let emptyStreams = 0
  let lastSeenAt = Date.now()
  let hasProblem = false
  const seen = (): void => {
    failures = 0
    lastSeenAt = Date.now()
    if (hasProblem) listener.onProblem(null)
    hasProblem = false
  }
  while (!signal.aborted) {
    try {
      if (cursor === null) {
        const graph: Graph = await api.get<Graph>(`${path}/graph`)
        seen()
        cursor = graph.cursor
        if (watched === null) {
          watched = new WatchedBuild(graph)
          listener.onOpen(watched)
        }
        listener.onChanges(watched, watched.load(graph))
        if (isOver(watched)) return watched
      }
      if (watched === null) continue
      if (!mayStream) {
        cursor = null
        await pause(pollMs, undefined, { signal })
        continue
      }
      const query: string = `after=${encodeURIComponent(cursor)}&build=${watched.build.id}`
      const headers = { Accept: 'text/event-stream' }
      const response = await api.stream(`events?${query}`, { headers, signal })
      seen()
      emptyStreams += 1
      for await (const { id, event, data } of readServerEvents(response)) {
        seen()
        emptyStreams = 0
        if (event === 'reset') {
          cursor = null
          break
        }
        if (event !== 'changes') continue
        const changes = JSON.parse(data) as Changes
        if (id !== '') cursor = id
        listener.onChanges(watched, watched.apply(changes))
        if (isOver(watched)) return watched
        if (changes.graphs?.includes(watched.build.id)) {
          cursor = null
          break
        }
      }
      // Something on the way ends the streams at once.
      if (emptyStreams > 1) await pause(Math.min(100 * 2 ** emptyStreams, 5000), undefined, { signal })
    } catch (error) {
      if (signal.aborted) break
      if (error instanceof RefusedByServer && error.status < 500 && error.status !== 429) {
        // Without the build, nothing can be watched. Without the stream, it is polled. A cursor can become too old.
        if (cursor === null || !mayStream) throw error
        mayStream = error.status === 400
        cursor = null
        continue
      }
      if (watched === null || Date.now() - lastSeenAt > patienceMs) throw error
      failures += 1
      hasProblem = true
      const reason = error instanceof Error ? error.message : String(error)
      listener.onProblem(`The connection is lost, trying again. ${reason}`)
      await pause(Math.min(200 * 2 ** failures, 5000), undefined, { signal }).catch(() => {})
    }
  }
  return watched
}
