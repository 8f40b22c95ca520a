import type { ParallelPosition } from '../work.ts'

/** One position per job; a step without `parallelism` has one job and no position. */
export function parallelPositions(parallelism: number | null): (ParallelPosition | null)[] {
  if (parallelism === null) return [null]
  return Array.from({ length: parallelism }, (_, index) => ({ index, total: parallelism }))
}
