/** What the audit log is narrowed to, as the API names it. `from` and `to` are days. */
export interface AuditSearch {
  type?: string
  actor?: string
  subject?: string
  from?: string
  to?: string
  q?: string
}

const names = ['type', 'actor', 'subject', 'from', 'to', 'q'] as const

export function readAuditSearch(search: Record<string, unknown>): AuditSearch {
  const read: AuditSearch = {}
  for (const name of names) {
    const value = search[name]
    if (typeof value === 'string' && value !== '') read[name] = value
  }
  return read
}

/** For the API: `from` and `to` as times, both days included. */
export function filterOf({ from, to, ...rest }: AuditSearch) {
  const begin = from === undefined ? NaN : Date.parse(from)
  const end = to === undefined ? NaN : Date.parse(to)
  return {
    ...rest,
    ...(Number.isNaN(begin) ? {} : { from: new Date(begin).toISOString() }),
    ...(Number.isNaN(end) ? {} : { to: new Date(end + dayMs).toISOString() }),
  }
}

const dayMs = 86_400_000
