// Makes the rows of a log that show why its job failed plain text.
import { stripVTControlCharacters } from 'node:util'
import { openMarker } from '../log/rows/outline.ts'

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
