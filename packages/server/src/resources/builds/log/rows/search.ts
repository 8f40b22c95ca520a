// Searches the text of a log's rows, in a thread, for at most ten seconds. A search is many short tasks, so that others get
// their turn in between, and that it ends soon after its client has left.
import type { Context } from '../../../../context.ts'
import { badRequest } from '../../../../lib/errors.ts'
import { compiledModule } from '../../../../lib/package-files.ts'
import { ThreadLimitExceeded } from '../../../../lib/thread.ts'
import type { Place } from '../../../../lib/threads.ts'
import type { StoredRows } from '../queries.ts'
import type { Log } from '../source.ts'
import { makeRowsOnce, readAllBlocks } from './rows-object.ts'
import type { Found, Limits, Query, searchBlocks, searchSegment } from './search-tasks.ts'
import { replaySegments } from './segments.ts'

interface SearchResult {
  total: number
  /** False: the search took too long, and later rows were not searched. */
  isComplete: boolean
  /** Rows that were searched, from the first one. */
  searchedRows: number
  /** Row, start and end of each match; the first ones. */
  matches: Array<[row: number, start: number, end: number]>
}

const mostMatches = 10_000
const mostMs = 10_000
const taskMs = 500
/** For what a task cannot interrupt itself, such as reading the expression or one very long row. */
const slackMs = 5_000

/** null: the log was deleted meanwhile. */
export async function searchLog(
  ctx: Context,
  { orgId, jobId, log }: { orgId: string; jobId: string; log: Log },
  query: Query,
  place: Place,
): Promise<SearchResult | null> {
  const search = new Search(query)
  if (log.compacted === null) await searchGrowing(search, log, place)
  else {
    const stored = log.compacted.rows ?? (await makeRowsOnce(ctx, orgId, jobId, log))
    if (stored === null) return null
    await searchStored(search, ctx, stored, place)
  }
  return search.result
}

async function searchGrowing(search: Search, log: Log, place: Place): Promise<void> {
  const segments = replaySegments(log, null, (segment) =>
    search.runTasks((limits) =>
      runTask<typeof searchSegment>(place, 'searchSegment', { ...limits, segment }),
    ),
  )
  for await (const _ of segments) if (search.isOver) return
}

async function searchStored(search: Search, ctx: Context, stored: StoredRows, place: Place): Promise<void> {
  for await (const blocks of readAllBlocks(ctx, stored)) {
    await search.runTasks((limits) =>
      runTask<typeof searchBlocks>(place, 'searchBlocks', { ...limits, blocks }),
    )
    if (search.isOver) return
  }
}

class Search {
  readonly result: SearchResult = { total: 0, isComplete: true, searchedRows: 0, matches: [] }
  private readonly query: Query
  private leftMs = mostMs

  constructor(query: Query) {
    this.query = query
  }

  get isOver(): boolean {
    return !this.result.isComplete
  }

  /** Runs tasks on the same rows, each from where the last one stopped. Returns what the last one found. */
  async runTasks<Result extends Found>(task: (limits: Limits) => Promise<Result>): Promise<Result> {
    const { query, result } = this
    for (let from = 1; ;) {
      const room = mostMatches - result.matches.length
      const found = await task({ query, room, from, mostMs: Math.min(this.leftMs, taskMs) })
      result.total += found.total
      result.matches.push(...found.matches)
      result.searchedRows = Math.max(result.searchedRows, found.lastRow)
      this.leftMs -= found.usedMs
      if (found.next === null) return found
      if (this.leftMs <= 0) {
        result.isComplete = false
        return found
      }
      from = found.next
    }
  }
}

async function runTask<Work extends (input: never) => unknown>(
  place: Place,
  name: string,
  input: Parameters<Work>[0],
): Promise<Awaited<ReturnType<Work>>> {
  const module = compiledModule('resources/builds/log/rows/search-tasks.ts')
  return place.run<Work>(module, name, input, taskMs + slackMs).catch((error: unknown) => {
    if (error instanceof ThreadLimitExceeded) throw badRequest('This regular expression takes too long.')
    throw error
  })
}
