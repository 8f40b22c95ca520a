// Makes the rows of a log that show why its job failed safe to show anywhere.
import { stripVTControlCharacters } from 'node:util'
import { openMarker } from '../log/rows/outline.ts'
import { textOf, type Row } from '../log/screen/row.ts'

interface ShownRow {
  /** null: the log was not read from a point whose row number is known. */
  row: number | null
  text: string
  /** The text in its styles. */
  runs: ShownRun[]
}

type ShownRun = string | [text: string, style: string]

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

export interface ReadRow {
  row: number | null
  content: Row
}

/** Together they are `text`, which is what is shown of the row. */
function runsOf({ runs }: Row, text: string): ShownRun[] {
  let at = 0
  const shown = runs.map((run, index): ShownRun => {
    const isLast = index === runs.length - 1
    const part = text.slice(at, isLast ? undefined : at + plainText(run.text).length)
    at += part.length
    return run.style === '' ? part : [part, run.style]
  })
  return shown.filter((run) => run !== '' && run[0] !== '')
}

const mostRowCharacters = 500
/** Leaves out the marks of agents, and empty rows at both ends. */
export function presentRows(rows: readonly ReadRow[]): { rows: ShownRow[]; cutTexts: number } {
  const plain = rows
    .map(({ row, content }) => ({ row, content, text: plainText(textOf(content)).trimEnd() }))
    .filter(({ text }) => !openMarker.test(text))
  const first = plain.findIndex(({ text }) => text !== '')
  const last = plain.findLastIndex(({ text }) => text !== '')
  const shown = first === -1 ? [] : plain.slice(first, last + 1)
  return {
    rows: shown.map(({ row, content, text: whole }) => {
      const text = cutText(whole, mostRowCharacters)
      return { row, text, runs: runsOf(content, text) }
    }),
    cutTexts: shown.filter(({ text }) => text.length > mostRowCharacters).length,
  }
}
