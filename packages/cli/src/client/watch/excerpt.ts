// The rows of a failed job's log that show why it failed, as the server has chosen them.
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
  /** The row that shows why the job failed. */
  failingRow: number
  rows: readonly Row[]
}

/** null: there is no log, or it may not be read. */
export async function findExcerpt(api: Api, jobId: string): Promise<Excerpt | null> {
  const log = `jobs/${jobId}/log`
  try {
    const { groups, failing_row: failingRow, excerpt } = await api.get<LogIndex>(`${log}/index`)
    if (failingRow === null || excerpt === null) return null
    const { from, to } = excerpt
    const { rows } = await api.get<LogRows>(`${log}/rows?from=${from}&limit=${to - from + 1}`)
    const group = groups.findLast(({ row }) => row <= failingRow)
    return { group: group === undefined ? null : oneLine(group.name), from, failingRow, rows }
  } catch (error) {
    if (error instanceof Refused) return null
    throw error
  }
}
