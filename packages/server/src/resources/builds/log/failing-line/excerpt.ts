// Chooses the rows of a log that are shown to say why its job failed.
import { opensSection } from './sections.ts'

interface KnownRows {
  groups: ReadonlyArray<{ name: string; row: number }>
  /** Where a reader looks first; null: not known. */
  failingRow: number | null
  /** The first row that can be read. */
  first: number
  total: number
}

interface Choice {
  group: string | null
  failingRow: number | null
  /** First and last rows. */
  ranges: Array<[number, number]>
  leftOut: number
}

/** The share of the last rows in the excerpt of a long group. The other rows are around the failing one. */
const partForEnd = 0.4
const partBeforeFailing = 0.3

export function chooseRows(known: KnownRows, most: number): Choice {
  const { first, total } = known
  const failingRow =
    known.failingRow !== null && known.failingRow >= first && known.failingRow <= total
      ? known.failingRow
      : null
  const failing = failingRow ?? total
  const { group, start, end } = sectionOf(known, failing)
  const size = end - start + 1
  if (size <= 0) {
    const from = Math.max(first, total - most + 1)
    const ranges: Choice['ranges'] = from <= total ? [[from, total]] : []
    return { group: group?.name ?? null, failingRow, ranges, leftOut: 0 }
  }
  const choice = { group: group?.name ?? null, failingRow }
  if (size <= most) return { ...choice, ranges: [[start, end]], leftOut: 0 }
  const endRows = Math.floor(most * partForEnd)
  const nearRows = most - endRows
  const near = firstNear(start, failing, nearRows)
  const isNearEnd = near + nearRows > end - endRows
  const ranges: Choice['ranges'] = isNearEnd
    ? [[end - most + 1, end]]
    : [
        [near, near + nearRows - 1],
        [end - endRows + 1, end],
      ]
  return { ...choice, ranges, leftOut: size - most }
}

/** The rows around the failing one, at most `most`. */
export function rowsAround(
  known: KnownRows & { failingRow: number },
  most: number,
): { from: number; to: number } {
  const { start, end } = sectionOf(known, known.failingRow)
  if (end < start) return { from: Math.max(known.first, end - most + 1), to: end }
  const near = firstNear(start, known.failingRow, most)
  const from = Math.max(start, Math.min(near, end - most + 1))
  return { from, to: Math.min(from + most - 1, end) }
}

const firstNear = (start: number, failing: number, most: number): number =>
  Math.max(start, failing - Math.floor(most * partBeforeFailing))

/** Without its header. */
function sectionOf({ groups, first, total }: KnownRows, failing: number) {
  const sections = groups.filter(({ name }) => opensSection(name))
  const index = sections.findLastIndex(({ row }) => row <= failing)
  const group = sections[index]
  const start = Math.max(first, (group?.row ?? 0) + 1)
  return { group, start, end: (sections[index + 1]?.row ?? total + 1) - 1 }
}
