// Rows of logs as the server sends them, for terminals and for pipes.
import { printable, readable } from './text.ts'

/** `[time, run, …]`. A run is its text, `[text, style]` or `[text, style, link]`. See `LogRows` in the OpenAPI document. */
export type Row = readonly unknown[]

interface Run {
  text: string
  /** Words such as `fg1 bold`. */
  style: string
}

function runsOf([, ...runs]: Row, show = printable): Run[] {
  return runs.map((run) => {
    const [, style] = Array.isArray(run) ? (run as unknown[]) : [run]
    // A row is one line, so nothing in it breaks lines.
    return { text: show(textOf(run)).replaceAll('\n', '␊'), style: typeof style === 'string' ? style : '' }
  })
}

function textOf(run: unknown): string {
  const [text] = Array.isArray(run) ? (run as unknown[]) : [run]
  return typeof text === 'string' ? text : ''
}

/** A row that begins a group. */
export const isHeading = (text: string): boolean => /^(?:---|\+\+\+|~~~) /.test(text)

/** Opens the group that it stands in, on pages. It says nothing to a reader. */
export const isMarker = (row: Row): boolean => textOfRow(row).startsWith('^^^ +++')

export function textOfRow(row: Row): string {
  return joined(runsOf(row))
}

/** For people: with emoji in the name of a group, which a person wrote. */
export const plainRow = (row: Row): string => joined(shownRuns(row))

const shownRuns = (row: Row): Run[] => runsOf(row, isHeading(textOfRow(row)) ? readable : printable)

const joined = (runs: readonly Run[]): string => runs.map(({ text }) => text).join('')

/** With the colors of the log. */
export function styledRow(row: Row): string {
  return shownRuns(row)
    .map(({ text, style }) => {
      const codes = style.split(' ').flatMap(codesOf)
      return codes.length === 0 ? text : `\u001b[${codes.join(';')}m${text}\u001b[0m`
    })
    .join('')
}

const FLAGS: Readonly<Record<string, number>> = {
  bold: 1,
  dim: 2,
  italic: 3,
  underline: 4,
  inverse: 7,
  strike: 9,
}

/** Unknown words have no codes, so a style can only color. */
function codesOf(word: string): Array<number | string> {
  const flag = FLAGS[word]
  if (flag !== undefined) return [flag]
  const [, layer, number, red = '', green = '', blue = ''] =
    /^(fg|bg)(?:(\d{1,2})|#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2}))$/.exec(word) ?? []
  if (layer === undefined) return []
  const base = layer === 'fg' ? 30 : 40
  if (number === undefined) {
    return [`${base + 8};2;${[red, green, blue].map((part) => Number.parseInt(part, 16)).join(';')}`]
  }
  const color = Number(number)
  if (color > 15) return []
  return [color < 8 ? base + color : base + 60 + color - 8]
}
