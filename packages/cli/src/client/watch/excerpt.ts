// The rows of a failed job's log that probably show why it failed.
import type { LogIndex, LogRows } from '@millrace/server/wire.ts'
import type { Api } from '../api.ts'
import { Refused } from '../../refused.ts'
import type { Row } from '../log-rows.ts'
import { oneLine } from '../text.ts'

export interface Excerpt {
  /** The group of the log; null: it has none. */
  group: string | null
  /** The number of the first row. */
  from: number
  rows: readonly Row[]
}

const ROWS_BEFORE = 12
const MOST_ROWS = 20

/** null: there is no log, or it may not be read. */
export async function findExcerpt(api: Api, jobId: string): Promise<Excerpt | null> {
  const log = `jobs/${jobId}/log`
  try {
    const { groups, failing_row: failingRow, rows: total } = await api.get<LogIndex>(`${log}/index`)
    if (total === 0) return null
    const failing = failingRow ?? total
    const group = groups.findLast(({ row }) => row <= failing)
    const from = Math.max((group?.row ?? 0) + 1, Math.min(failing - ROWS_BEFORE, total - MOST_ROWS + 1), 1)
    const { rows } = await api.get<LogRows>(`${log}/rows?from=${Math.min(from, total)}&limit=${MOST_ROWS}`)
    return { group: group === undefined ? null : oneLine(group.name), from: Math.min(from, total), rows }
  } catch (error) {
    if (error instanceof Refused) return null
    throw error
  }
}
