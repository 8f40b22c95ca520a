import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import { ok } from '../../../http/answer.ts'
import { decodePosition, encodePosition } from '../../../http/cursors.ts'
import { workOf } from '../../../http/limits/gone.ts'
import { route, type Membership } from '../../../http/route.ts'
import { takePlace, withPlace, type Place } from '../../../lib/threads.ts'
import { failuresSource } from './failures.ts'
import { requiredTexts } from './literals.ts'
import { logsSource } from './logs.ts'
import { presentHit } from './present.ts'
import type { BuildPosition, Scope } from './queries.ts'
import { readFilters, readQuery, type Given } from './rules.ts'
import {
  LogSearchAnswer,
  LogSearchQuery,
  mostHits,
  type LogSearchHit,
  type LogSearchProgress,
} from './schema.ts'
import { answerMs, checkQuery, runSearch, streamMs, type SearchEvent } from './search.ts'

interface Asked {
  ctx: Context
  method: string
  org: Organization
  caller: Caller
  query: Given & { in?: 'failures' | 'logs'; cursor?: string; limit?: number }
  reauthorize: () => Promise<Membership | null>
  gone: () => AbortSignal
}

const errors = {
  400: '`q` is missing, too short or too long, or it is not a valid regular expression; or the cursor is not one of this search.',
}
const limit = (absent: number) => ({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: mostHits, default: absent, description: 'How many hits at most.' }),
  ),
})

const searchLogsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/log-search',
  summary: 'Search the logs of many builds, newest first',
  scope: 'read_build_logs',
  permission: 'member',
  query: { ...LogSearchQuery, ...limit(50) },
  answers: { 200: LogSearchAnswer },
  errors,
  handler: (asked) =>
    withPlace(workOf('search', asked), async (place) => {
      const hits: LogSearchHit[] = []
      for await (const event of await search(asked, place, { hits: 50, mostMs: answerMs })) {
        if (event.kind === 'hit') hits.push(presentHit(asked.ctx.config.url, asked.org.slug, event.hit))
        if (event.kind === 'end')
          return ok({ hits, progress: event.progress, cursor: cursorOf(asked, event.after) })
      }
      throw new Error('A search ended without saying so.')
    }),
})

const followLogSearchRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/log-search/stream',
  summary: 'Search the logs of many builds, with hits as server-sent events as they are found',
  scope: 'read_build_logs',
  permission: 'member',
  // The pipelines that the caller may read are judged in every statement.
  mayFollow: async () => true,
  query: { ...LogSearchQuery, ...limit(mostHits) },
  answers: { 200: Type.String({ contentMediaType: 'text/event-stream' }) },
  errors: { ...errors, 503: 'The server has too many streams open, or is stopping.' },
  async handler(asked) {
    // It is left when the response is over, whatever its end is.
    const place = takePlace(workOf('search', asked))
    const events = await search(asked, place, { hits: mostHits, mostMs: streamMs })
    return {
      status: 200,
      stream: Readable.from(asked.method === 'HEAD' ? [] : written(asked, events)),
      headers: {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Accel-Buffering': 'no',
      },
    }
  },
})

/** Returns when the query has been read, so that a wrong one is refused before the answer begins. */
async function search(
  asked: Asked,
  place: Place,
  limits: { hits: number; mostMs: number },
): Promise<AsyncGenerator<SearchEvent>> {
  const { ctx, query: given } = asked
  const query = readQuery(given)
  const after = given.cursor === undefined ? null : readPosition(asked, given.cursor)
  await checkQuery(query, place)
  const needles = requiredTexts(query)
  const filters = readFilters(given)
  const scope = async (): Promise<Scope | null> => {
    const membership = await asked.reauthorize()
    if (membership === null || membership.caller === null || membership.org === null) return null
    return { org: membership.org, caller: membership.caller, filters, needles }
  }
  const source = given.in === 'logs' ? logsSource : failuresSource
  return runSearch(source({ ctx, query, place, needles, scope }), {
    after,
    hits: given.limit ?? limits.hits,
    mostMs: limits.mostMs,
  })
}

async function* written(asked: Asked, events: AsyncGenerator<SearchEvent>): AsyncGenerator<string> {
  try {
    for await (const event of events) yield writtenEvent(asked, event)
  } catch (error) {
    if (asked.gone().aborted) return
    asked.ctx.log.warn({ err: error }, 'A search of logs failed.')
    yield message('failed', { message: 'The search could not go on. Asking again is safe.' })
  }
}

function writtenEvent(asked: Asked, event: SearchEvent): string {
  switch (event.kind) {
    case 'hit':
      return message('hit', presentHit(asked.ctx.config.url, asked.org.slug, event.hit))
    case 'progress':
      return message('progress', event.progress)
    case 'end':
      return message('end', { progress: event.progress, cursor: cursorOf(asked, event.after) })
  }
}

type Data =
  | LogSearchHit
  | LogSearchProgress
  | { progress: LogSearchProgress; cursor: string | null }
  | { message: string }

const message = (name: string, data: Data) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

const listOf = ({ org, query }: Asked) => `log search ${query.in ?? 'failures'} ${org.id}`

const cursorOf = (asked: Asked, after: BuildPosition | null): string | null =>
  after === null
    ? null
    : encodePosition(
        { at: after.at, id: after.place === null ? after.id : `${after.id}/${after.place}` },
        listOf(asked),
        asked.ctx.keys,
      )

function readPosition(asked: Asked, cursor: string): BuildPosition {
  const { at, id } = decodePosition(cursor, listOf(asked), asked.ctx.keys)
  const [build = '', place] = id.split('/')
  return { at, id: build, place: place === undefined ? null : Number(place) }
}

export const logSearchRoutes = [searchLogsRoute, followLogSearchRoute]
