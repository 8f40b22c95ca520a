import type { GroupRow } from './queries.ts'

const heads = [
  'id',
  'name',
  'pipeline',
  'jobs',
  'failures',
  'retries',
  'seconds',
  'cost',
  'currency',
  'wait_p50_seconds',
  'wait_p95_seconds',
  'run_p50_seconds',
  'run_p95_seconds',
  'waiting',
  'running',
  'connected',
  'busy',
  'utilization',
]

/** One line for each group, with CRLF, as RFC 4180 has it. */
export const insightsCsv = (groups: readonly GroupRow[], currency: string): string =>
  [heads, ...groups.map((group) => fieldsOf(group, currency))]
    .map((fields) => `${fields.map(quoted).join(',')}\r\n`)
    .join('')

const fieldsOf = (group: GroupRow, currency: string): string[] =>
  [
    group.id,
    group.name,
    group.pipeline?.slug,
    group.jobs,
    group.failures,
    group.retries,
    group.seconds,
    group.cost,
    currency,
    group.wait_p50_seconds,
    group.wait_p95_seconds,
    group.run_p50_seconds,
    group.run_p95_seconds,
    group.load?.waiting,
    group.load?.running,
    group.load?.connected,
    group.load?.busy,
    group.load?.utilization,
  ].map((value) => String(value ?? ''))

/** Spreadsheets run a field that begins like a formula, so such a name gets an apostrophe. */
function quoted(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
