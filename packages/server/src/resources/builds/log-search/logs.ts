// Searches whole logs, newest builds first. Sketches rule most of them out in the statement that lists them; the rest is read and
// searched in short tasks, so that others get their turn in between, and that it ends soon after its client has left.
import { ThreadLimitExceeded } from '../../../lib/thread.ts'
import { bitsOf } from '../log/findings/sketch.ts'
import { readAllBlocks } from '../log/rows/rows-object.ts'
import { replaySegments } from '../log/rows/segments.ts'
import { findLog, type Log } from '../log/source.ts'
import type { FoundRow, FoundRows, Limits, searchBlockLines, searchSegmentLines } from './line-tasks.ts'
import * as searches from './queries.ts'
import type { BuildOfLogs } from './queries.ts'
import { runLineTask, type Found, type Searching, type Source } from './search.ts'

/** Trigrams that most logs have rule out nothing, so a long text needs all of its own. The first bit that is not set ends the test. */
const mostBits = 64
const rowsOfLog = 20
const logsAtOnce = 4
const taskMs = 200
/** The first hits come soon. */
const [fewBuilds, manyBuilds] = [10, 50]

export const logsSource = (searching: Searching): Source => ({
  async count(from, most) {
    const scope = await searching.scope()
    return scope === null ? 0 : searches.countLogs(searching.ctx.db, scope, from, most)
  },
  async *search(from, room) {
    const bits = bitsOf(searching.needles, mostBits)
    let after = from
    for (let limit = fewBuilds; ; limit = manyBuilds) {
      const scope = await searching.scope()
      if (scope === null) return
      const { builds, last } = await searches.listBuilds(searching.ctx.db, scope, { after, limit, bits })
      for (const build of builds) {
        const start = from !== null && build.id === from.id ? (from.place ?? 0) : 0
        yield* searchBuild(searching, scope.org.id, build, start, room)
      }
      if (last === null) return
      after = last
      yield { hits: [], searched: 0, after }
    }
  },
})

async function* searchBuild(
  searching: Searching,
  orgId: string,
  { at, id, logs, jobs }: BuildOfLogs,
  start: number,
  room: () => number,
): AsyncGenerator<Found> {
  const left = jobs.filter(({ place }) => place >= start)
  let done = start
  for (let first = 0; first < left.length; first += logsAtOnce) {
    const some = left.slice(first, first + logsAtOnce)
    const most = Math.min(room(), rowsOfLog)
    const found = await Promise.all(some.map((job) => searchOne(searching, orgId, job.job_id, most)))
    for (const [index, job] of some.entries()) {
      const next = job.place + 1
      const lines = (found[index] ?? []).slice(0, room())
      const after = { at, id, place: next === logs ? null : next }
      yield { hits: lines.map((line) => ({ job, line, source: null })), searched: next - done, after }
      done = next
    }
  }
  if (done < logs) yield { hits: [], searched: logs - done, after: { at, id, place: null } }
}

/** A log that cannot be searched within the limits of a task counts as one without hits. */
async function searchOne(
  searching: Searching,
  orgId: string,
  jobId: string,
  room: number,
): Promise<FoundRow[]> {
  const { ctx } = searching
  const log = await findLog(ctx, orgId, jobId)
  if (log === null) return []
  const search = new OneLog(searching, room)
  try {
    await (log.compacted?.rows == null ? search.inSegments(log) : search.inBlocks(log.compacted.rows))
  } catch (error) {
    if (!(error instanceof ThreadLimitExceeded)) throw error
    ctx.log.warn({ err: error, job_id: jobId }, 'A log was left out of a search.')
  }
  return search.rows
}

class OneLog {
  readonly rows: FoundRow[] = []
  readonly #searching: Searching
  readonly #room: number

  constructor(searching: Searching, room: number) {
    this.#searching = searching
    this.#room = room
  }

  async inBlocks(stored: Parameters<typeof readAllBlocks>[1]): Promise<void> {
    const { ctx, place } = this.#searching
    for await (const blocks of readAllBlocks(ctx, stored)) {
      await this.#run((limits) =>
        runLineTask<typeof searchBlockLines>(place, 'searchBlockLines', { ...limits, blocks }),
      )
      if (this.#isFull) return
    }
  }

  async inSegments(log: Log): Promise<void> {
    const { place } = this.#searching
    const segments = replaySegments(log, null, (segment) =>
      this.#run((limits) =>
        runLineTask<typeof searchSegmentLines>(place, 'searchSegmentLines', { ...limits, segment }),
      ),
    )
    for await (const _ of segments) if (this.#isFull) return
  }

  get #isFull(): boolean {
    return this.rows.length >= this.#room
  }

  /** Runs tasks on the same rows, each from where the last one stopped. */
  async #run<Result extends FoundRows>(task: (limits: Limits) => Promise<Result>): Promise<Result> {
    for (let from = 1; ;) {
      const room = this.#room - this.rows.length
      const found = await task({ query: this.#searching.query, room, from, mostMs: taskMs })
      this.rows.push(...found.rows)
      if (found.next === null) return found
      from = found.next
    }
  }
}
