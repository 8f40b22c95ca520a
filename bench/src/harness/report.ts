export interface Report {
  name: string
  /** One object per row of the table, all with the same keys. */
  rows: Array<Record<string, string | number>>
  targets: Array<{ what: string; target: string; measured: string; met: boolean }>
}

export function printReport({ name, rows, targets }: Report): void {
  console.log(`\n${name}\n`)
  const columns = Object.keys(rows[0] ?? {})
  const cells = [columns, ...rows.map((row) => columns.map((column) => String(row[column])))]
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)))
  for (const line of cells)
    console.log(line.map((cell, index) => cell.padStart(widths[index] ?? 0)).join('  '))
  for (const { what, target, measured, met } of targets) {
    console.log(`${met ? 'met   ' : 'MISSED'}  ${what}: ${measured} (target ${target})`)
  }
}

/** A row of a table with different kinds of measurements. */
export const row = (what: string, measured: string, more = ''): Report['rows'][number] => ({
  what,
  measured,
  more,
})
