// Chooses the rows of a log that show why its job failed, and makes them plain text.
import { stripVTControlCharacters } from 'node:util'
import { openMarker, type Group } from '../log/rows/outline.ts'

export interface ShownRow {
  /** null: the log was not read from a point whose row number is known. */
  row: number | null
  text: string
}

export interface Excerpt {
  group: string | null
  failing_row: number | null
  total_rows: number | null
  rows: ShownRow[]
  /** Rows of the group that are not in `rows`. */
  leftOut: number
  /** Rows that were cut. */
  cutTexts: number
}

interface KnownRows {
  groups: readonly Group[]
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
  const index = known.groups.findLastIndex(({ row }) => row <= failing)
  const group = known.groups[index]
  const start = Math.max(first, (group?.row ?? 0) + 1)
  const end = (known.groups[index + 1]?.row ?? total + 1) - 1
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
  const near = Math.max(start, failing - Math.floor(nearRows * partBeforeFailing))
  const isNearEnd = near + nearRows > end - endRows
  const ranges: Choice['ranges'] = isNearEnd
    ? [[end - most + 1, end]]
    : [
        [near, near + nearRows - 1],
        [end - endRows + 1, end],
      ]
  return { ...choice, ranges, leftOut: size - most }
}

/** Control characters outside of sequences, halves of characters, and what changes the direction of text or is invisible. */
const hidden =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}\p{Cs}]/gu

/** Text of programs, as it may be shown anywhere: in a terminal, in a page, to a language model. */
export const plainText = (text: string): string => stripVTControlCharacters(text).replace(hidden, '')

/** At most `most` characters; a cut text ends with an ellipsis. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  const end = most - 1
  const last = text.charCodeAt(end - 1)
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end)}…`
}

const mostRowCharacters = 500
/** Leaves out the marks of agents, and empty rows at both ends. */
export function presentRows(rows: readonly ShownRow[]): { rows: ShownRow[]; cutTexts: number } {
  const plain = rows
    .map(({ row, text }) => ({ row, text: plainText(text).trimEnd() }))
    .filter(({ text }) => !openMarker.test(text))
  const first = plain.findIndex(({ text }) => text !== '')
  const last = plain.findLastIndex(({ text }) => text !== '')
  const shown = first === -1 ? [] : plain.slice(first, last + 1)
  return {
    rows: shown.map(({ row, text }) => ({ row, text: cutText(text, mostRowCharacters) })),
    cutTexts: shown.filter(({ text }) => text.length > mostRowCharacters).length,
  }
}
