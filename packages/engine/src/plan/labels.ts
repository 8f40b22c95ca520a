import type { ParallelPosition } from '../work.ts'

/** Fills `%n` (from 0), `%N` (from 1) and `%t` or `%T` (how many) in the label of a parallel job. */
export function fillLabel(label: string | null, position: ParallelPosition | null): string | null {
  if (label === null || position === null) return label
  return label.replace(/%[nNtT]/g, (token) => {
    if (token === '%n') return String(position.index)
    return String(token === '%N' ? position.index + 1 : position.total)
  })
}
