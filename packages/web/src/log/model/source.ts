// The operations of the public API that the log viewer uses.
import type { JobAddress } from '../../api/addresses.ts'
import { addressOf, ApiFailure, call } from '../../api/call.ts'
import { readRow, type Row, type WireRow } from './rows.ts'
import type { Group } from './groups.ts'

interface LogIndex {
  rows: number
  size: number
  isFinal: boolean
  groups: Group[]
  failingRow: number | null
  firstTime: number | null
}

export const logPath = '/v2/organizations/{org}/pipelines/{pipeline}/builds/{build}/jobs/{job}/log' as const

export async function fetchIndex(address: JobAddress): Promise<LogIndex> {
  const index = await call(`GET ${logPath}/index`, { params: address })
  return {
    rows: index.rows,
    size: index.size,
    isFinal: index.is_final,
    groups: index.groups.map(({ kind, name, row, time, duration_ms: durationMs }) => ({
      kind: kind as Group['kind'],
      name,
      row,
      time,
      durationMs,
    })),
    failingRow: index.failing_row,
    firstTime: index.first_time,
  }
}

interface RowRange {
  from: number
  total: number
  rows: Row[]
}

export const fetchRows = (address: JobAddress, from: number, limit: number): Promise<RowRange> =>
  fetchRange(address, { from, limit })

/** At most 2,000 rows a request, and not more than a clipboard can take. */
const mostRows = 2000
const mostCopied = 100_000

export async function fetchTexts(address: JobAddress, first: number, last: number): Promise<string[]> {
  const texts: string[] = []
  const end = Math.min(last, first + mostCopied - 1)
  for (let from = first; from <= end; from += mostRows) {
    const { rows } = await fetchRows(address, from, Math.min(mostRows, end - from + 1))
    if (rows.length === 0) break
    for (const { text } of rows) texts.push(text)
  }
  return texts
}

export const fetchTail = (address: JobAddress, tail: number): Promise<RowRange> =>
  fetchRange(address, { tail })

async function fetchRange(
  address: JobAddress,
  query: { from: number; limit: number } | { tail: number },
): Promise<RowRange> {
  const answer = await call(`GET ${logPath}/rows`, { params: address, query })
  const rows = (answer.rows as unknown as WireRow[]).map(readRow)
  return { from: answer.from, total: answer.total, rows }
}

export const streamUrl = (address: JobAddress, row: number): string =>
  addressOf(`${logPath}/stream`, address, { as: 'rows', row })

/** Plain text, for a download or a tab of its own. */
export const textUrl = (address: JobAddress): string => addressOf(`${logPath}.txt`, address)

/** The words for what went wrong. */
export const failureText = (error: unknown): string =>
  error instanceof ApiFailure ? error.message : 'The log cannot be shown.'
