import type { LogOutline } from './outline.ts'
import type { Query } from './search-tasks.ts'
import type { SearchResult } from './search.ts'
import type { Log } from '../source.ts'

export interface RowPage {
  /** The number of the first row. */
  from: number
  /** How many rows the log has. */
  total: number
  /** As JSON. */
  rows: string[]
}

export interface RowSource {
  log: Log
  /** Fewer rows than `limit` if they are very long, but at least one. */
  page(from: number, limit: number): Promise<RowPage>
  /** The last rows. */
  tail(limit: number): Promise<RowPage>
  outline(): Promise<{ total: number; outline: LogOutline }>
  search(query: Query): Promise<SearchResult>
}

/** The size of a page, in characters of JSON. */
export const mostPageCharacters = 4 * 1024 * 1024
