// Failures of one cause have the same fingerprint: what differs from run to run is masked.
import { createHash } from 'node:crypto'

const masks: ReadonlyArray<[RegExp, string]> = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>'],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g, '<time>'],
  [/\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?/g, '<time>'],
  // The name of a file stays: it tells causes from each other.
  [/(?:[A-Za-z]:)?(?:[\\/][\w.@+-]+)+[\\/](?=[\w.@+-])/g, '<path>/'],
  [/\b0x[0-9a-f]+\b/gi, '<hex>'],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}\b/gi, '<hex>'],
  [/\d+(?:[.,]\d+)*/g, '<n>'],
  [/\s+/g, ' '],
]

export const maskedText = (text: string): string =>
  masks.reduce((masked, [expression, mask]) => masked.replace(expression, mask), text).trim()

const leastLetters = 4

/** null: too little is left to tell one cause from another. */
export function fingerprintOf(text: string): string | null {
  const masked = maskedText(text)
  const letters = masked.replace(/<\w+>/g, '').match(/\p{L}/gu)?.length ?? 0
  return letters < leastLetters ? null : createHash('sha256').update(masked).digest('hex').slice(0, 16)
}
