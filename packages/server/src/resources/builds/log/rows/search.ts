// Searches the text of a log's rows, in a thread, for at most ten seconds.
import type { Context } from '../../../../context.ts'
import { badRequest } from '../../../../lib/errors.ts'
import { compiledModule } from '../../../../lib/package-files.ts'
import { Semaphore } from '../../../../lib/semaphore.ts'
import { runInThread, ThreadLimitExceeded } from '../../../../lib/threads.ts'
import { readAllBlocks } from './rows-object.ts'
import type { Found, Query, searchBlocks, searchSegment } from './search-tasks.ts'
import { replaySegments } from './segments.ts'
import type { StoredRows } from '../queries.ts'
import type { Log } from '../source.ts'

export interface SearchResult {
  total: number
  /** False: the search took too long, and later rows were not searched. */
  isComplete: boolean
  /** Row, start and end of each match; the first ones. */
  matches: Array<[row: number, start: number, end: number]>
}

const mostMatches = 10_000
const mostMs = 10_000
/** For what a thread cannot interrupt itself, such as reading the expression. */
const slackMs = 5_000

/** One search at a time, so that another thread stays free. */
const searches = new Semaphore(1)

interface Progress {
  query: Query
  room: number
  leftMs: number
}

export const searchGrowing = (log: Log, query: Query): Promise<SearchResult> =>
  run(query, (progress) =>
    replaySegments(log, null, (segment) =>
      inThread<typeof searchSegment>('searchSegment', { ...progress(), segment }),
    ),
  )

export const searchStored = (ctx: Context, stored: StoredRows, query: Query): Promise<SearchResult> =>
  run(query, async function* (progress) {
    for await (const blocks of readAllBlocks(ctx, stored))
      yield await inThread<typeof searchBlocks>('searchBlocks', { ...progress(), blocks })
  })

function run(
  query: Query,
  search: (progress: () => Progress) => AsyncGenerator<Found>,
): Promise<SearchResult> {
  return searches.run(async () => {
    const result: SearchResult = { total: 0, isComplete: true, matches: [] }
    let leftMs = mostMs
    const progress = () => ({ query, room: mostMatches - result.matches.length, leftMs })
    for await (const found of search(progress)) {
      result.total += found.total
      result.matches.push(...found.matches)
      leftMs -= found.usedMs
      if (!found.isComplete || leftMs <= 0) return { ...result, isComplete: false }
    }
    return result
  })
}

async function inThread<Work extends (input: never) => unknown>(
  name: string,
  input: Parameters<Work>[0],
): Promise<Awaited<ReturnType<Work>>> {
  const module = compiledModule('resources/builds/log/rows/search-tasks.ts')
  return runInThread<Work>(module, name, input, mostMs + slackMs).catch((error: unknown) => {
    if (error instanceof ThreadLimitExceeded) throw badRequest('This regular expression takes too long.')
    throw error
  })
}
