// Runs a search to its limits, and says how far it came. A source reads newest first, and yields after every short piece of work.
import type { Context } from '../../../context.ts'
import { badRequest } from '../../../lib/errors.ts'
import { compiledModule } from '../../../lib/package-files.ts'
import { ThreadLimitExceeded } from '../../../lib/thread.ts'
import type { Place } from '../../../lib/threads.ts'
import type { Query } from '../log/rows/search-tasks.ts'
import type { FoundRow, searchTexts } from './line-tasks.ts'
import type { BuildPosition, FoundSource, JobOfHit, Scope } from './queries.ts'
import type { LogSearchProgress } from './schema.ts'

export interface Hit {
  job: JobOfHit
  line: FoundRow
  /** null: the log of the job. */
  source: FoundSource | null
}

export interface Found {
  hits: Hit[]
  /** Logs that are done with since the last time. */
  searched: number
  /** The search may go on after this. */
  after: BuildPosition | null
}

export interface Source {
  /** The logs that the filters leave, up to `most`. */
  count(after: BuildPosition | null, most: number): Promise<number>
  /** Ends when nothing is left. `room`: how many hits are still wanted. */
  search(after: BuildPosition | null, room: () => number): AsyncGenerator<Found>
}

export interface Searching {
  ctx: Context
  query: Query
  place: Place
  /** What the bits of every matching log's sketch are made of. */
  needles: readonly string[]
  /** Whose search it is, as of now. null: the caller may search no longer. */
  scope: () => Promise<Scope | null>
}

export type SearchEvent =
  | { kind: 'hit'; hit: Hit }
  | { kind: 'progress'; progress: LogSearchProgress }
  /** null: nothing is left. */
  | { kind: 'end'; progress: LogSearchProgress; after: BuildPosition | null }

interface Limits {
  after: BuildPosition | null
  hits: number
  mostMs: number
}

/** Of a request for JSON. */
export const answerMs = 10_000
/** Of a stream. */
export const streamMs = 120_000

const mostCounted = 10_000
const progressEveryMs = 250

export async function* runSearch(
  source: Source,
  { after, hits, mostMs }: Limits,
): AsyncGenerator<SearchEvent> {
  const startMs = performance.now()
  const counted = await source.count(after, mostCounted + 1)
  const isExact = counted <= mostCounted
  let [searched, left, seen] = [0, hits, after]
  let saidMs = startMs
  const progress = (): LogSearchProgress => ({
    searched,
    total: Math.max(Math.min(counted, mostCounted), searched),
    is_total_exact: isExact,
  })
  yield { kind: 'progress', progress: progress() }
  for await (const found of source.search(after, () => left)) {
    searched += found.searched
    seen = found.after
    left -= found.hits.length
    for (const hit of found.hits) yield { kind: 'hit', hit }
    const nowMs = performance.now()
    if (left <= 0 || nowMs - startMs > mostMs) return yield { kind: 'end', progress: progress(), after: seen }
    if (nowMs - saidMs < progressEveryMs) continue
    saidMs = nowMs
    yield { kind: 'progress', progress: progress() }
  }
  if (isExact) searched = counted
  yield { kind: 'end', progress: progress(), after: null }
}

const mostCpuMs = 2000
const taskModule = compiledModule('resources/builds/log-search/line-tasks.ts')

export const runLineTask = <Work extends (input: never) => unknown>(
  place: Place,
  name: string,
  input: Parameters<Work>[0],
): Promise<Awaited<ReturnType<Work>>> => place.run<Work>(taskModule, name, input, mostCpuMs)

/** Throws the caller's error if the query is no expression, or one that takes too long to read. */
export async function checkQuery(query: Query, place: Place): Promise<void> {
  await runLineTask<typeof searchTexts>(place, 'searchTexts', { query, texts: [], most: 1 }).catch(
    (error: unknown) => {
      if (error instanceof ThreadLimitExceeded) throw badRequest('This regular expression takes too long.')
      throw error
    },
  )
}
