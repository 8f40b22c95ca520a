import { showLabel } from './labels.ts'
import { useListKeys, useRowStops } from './list-keys.ts'
import { UpdateRowsButton } from './rows/UpdateRowsButton.tsx'
import { useFrozenRows } from './rows/use-frozen-rows.ts'
import { useMemo, type ReactNode } from 'react'
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
  /** Its rows come and go by themselves. They keep their places while somebody points at them. */
  isLive?: boolean
}

interface Keyed<Row> {
  key: string
  row: Row
}

/** A table that is read more than compared. */
export function Table<Row extends { id: string }>({
  label,
  rows: now,
  columns,
  renderAction,
  isLive = false,
}: Props<Row>) {
  useListKeys()
  const keyed = useMemo(() => now.map((row): Keyed<Row> => ({ key: row.id, row })), [now])
  const { rows, isOutdated, update, handlers } = useFrozenRows(keyed, label, same)
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
        <tbody {...(isLive ? handlers : {})}>
          {rows.map(({ key, row }) => (
            <tr key={key} data-list-row>
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
      {isOutdated && <UpdateRowsButton onUpdate={update} isOnScreen />}
    </div>
  )
}

/** What has left the list stays as it was. */
const same = <Row,>(row: Keyed<Row>) => row

const shown = (cell: ReactNode) => (typeof cell === 'string' ? showLabel(cell) : cell)
