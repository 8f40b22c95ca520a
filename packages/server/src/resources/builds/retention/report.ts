// What retention would delete, or has deleted.

export const kinds = ['builds', 'logs', 'artifacts', 'archived_builds', 'test_runs'] as const
export type Kind = (typeof kinds)[number]

export interface Tally {
  count: number
  /** Exact. */
  blob_bytes: number
  /** When the first and the last of the builds ended; of test runs without a build, when they were made. */
  oldest: string | null
  newest: string | null
}

export type Report = Record<Kind, Tally>

export const emptyTally = (): Tally => ({ count: 0, blob_bytes: 0, oldest: null, newest: null })

export const emptyReport = (): Report => ({
  builds: emptyTally(),
  logs: emptyTally(),
  artifacts: emptyTally(),
  archived_builds: emptyTally(),
  test_runs: emptyTally(),
})

export const isEmpty = (report: Report): boolean => kinds.every((kind) => report[kind].count === 0)

export function add(to: Tally, more: Tally): void {
  to.count += more.count
  to.blob_bytes += more.blob_bytes
  to.oldest = [to.oldest, more.oldest].filter((time) => time !== null).toSorted()[0] ?? null
  to.newest =
    [to.newest, more.newest]
      .filter((time) => time !== null)
      .toSorted()
      .at(-1) ?? null
}

/** Adds one log or artifact of a build that ended at that time. */
export const addOne = (to: Tally, { finished_at: at, bytes }: { finished_at: string; bytes: number }): void =>
  add(to, { count: 1, blob_bytes: bytes, oldest: at, newest: at })
