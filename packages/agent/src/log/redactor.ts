// Replaces secrets in a stream of bytes, however the stream is cut. Bytes that may be the start of a secret are held back
// until the next bytes decide; never more than the length of the longest secret.

import { createNeedleSearch, createStartSearch } from './needle-search.ts'
import type { NeedleSearch, StartSearch } from './needle-search.ts'

interface Redactor {
  /** Applies to later bytes only. */
  add(needles: readonly Buffer[]): void
  push(bytes: Buffer): Buffer
  /** Ends the stream and returns the held bytes. */
  end(): Buffer
}

const MARK = Buffer.from('[REDACTED]')
const NOTHING = Buffer.alloc(0)

export function createRedactor(): Redactor {
  const needles: Buffer[] = []
  const known = new Set<string>()
  /** Null when needles were added since. */
  let starts: StartSearch | null = null
  /** Null until something looks like a needle. */
  let search: NeedleSearch | null = null
  let state = 0
  let held: Buffer = NOTHING
  /** The secrets in `held`. */
  let ranges: Range[] = []

  function run(bytes: Buffer, isEnd: boolean): Buffer {
    if (needles.length === 0) return bytes
    const text = held.length === 0 ? bytes : Buffer.concat([held, bytes])
    let from = held.length
    if (starts === null) {
      starts = createStartSearch(needles)
      search = null
      state = 0
      from = 0
    }
    for (let at = from; at < text.length; at += 1) {
      if (state === 0) at = starts.nextStart(text, at)
      if (at === text.length) break
      search ??= createNeedleSearch(needles)
      state = search.next(state, text[at] ?? 0)
      const length = search.foundBytes(state)
      if (length > 0) addRange(ranges, at + 1 - length, at + 1)
    }
    const openBytes = state === 0 ? 0 : (search?.openBytes(state) ?? 0)
    const keepFrom = isEnd ? text.length : text.length - openBytes
    if (ranges.length === 0 && keepFrom === text.length) {
      held = NOTHING
      return text
    }
    const redacted = replace(text, ranges, keepFrom)
    held = keepFrom === text.length ? NOTHING : Buffer.from(text.subarray(keepFrom))
    ranges = rangesFrom(ranges, keepFrom)
    if (isEnd) state = 0
    return redacted
  }

  return {
    add(more) {
      for (const needle of more) {
        const text = needle.toString('latin1')
        if (needle.length === 0 || known.has(text)) continue
        known.add(text)
        needles.push(needle)
        starts = null
      }
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
  /** -1 if its replacement is already written. */
  start: number
  end: number
}

/** The list is in order of the ends, and no two overlap: those that do become one. */
function addRange(ranges: Range[], start: number, end: number): void {
  let first = start
  for (let last = ranges.at(-1); last !== undefined && first < last.end; last = ranges.at(-1)) {
    first = Math.min(first, last.start)
    ranges.pop()
  }
  ranges.push({ start: first, end })
}

function replace(text: Buffer, ranges: readonly Range[], keepFrom: number): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (const { start, end } of ranges) {
    if (start >= keepFrom) break
    if (start >= 0) parts.push(text.subarray(from, start), MARK)
    from = end
  }
  if (from < keepFrom) parts.push(text.subarray(from, keepFrom))
  return Buffer.concat(parts)
}

function rangesFrom(ranges: readonly Range[], keepFrom: number): Range[] {
  return ranges
    .filter(({ end }) => end > keepFrom)
    .map(({ start, end }) => ({ start: start < keepFrom ? -1 : start - keepFrom, end: end - keepFrom }))
}
