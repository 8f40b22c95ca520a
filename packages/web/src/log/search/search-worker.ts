import { findMatches, readPattern } from './search.ts'
import type { SearchRequest, SearchResponse } from './row-search.ts'

addEventListener('message', ({ data: { id, query, rows } }: MessageEvent<SearchRequest>) => {
  const pattern = readPattern(query)
  const response: SearchResponse = { id, matches: pattern === null ? [] : findMatches(pattern, rows) }
  postMessage(response)
})
