import { Icon } from '../../parts/Icon.tsx'
import type { Order } from './choose.ts'
import styles from './PipelineList.module.css'

interface Props {
  order: Order
  onOrder: (order: Order) => void
}

/** The names of the columns, which order the list. A phone has no columns. */
export function PipelineHeadings({ order, onOrder }: Props) {
  const sorts = (by: Order, text: string, title: string) => (
    <button
      type="button"
      className={styles.sort}
      aria-pressed={order === by}
      title={title}
      onClick={() => onOrder(by)}
    >
      {text}
      {order === by && <Icon name="arrow-down" size={12} />}
    </button>
  )
  return (
    <div className={`${styles.row} ${styles.headings}`} role="group" aria-label="Order of the list">
      <span />
      <span />
      {sorts('name', 'Pipeline', 'Order by name, favourites first')}
      <span className={styles.right} title="The last 30 builds: height is duration, colour is state">
        Last builds
      </span>
      <span className={styles.right}>
        {sorts(
          'speed',
          'Median',
          'Half of the passed builds of 30 days took less. Order by it, slowest first',
        )}
      </span>
      <span className={styles.right} title="Of the builds of 30 days that passed or failed">
        Reliability
      </span>
      <span className={styles.right}>
        {sorts('last', 'Last build', 'Order by the last build, newest first')}
      </span>
    </div>
  )
}
