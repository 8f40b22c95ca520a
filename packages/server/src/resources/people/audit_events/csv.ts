import { eventClassName } from '../../../audit/types.ts'
import type { AuditEventRow } from './queries.ts'

const heads = [
  'occurred_at',
  'type',
  'actor_type',
  'actor_uuid',
  'actor_name',
  'subject_type',
  'subject_uuid',
  'subject_name',
  'context',
  'data',
  'uuid',
]

/** One line for each event, with CRLF, as RFC 4180 has it. */
export const auditCsv = (rows: readonly AuditEventRow[]): string =>
  [heads, ...rows.map(fieldsOf)].map((fields) => `${fields.map(quoted).join(',')}\r\n`).join('')

const fieldsOf = ({ id, type, occurred_at: at, actor, subject, context, data }: AuditEventRow): string[] => [
  at,
  eventClassName(type),
  actor?.type ?? '',
  actor?.uuid ?? '',
  actor?.name ?? '',
  subject.type,
  subject.uuid,
  subject.name ?? '',
  context === null ? '' : JSON.stringify(context),
  JSON.stringify(data),
  id,
]

/** Spreadsheets run a field that begins like a formula, so such a name gets an apostrophe. */
function quoted(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
