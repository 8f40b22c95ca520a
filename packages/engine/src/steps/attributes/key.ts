import { describeNode } from '../../source.ts'
import type { SourceEntry } from '../../source.ts'
import type { Report } from '../report.ts'
import type { Matrix } from '../types.ts'
import { isNull, looksLikeUuid, readText } from '../values.ts'
import { hasMatrixToken } from './command-tokens.ts'

const MAX_KEY = 100

export function readKey(
  entry: SourceEntry | undefined,
  matrix: Matrix | null,
  report: Report,
): string | null {
  if (!entry || isNull(entry.value)) return null
  const key = readText(entry, report)
  if (key === null) return null
  // Such a key is checked when the values are filled in.
  if (matrix !== null && hasMatrixToken(key)) return key
  const expected = expectedInsteadOf(key)
  if (expected !== null) {
    report.problem(entry.value, `\`${entry.key}\` cannot be ${describeNode(entry.value)}`, { expected })
  }
  return key
}

/** What a key must be that this one is not; null: it may be a key. */
export function expectedInsteadOf(key: string): string | null {
  if (looksLikeUuid(key)) return 'a key that does not look like a UUID'
  if (key === '' || key.length > MAX_KEY) return `a key of 1 to ${MAX_KEY} characters`
  return /^[A-Za-z0-9_\-:.,/]+$/.test(key) ? null : 'letters, digits and the characters `_ - : . , /`'
}
