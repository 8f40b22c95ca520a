// The time axis of the waterfall. A pause in which no job ran and that is longer than all the work is folded to a narrow band:
// otherwise a build that was blocked for an hour shows its work in a pixel.
import { spansOf } from './job-spans.ts'
import type { Job } from '../jobs/job.ts'

export interface Fold {
  fromMs: number
  toMs: number
}

interface Extent {
  startMs: number
  endMs: number
}

/** Shorter pauses stay, however short the work is. */
const leastFoldMs = 10_000
/** The share of the work that a fold takes on the axis. */
const foldShare = 0.06
const leastBandMs = 100

export function findFolds(jobs: readonly Job[], { startMs, endMs }: Extent): Fold[] {
  const busy = jobs
    .flatMap(spansOf)
    .filter(({ kind }) => kind === 'running')
    .map(({ fromMs, toMs }): [number, number] => [fromMs, toMs ?? endMs])
    .toSorted((a, b) => a[0] - b[0])
  const pauses: Fold[] = []
  let [idleSince, workMs] = [startMs, 0]
  for (const [from, to] of busy) {
    if (from > idleSince) pauses.push({ fromMs: idleSince, toMs: from })
    workMs += Math.max(0, to - Math.max(from, idleSince))
    idleSince = Math.max(idleSince, to)
  }
  if (endMs > idleSince) pauses.push({ fromMs: idleSince, toMs: endMs })
  return workMs === 0
    ? []
    : pauses.filter(({ fromMs, toMs }) => toMs - fromMs > Math.max(workMs, leastFoldMs))
}

/** From moments to places on the axis, both in milliseconds, and back. */
export class FoldedTime {
  readonly folds: readonly Fold[]
  readonly #startMs: number
  readonly #bandMs: number

  constructor({ startMs, endMs }: Extent, folds: readonly Fold[]) {
    this.#startMs = startMs
    this.folds = folds
    const foldedMs = folds.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)
    this.#bandMs = Math.max(leastBandMs, foldShare * (endMs - startMs - foldedMs))
  }

  at(timeMs: number): number {
    let atMs = timeMs - this.#startMs
    for (const { fromMs, toMs } of this.folds) {
      if (timeMs <= fromMs) break
      const passed = Math.min(timeMs, toMs) - fromMs
      atMs -= passed * (1 - this.#bandMs / (toMs - fromMs))
    }
    return atMs
  }

  /** How long after the start the place on the axis is. */
  elapsedAt(atMs: number): number {
    let elapsedMs = atMs
    for (const { fromMs, toMs } of this.folds) {
      const from = this.at(fromMs)
      if (atMs <= from) break
      const share = Math.min(1, (atMs - from) / this.#bandMs)
      elapsedMs += share * (toMs - fromMs - this.#bandMs)
    }
    return elapsedMs
  }
}
