// Rows that do not move under the reader: while somebody points into a list, its rows keep their places.

export interface Row {
  key: string
}

/** The rows that were shown before, with their content of now. `refresh` gives it for a row that has left the list. */
export function keepOrder<T extends Row>(
  shown: readonly T[],
  now: readonly T[],
  refresh: (row: T) => T,
): readonly T[] {
  const byKey = new Map(now.map((row) => [row.key, row]))
  return shown.map((row) => byKey.get(row.key) ?? refresh(row))
}

export const isSameOrder = (a: readonly Row[], b: readonly Row[]): boolean =>
  a.length === b.length && a.every((row, at) => row.key === b[at]?.key)
