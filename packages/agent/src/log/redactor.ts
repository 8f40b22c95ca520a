// Replaces secrets in a stream of bytes, wherever its pieces happen to be cut. What could still become a secret is
// held back until the next bytes decide; never more than the longest secret.

export interface Redactor {
  /** From here on; what has been let through cannot be taken back. */
  add(needles: readonly Buffer[]): void
  push(bytes: Buffer): Buffer
  /** The end: nothing is held back any longer. */
  end(): Buffer
}

const MARK = Buffer.from('[REDACTED]')
const NOTHING = Buffer.alloc(0)

export function createRedactor(): Redactor {
  let needles: Buffer[] = []
  let held: Buffer = NOTHING
  /** How many bytes of `held` belong to a secret that is replaced already. */
  let covered = 0

  function run(bytes: Buffer, isEnd: boolean): Buffer {
    if (needles.length === 0 && held.length === 0) return bytes
    const buffer = held.length === 0 ? bytes : Buffer.concat([held, bytes])
    const ranges = findRanges(buffer, needles, covered)
    const keepFrom = isEnd ? buffer.length : openFrom(buffer, needles)
    const { parts, coveredTo } = replace(buffer, ranges, keepFrom)
    held = keepFrom === buffer.length ? NOTHING : Buffer.from(buffer.subarray(keepFrom))
    covered = Math.max(0, coveredTo - keepFrom)
    return Buffer.concat(parts)
  }

  return {
    add(more) {
      const known = new Set(needles.map((needle) => needle.toString('latin1')))
      needles = needles.concat(
        more.filter((needle) => needle.length > 0 && !known.has(needle.toString('latin1'))),
      )
    },
    push: (bytes) => run(bytes, false),
    end: () => run(NOTHING, true),
  }
}

/** A whole text at once. */
export function redactText(text: string, needles: readonly Buffer[]): string {
  const redactor = createRedactor()
  redactor.add(needles)
  return Buffer.concat([redactor.push(Buffer.from(text)), redactor.end()]).toString()
}

interface Range {
  start: number
  end: number
}

/** Where secrets stand, in order; secrets that overlap are one. The bytes already covered count as one too. */
function findRanges(buffer: Buffer, needles: readonly Buffer[], covered: number): Range[] {
  const found: Range[] = []
  for (const needle of needles) {
    for (let at = buffer.indexOf(needle); at >= 0; at = buffer.indexOf(needle, at + 1)) {
      const last = found.at(-1)
      if (last && at < last.end && at >= last.start) last.end = Math.max(last.end, at + needle.length)
      else found.push({ start: at, end: at + needle.length })
    }
  }
  found.sort((a, b) => a.start - b.start)
  // The covered part began before this buffer, so it opens the list without a mark of its own.
  const ranges: Range[] = covered > 0 ? [{ start: -1, end: covered }] : []
  for (const range of found) {
    const last = ranges.at(-1)
    if (last && range.start < last.end) last.end = Math.max(last.end, range.end)
    else ranges.push({ ...range })
  }
  return ranges
}

function replace(
  buffer: Buffer,
  ranges: readonly Range[],
  keepFrom: number,
): { parts: Buffer[]; coveredTo: number } {
  const parts: Buffer[] = []
  let from = 0
  for (const { start, end } of ranges) {
    if (start >= keepFrom) break
    if (start >= 0) parts.push(buffer.subarray(from, start), MARK)
    from = end
  }
  if (from < keepFrom) parts.push(buffer.subarray(from, keepFrom))
  return { parts, coveredTo: from }
}

/** The start of the longest ending that is the beginning of a secret. */
function openFrom(buffer: Buffer, needles: readonly Buffer[]): number {
  let open = buffer.length
  for (const needle of needles) {
    const earliest = Math.max(0, buffer.length - needle.length + 1)
    const first = needle[0] ?? 0
    for (let at = buffer.indexOf(first, earliest); at >= 0 && at < open; at = buffer.indexOf(first, at + 1)) {
      if (buffer.compare(needle, 0, buffer.length - at, at) === 0) open = at
    }
  }
  return open
}
