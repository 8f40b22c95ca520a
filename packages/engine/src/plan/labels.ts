import type { ParallelPlace } from '../work.ts'

/** Fills `%n` (from 0), `%N` (from 1) and `%t` or `%T` (how many) in the label of a parallel job. */
export function fillLabel(label: string | null, place: ParallelPlace | null): string | null {
  if (label === null || place === null) return label
  return label.replace(/%[nNtT]/g, (token) => {
    if (token === '%n') return String(place.index)
    return String(token === '%N' ? place.index + 1 : place.total)
  })
}
