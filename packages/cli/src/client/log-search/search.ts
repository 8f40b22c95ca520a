// Searches logs of many builds, and prints each hit when the server finds it.
import type { LogSearchAnswer, LogSearchHit, LogSearchProgress } from '@millrace/server/wire.ts'
import { Refused } from '../../refused.ts'
import { openApi, type Api } from '../api.ts'
import type { ClientOptions } from '../command.ts'
import { readEvents } from '../event-stream.ts'
import { interruptSignal } from '../interrupt.ts'
import { openStyle } from '../style.ts'
import { describeHit, describeProgress, type Search } from './text.ts'

export interface SearchOptions extends ClientOptions {
  in: 'failures' | 'logs'
  regex?: true
  case?: true
  pipeline?: string
  branch?: string
  state?: string
  step?: string
  from?: string
  to?: string
  limit: number
}

/** Of one request. */
const MOST_HITS = 200
const INTERRUPTED = 130

export async function searchLogs(q: string, options: SearchOptions): Promise<void> {
  const api = await openApi(options)
  const { signal, end } = interruptSignal()
  const style = openStyle(options)
  const isLive = process.stderr.isTTY && !options.json
  const search: Search = { hits: [], progress: null, cursor: null, complete: false }
  const showProgress = (text: string) => {
    if (isLive) process.stderr.write(`\r\u001b[K${text}`)
  }
  try {
    for await (const change of runSearch(api, queryOf(q, options), options.limit, search, signal)) {
      if (change === 'hit' && !options.json) {
        showProgress('')
        console.log(describeHit(search.hits, style).join('\n'))
      }
      if (search.progress !== null) showProgress(describeProgress(search))
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    end()
    showProgress('')
  }
  if (options.json) console.log(JSON.stringify(search))
  else if (search.progress !== null) console.error(`${describeProgress(search)}.`)
  if (signal.aborted) process.exitCode = INTERRUPTED
}

function queryOf(q: string, options: SearchOptions): URLSearchParams {
  const query = new URLSearchParams({ q, in: options.in })
  for (const name of ['pipeline', 'branch', 'state', 'step', 'from', 'to'] as const) {
    const value = options[name]
    if (value !== undefined) query.set(name, value)
  }
  if (options.regex) query.set('regex', 'true')
  if (options.case) query.set('case', 'true')
  return query
}

/** A stream ends after a time or at a number of hits, and the next one goes on there. */
async function* runSearch(
  api: Api,
  query: URLSearchParams,
  limit: number,
  search: Search,
  signal: AbortSignal,
): AsyncGenerator<'hit' | 'progress'> {
  let before = 0
  do {
    query.set('limit', String(Math.min(limit - search.hits.length, MOST_HITS)))
    if (search.cursor !== null) query.set('cursor', search.cursor)
    const response = await api.stream(`log-search/stream?${query.toString()}`, {
      headers: { Accept: 'text/event-stream' },
      signal,
    })
    let hasEnded = false
    for await (const { event, data } of readEvents(response)) {
      if (event === 'hit') search.hits.push(JSON.parse(data) as LogSearchHit)
      if (event === 'failed') throw new Refused((JSON.parse(data) as { message: string }).message)
      if (event === 'progress') search.progress = since(before, JSON.parse(data) as LogSearchProgress)
      if (event === 'end') {
        const { progress, cursor } = JSON.parse(data) as Omit<LogSearchAnswer, 'hits'>
        search.progress = since(before, progress)
        search.cursor = cursor
        search.complete = cursor === null
        hasEnded = true
      }
      yield event === 'hit' ? 'hit' : 'progress'
    }
    if (signal.aborted) return
    if (!hasEnded) throw new Refused('The connection to the server was lost. Search again.')
    before = search.progress?.searched ?? 0
  } while (search.cursor !== null && search.hits.length < limit)
}

/** A request counts from its cursor on. */
const since = (before: number, progress: LogSearchProgress): LogSearchProgress => ({
  ...progress,
  searched: before + progress.searched,
  total: before + progress.total,
})
