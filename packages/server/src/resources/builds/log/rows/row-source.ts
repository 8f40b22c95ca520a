import type { Log } from '../source.ts'
import type { LogOutline } from './outline.ts'

export interface RowPage {
  /** The number of the first row. */
  from: number
  /** How many rows the log has. */
  total: number
  /** As JSON. */
  rows: string[]
}

/** What any log has, also one whose build is archived. */
export interface RowReader {
  /** All rows as JSON, some at a time. */
  all(): AsyncGenerator<string[]>
  outline(): Promise<{ total: number; outline: LogOutline }>
}

export interface RowSource extends RowReader {
  log: Log
  /** Fewer rows than `limit` if they are very long, but at least one. */
  page(from: number, limit: number): Promise<RowPage>
  /** The last rows. */
  tail(limit: number): Promise<RowPage>
}

/** The size of a page, in characters of JSON. */
export const mostPageCharacters = 4 * 1024 * 1024

export const countCharacters = (rows: readonly string[]): number =>
  rows.reduce((sum, row) => sum + row.length, 0)
