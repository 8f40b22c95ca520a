// Matches of a search in rows. The rows in memory are searched at once; the server's answer about the whole log replaces
// that. Positions are those of JavaScript strings.

export interface Query {
  text: string
  isRegex: boolean
  isCaseSensitive: boolean
}

/** Row, start, end. */
export type Match = readonly [number, number, number]

export interface Matches {
  /** In order of rows. */
  list: readonly Match[]
  /** Matches of the whole log; null while only the rows in memory were searched. */
  total: number | null
  /** The server searched all of the log in the time it had. */
  isComplete: boolean
  /** Rows that the server searched, from the first one. */
  searchedRows: number
}

export const noMatches: Matches = { list: [], total: null, isComplete: true, searchedRows: 0 }

export const mostMatches = 10_000

/** Null when the expression is no valid one. */
export function readPattern({ text, isRegex, isCaseSensitive }: Query): RegExp | null {
  const source = isRegex ? text : text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  try {
    return new RegExp(source, isCaseSensitive ? 'gu' : 'giu')
  } catch {
    return null
  }
}

/** A text that was found nowhere and is more likely an expression: `package 1[0-9]+`, `^error`, `(a|b)`. */
export const isLikeExpression = (query: Query): boolean =>
  !query.isRegex &&
  /\\[bdsw]|[.\])\w][*+]|\[[^\]]+\]|\w\|\w|^\^|\$$/i.test(query.text) &&
  readPattern({ ...query, isRegex: true }) !== null

export function findMatches(pattern: RegExp, rows: Iterable<readonly [number, string]>): Match[] {
  const found: Match[] = []
  for (const [row, text] of rows) {
    for (const match of text.matchAll(pattern)) {
      if (match[0] === '') continue
      found.push([row, match.index, match.index + match[0].length])
      if (found.length === mostMatches) return found
    }
  }
  return found
}

/** A growing log: from row `from` on, the matches are these. */
export function replaceMatches(before: Matches, from: number, found: readonly Match[]): Matches {
  const kept = before.list.filter(([row]) => row < from)
  const dropped = before.list.length - kept.length
  const list = [...kept, ...found].slice(0, mostMatches)
  const total = before.total === null ? null : before.total - dropped + found.length
  return { ...before, list, total }
}

export const countOf = ({ list, total }: Matches): number => Math.max(total ?? 0, list.length)

/** What a search has found: `3/41`, `3/41, 38 % searched`, `No match`, `Not finished: 38 % searched`. */
export function describeFound(
  matches: Matches,
  { current, isSearching, rows }: { current: number; isSearching: boolean; rows: number },
): string {
  const count = countOf(matches)
  const place = `${current + 1}/${count.toLocaleString()}`
  if (isSearching) return count === 0 ? 'Searching…' : `${place}+`
  if (matches.isComplete) return count === 0 ? 'No match' : place
  const searched = `${percentOf(matches.searchedRows, rows)} % searched`
  return count === 0 ? `Not finished: ${searched}` : `${place}+, ${searched}`
}

/** Below 100, because the search has not seen all of the log. */
const percentOf = (part: number, whole: number) =>
  Math.min(99, Math.floor((100 * part) / Math.max(1, part, whole)))

/** The index of the first match at or below a row; the first of all when there is none below. */
export function firstFrom(list: readonly Match[], row: number): number {
  const index = list.findIndex(([at]) => at >= row)
  return index === -1 ? (list.length === 0 ? -1 : 0) : index
}

/** The next or previous match; behind the last comes the first. */
export function step(list: readonly Match[], current: number, by: 1 | -1): number {
  if (list.length === 0) return -1
  if (current === -1) return by === 1 ? 0 : list.length - 1
  return (current + by + list.length) % list.length
}

/** After the list changed: the same match where it still is, else the next one. */
export function keepCurrent(before: readonly Match[], current: number, list: readonly Match[]): number {
  const match = before[current]
  if (match === undefined) return -1
  const index = list.findIndex(([row, start]) => row > match[0] || (row === match[0] && start >= match[1]))
  return index === -1 ? list.length - 1 : index
}
