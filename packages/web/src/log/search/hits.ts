// The matches of a search as they are marked in the rows.
import type { Match } from './search.ts'

export interface Hit {
  start: number
  end: number
  isCurrent: boolean
}

/** The matches of each row. */
export function hitsOf(list: readonly Match[], current: number): Map<number, Hit[]> {
  const hits = new Map<number, Hit[]>()
  list.forEach(([row, start, end], index) => {
    const hit = { start, end, isCurrent: index === current }
    const others = hits.get(row)
    if (others === undefined) hits.set(row, [hit])
    else others.push(hit)
  })
  return hits
}
