import { showText } from './pager.ts'
import { openStyle, type Style } from './style.ts'
import { renderTable, type Column } from './table.ts'

interface Options {
  json?: true
  color: boolean
}

/** Prints rows as a table, or the whole responses as JSON. `nothing` is printed if there are no rows. */
export async function showRows<Row>(
  options: Options,
  rows: readonly Row[],
  nothing: string,
  columns: (style: Style) => ReadonlyArray<Column<Row>>,
): Promise<void> {
  if (options.json) {
    console.log(JSON.stringify(rows))
    return
  }
  if (rows.length === 0) {
    console.error(nothing)
    return
  }
  const style = openStyle(options)
  await showText(renderTable(columns(style), rows, { style }))
}
