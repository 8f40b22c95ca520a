// Searches what failed jobs said. Their rows are in a table, so the newest answers come from one or two statements.
import { ThreadLimitExceeded } from '../../../lib/thread.ts'
import type { FoundRow, searchTexts } from './line-tasks.ts'
import * as searches from './queries.ts'
import type { BuildPosition, Position, Scope } from './queries.ts'
import { runLineTask, type Found, type Hit, type Searching, type Source } from './search.ts'

/** They are read as long as one of twenty has a match: a frequent text is among them. Any other is looked for in the index. */
const newest = 100
const isFrequent = (jobs: number, matches: number) => matches * 20 >= jobs
const jobsAtOnce = 50
const linesOfJob = 20

/** The index has trigrams. */
const isIndexed = ({ needles }: Searching) => needles.some((needle) => needle.length >= 3)

const after = ({ at, id }: Position): BuildPosition => ({ at, id, place: null })

export const failuresSource = (searching: Searching): Source => ({
  async count(from, most) {
    const scope = await searching.scope()
    return scope === null ? 0 : searches.countFindings(searching.ctx.db, scope, from, most)
  },
  async *search(from, room) {
    const { db } = searching.ctx
    const scope = await searching.scope()
    if (scope === null) return
    let seen: Position | null = from
    let isNear = true
    while (isNear) {
      const near = await searches.listFindings(db, scope, { after: seen, limit: newest })
      const wanted = near.filter(({ isWanted }) => isWanted)
      for (let start = 0; start < wanted.length; start += jobsAtOnce)
        yield read(searching, scope, wanted.slice(start, start + jobsAtOnce), room())
      const last = near.at(-1)
      if (last === undefined || near.length < newest) return
      yield { hits: [], searched: near.length, after: after(last) }
      seen = last
      isNear = !isIndexed(searching) || isFrequent(near.length, wanted.length)
    }
    for (;;) {
      const now = await searching.scope()
      if (now === null) return
      const far = await searches.findFindings(db, now, { after: seen, limit: jobsAtOnce })
      if (far.length > 0) yield read(searching, now, far, room())
      const next = far.at(-1)
      if (next === undefined || far.length < jobsAtOnce) return
      seen = next
    }
  },
})

async function read(
  { ctx, query, place }: Searching,
  scope: Scope,
  jobs: readonly Position[],
  room: number,
): Promise<Found> {
  const ids = jobs.map(({ id }) => id)
  const said = new Map((await searches.readFindings(ctx.db, scope, ids)).map((row) => [row.job_id, row]))
  const texts = jobs.map(({ id }) => ({ text: said.get(id)?.text ?? '', rows: said.get(id)?.rows ?? [] }))
  const found = await runLineTask<typeof searchTexts>(place, 'searchTexts', {
    query,
    texts,
    most: linesOfJob,
  }).catch((error: unknown): FoundRow[][] => {
    if (error instanceof ThreadLimitExceeded) return []
    throw error
  })
  const hits: Hit[] = []
  const sourceOf = (job: searches.FindingsOfJob, { row }: FoundRow) => job.sources[-row - 1]
  const wanted = jobs.flatMap(({ id }, index) => {
    const job = said.get(id)
    return job === undefined ? [] : (found[index] ?? []).flatMap((line) => sourceOf(job, line) ?? [])
  })
  const sources = new Map(
    wanted.length === 0
      ? []
      : (await searches.readSources(ctx.db, scope, wanted)).map((source) => [source.id, source]),
  )
  const hitOf = (job: searches.FindingsOfJob, line: FoundRow): Hit[] => {
    if (line.row > 0) return [{ job, line, source: null }]
    const source = sources.get(sourceOf(job, line)?.id ?? '')
    return source === undefined ? [] : [{ job, line, source }]
  }
  for (const [index, position] of jobs.entries()) {
    const job = said.get(position.id)
    if (job === undefined) continue
    const lines = (found[index] ?? []).flatMap((line) => hitOf(job, line))
    hits.push(...lines.slice(0, room - hits.length))
    if (hits.length >= room) return { hits, searched: 0, after: after(position) }
  }
  const last = jobs.at(-1)
  return { hits, searched: 0, after: last === undefined ? null : after(last) }
}
