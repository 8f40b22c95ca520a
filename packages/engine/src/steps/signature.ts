import type { SourceEntry } from '../source.ts'
import { readAttributes } from './attributes.ts'
import type { Report } from './report.ts'
import type { Signature } from './types.ts'
import { isNull, readName, readTexts, wrong } from './values.ts'

/** Kept as it was sent; only the agent that runs the job verifies it. */
export function readSignature(entry: SourceEntry | undefined, report: Report): Signature | null {
  if (!entry || isNull(entry.value)) return null
  if (entry.value.kind !== 'map') {
    wrong(entry, 'a map with `algorithm`, `signed_fields` and `value`', report)
    return null
  }
  const attributes = readAttributes(
    entry.value,
    { owner: '`signature`', names: ['algorithm', 'signed_fields', 'value'] },
    report,
  )
  const algorithm = readName(attributes.get('algorithm'), report)
  const value = readName(attributes.get('value'), report)
  const signedFields = readTexts(attributes.get('signed_fields'), report)
  if (algorithm === null || value === null || !signedFields) {
    report.problem(entry, '`signature` needs `algorithm`, `signed_fields` and `value`')
    return null
  }
  return { algorithm, signedFields, value }
}
