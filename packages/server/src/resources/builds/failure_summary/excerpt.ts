// Makes the rows of a log that show why its job failed safe to show anywhere.
import { cutText, plainText } from '../log/screen/plain-text.ts'
import { openMarker } from '../log/failing-line/sections.ts'
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
