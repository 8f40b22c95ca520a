import { Icon } from '../../parts/Icon.tsx'
import type { JobSort, SortColumn } from '../jobs/sort-jobs.ts'
import styles from './Table.module.css'

const COLUMNS: ReadonlyArray<{ name: string; column: SortColumn | null; className?: string | undefined }> = [
  { name: 'State', column: 'state' },
  { name: 'Name', column: 'name' },
  { name: 'Result', column: null, className: styles.wide },
  { name: 'After', column: null, className: styles.widest },
  { name: 'Duration', column: 'duration', className: styles.right },
  { name: 'Wait', column: 'wait', className: `${styles.right} ${styles.wide}` },
  { name: 'Agent', column: 'agent', className: styles.wide },
]

interface Props {
  sort: JobSort
  onSort: (sort: JobSort) => void
}

export const TableHead = ({ sort, onSort }: Props) => (
  <div role="rowgroup" className={styles.head}>
    <div role="row" aria-rowindex={1} className={styles.cells}>
      {COLUMNS.map(({ name, column, className }) => {
        const isSorted = column === sort.column
        const next = { column: column ?? 'state', isDescending: isSorted && !sort.isDescending }
        return (
          <span
            key={name}
            role="columnheader"
            className={className}
            {...(isSorted ? { 'aria-sort': sort.isDescending ? 'descending' : 'ascending' } : {})}
          >
            {column === null ? (
              name
            ) : (
              <button type="button" className={styles.sort} onClick={() => onSort(next)}>
                {name}
                {isSorted && <Icon name={sort.isDescending ? 'arrow-down' : 'arrow-up'} size={12} />}
              </button>
            )}
          </span>
        )
      })}
    </div>
  </div>
)
