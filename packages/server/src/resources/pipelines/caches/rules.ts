import { createHash } from 'node:crypto'

const gib = 1024 ** 3

/** The limit of a cache that a command of a job saves, as that of a step which gives no `size`. */
export const defaultSizeGb = 20

/** A cache belongs to a set of paths, in any order. */
export const sortedPaths = (paths: readonly string[]): string[] => [...new Set(paths)].sort()

export const hashPaths = (paths: readonly string[]): Buffer =>
  createHash('sha256')
    .update(JSON.stringify(sortedPaths(paths)))
    .digest()

export interface BuildBranches {
  branch: string
  /** The branch that a pull request is for. */
  base: string | null
  default_branch: string | null
}

/** A job restores the cache of the first of these that has one. */
export const branchesToRead = ({ branch, base, default_branch }: BuildBranches): string[] => [
  ...new Set([branch, base, default_branch].filter((name): name is string => name !== null && name !== '')),
]

/** The limit of one cache before compression: the step's `size`, but never more than this installation's. */
export const mostCacheBytes = (sizeGb: number, installationBytes: number): number =>
  Math.min(sizeGb * gib, installationBytes)

/** Compression can make a blob a little larger. */
export const mostStoredBytes = (size: number): number => size + 64 * 1024
