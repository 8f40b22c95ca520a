import type { Matrix, Skip, SoftFail } from '../types.ts'

export interface Combination {
  /** In the order of the dimensions. */
  values: readonly string[]
  skip: Skip
  /** null: the step's own word stands. */
  softFail: SoftFail | null
}

/** The first dimension varies slowest; combinations that only an adjustment names come last. */
export function combinationsOf(matrix: Matrix): Combination[] {
  const found = new Map<string, Combination>()
  for (const values of product(matrix.dimensions.map((dimension) => dimension.values))) {
    found.set(JSON.stringify(values), { values, skip: false, softFail: null })
  }
  for (const adjustment of matrix.adjustments) {
    const name = JSON.stringify(adjustment.with)
    const known = found.get(name)
    found.set(name, {
      values: adjustment.with,
      skip: adjustment.skip === false ? (known?.skip ?? false) : adjustment.skip,
      softFail: adjustment.softFail ?? known?.softFail ?? null,
    })
  }
  return [...found.values()]
}

function product(lists: readonly (readonly string[])[]): string[][] {
  return lists.reduce<string[][]>(
    (rows, list) => rows.flatMap((row) => list.map((value) => row.concat(value))),
    [[]],
  )
}
