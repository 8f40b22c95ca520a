// Tables that fit the terminal. Into a pipe they are written whole.
import { stripVTControlCharacters } from 'node:util'
import type { Style } from './style.ts'
import { oneLine, shortened, widthOf } from './text.ts'

export interface Column<Row> {
  title: string
  /** Text of the server; it is made one line without control characters. */
  text?: (row: Row) => string | number | null
  /** Text of ours, which may have colors. It is never shortened. */
  styled?: (row: Row) => string
  /** Numbers stand at the right. */
  align?: 'right'
  /** May become this narrow. Columns without it keep their width. */
  least?: number
}

const GAP = 2

interface TableOptions {
  style: Style
  /** The terminal's, unless it is given. */
  width?: number
}

export function renderTable<Row>(
  columns: ReadonlyArray<Column<Row>>,
  rows: readonly Row[],
  { style, width = terminalWidth() }: TableOptions,
): string {
  const cells = rows.map((row) => columns.map((column) => cellOf(column, row)))
  const widths = columns.map(({ title }, index) =>
    Math.max(widthOf(title), ...cells.map((line) => plainWidth(line[index] ?? ''))),
  )
  shrink(columns, widths, width)
  const head = layOut(
    columns,
    widths,
    columns.map(({ title }) => title.toUpperCase()),
  )
  return [style.bold(head), ...cells.map((line) => layOut(columns, widths, line))].join('\n')
}

/** Some terminals do not know their width and say 0. */
function terminalWidth(): number {
  return (process.stdout.isTTY && process.stdout.columns) || Infinity
}

function cellOf<Row>({ text, styled }: Column<Row>, row: Row): string {
  if (styled !== undefined) return styled(row)
  const value = text?.(row) ?? null
  return value === null ? '-' : oneLine(String(value))
}

const plainWidth = (cell: string) => widthOf(stripVTControlCharacters(cell))

/** Takes from the widest column that may shrink, until the line fits. */
function shrink<Row>(columns: ReadonlyArray<Column<Row>>, widths: number[], most: number): void {
  const total = () => widths.reduce((sum, each) => sum + each, GAP * (widths.length - 1))
  while (total() > most) {
    let widest = -1
    for (const [index, { least }] of columns.entries()) {
      const width = widths[index] ?? 0
      if (least !== undefined && width > least && width > (widths[widest] ?? 0)) widest = index
    }
    if (widest === -1) return
    widths[widest] = (widths[widest] ?? 0) - 1
  }
}

function layOut<Row>(
  columns: ReadonlyArray<Column<Row>>,
  widths: readonly number[],
  line: readonly string[],
): string {
  const parts = columns.map(({ align, styled }, index) => {
    const width = widths[index] ?? 0
    const cell = line[index] ?? ''
    const shown = styled === undefined ? shortened(cell, width) : cell
    const padding = ' '.repeat(Math.max(0, width - plainWidth(shown)))
    return align === 'right' ? `${padding}${shown}` : `${shown}${padding}`
  })
  return parts.join(' '.repeat(GAP)).trimEnd()
}
