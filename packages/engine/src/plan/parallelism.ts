import type { ParallelPlace } from '../work.ts'

/** One place per job; a step without `parallelism` has one job and no place. */
export function parallelPlaces(parallelism: number | null): (ParallelPlace | null)[] {
  if (parallelism === null) return [null]
  return Array.from({ length: parallelism }, (_, index) => ({ index, total: parallelism }))
}
