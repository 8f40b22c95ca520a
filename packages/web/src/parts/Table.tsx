import { showLabel } from './labels.ts'
import { useListKeys, useRowStops } from './list-keys.ts'
import type { ReactNode } from 'react'
import styles from './Table.module.css'

export interface Column<Row> {
  head: string
  render: (row: Row) => ReactNode
  /** Shown when the pointer rests on the cell. */
  titleOf?: (row: Row) => string | undefined
  look?: keyof typeof looks
}

/** A phone shows what is optional or an aside below the rest. */
const looks = {
  muted: 'muted',
  optional: styles.optional,
  aside: `${styles.optional} muted`,
  number: `${styles.right} muted`,
  'aside-number': `${styles.optional} ${styles.right} muted`,
}

interface Props<Row> {
  label: string
  rows: readonly Row[]
  columns: ReadonlyArray<Column<Row>>
  /** The button at the end of a row. */
  renderAction?: (row: Row) => ReactNode
}

/** A table that is read more than compared. */
export function Table<Row extends { id: string }>({ label, rows, columns, renderAction }: Props<Row>) {
  useListKeys()
  const rowStops = useRowStops<HTMLTableElement>()
  return (
    <div className={`card ${styles.scroll}`}>
      <table ref={rowStops} className={styles.table} aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ head, look }) => (
              <th key={head} className={look && looks[look]}>
                {head}
              </th>
            ))}
            {renderAction !== undefined && (
              <th>
                <span className="visually-hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} data-list-row>
              {columns.map(({ head, render, titleOf, look }) => (
                <td
                  key={head}
                  data-label={head}
                  className={look && looks[look]}
                  title={titleOf && showLabel(titleOf(row) ?? '')}
                >
                  {shown(render(row))}
                </td>
              ))}
              {renderAction !== undefined && <td className={styles.action}>{renderAction(row)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const shown = (cell: ReactNode) => (typeof cell === 'string' ? showLabel(cell) : cell)
