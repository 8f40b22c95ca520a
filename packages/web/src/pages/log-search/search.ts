/** A search of logs, as the address of its page and the API name it. `from` and `to` are days. */
export interface LogSearch {
  q?: string
  regex?: true
  case?: true
  /** Absent: only what failed jobs said. */
  in?: 'logs'
  pipeline?: string
  branch?: string
  state?: string
  step?: string
  from?: string
  to?: string
}

const texts = ['q', 'pipeline', 'branch', 'state', 'step', 'from', 'to'] as const
const leastText = 2

export function readLogSearch(search: Record<string, unknown>): LogSearch {
  const read: LogSearch = {}
  for (const name of texts) {
    const value = search[name]
    const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
    if (text !== '') read[name] = text.slice(0, 200)
  }
  if (search['regex'] === true) read.regex = true
  if (search['case'] === true) read.case = true
  if (search['in'] === 'logs') read.in = 'logs'
  return read
}

export const isSearchable = ({ q = '' }: LogSearch): boolean => q.length >= leastText

const dayMs = 86_400_000

/** For the API: `from` and `to` as times, both days included. */
export function toQuery({ from, to, ...rest }: LogSearch): Record<string, string> {
  const timeOf = (day: string | undefined, addedMs: number) => {
    const ms = day === undefined ? NaN : Date.parse(day)
    return Number.isNaN(ms) ? undefined : new Date(ms + addedMs).toISOString()
  }
  const given = { ...rest, from: timeOf(from, 0), to: timeOf(to, dayMs) }
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
}
