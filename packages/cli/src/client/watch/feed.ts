// The changes of a build, live and without gaps. A graph has a cursor; the event stream continues there, and again after every
// break. If the server refuses the stream, the graph is polled.
import { setTimeout as pause } from 'node:timers/promises'
import type { Api } from '../api.ts'
import { isRefusal, Reconnecting } from '../event-stream.ts'
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
  { signal, patienceMs, pollMs = 2000, isOver = ({ build }) => hasEnded(build) }: FeedOptions,
): Promise<WatchedBuild | null> {
  const server = new Reconnecting({ signal, patienceMs, onProblem: (text) => listener.onProblem(text) })
  let watched: WatchedBuild | null = null
  let mayStream = true
  while (!signal.aborted) {
    const graph = await server.request(() => api.get<Graph>(`${path}/graph`))
    if (graph === null) break
    if (watched === null) {
      watched = new WatchedBuild(graph)
      listener.onOpen(watched)
    }
    listener.onChanges(watched, watched.load(graph))
    if (isOver(watched)) break
    if (!mayStream) {
      await pause(pollMs, undefined, { signal }).catch(() => {})
      continue
    }
    try {
      for await (const changes of listChanges(server, api, graph, signal)) {
        listener.onChanges(watched, watched.apply(changes))
        if (isOver(watched)) return watched
      }
    } catch (error) {
      if (!isRefusal(error)) throw error
      // A cursor can become too old. Without the stream, the graph is polled.
      mayStream = error.status === 400
    }
  }
  return watched
}

/** The changes after a graph. Ends when the graph has to be read again. */
async function* listChanges(
  server: Reconnecting,
  api: Api,
  { build, cursor: first }: Graph,
  signal: AbortSignal,
): AsyncGenerator<Changes> {
  let cursor = first
  const open = () => {
    const query = `after=${encodeURIComponent(cursor)}&build=${build.id}`
    return api.stream(`events?${query}`, { headers: { Accept: 'text/event-stream' }, signal })
  }
  for await (const { id, event, data } of server.events(open)) {
    if (event === 'reset') return
    if (event !== 'changes') continue
    cursor = id ?? cursor
    const changes = JSON.parse(data) as Changes
    yield changes
    if (changes.graphs?.includes(build.id)) return
  }
}
