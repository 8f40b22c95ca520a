import { Checkbox } from '../../parts/Field.tsx'
import styles from './Waterfall.module.css'

interface Props {
  isFailedFirst: boolean
  onFailedFirst: (isFailedFirst: boolean) => void
}

export const WaterfallLegend = ({ isFailedFirst, onFailedFirst }: Props) => (
  <span className={styles.legend}>
    <span className={styles.key} data-span="waiting">
      waiting
    </span>
    <span className={styles.key} data-span="queued">
      queued
    </span>
    <span className={styles.key} data-span="running">
      running
    </span>
    <Checkbox label="Failed first" checked={isFailedFirst} onCheck={onFailedFirst} />
  </span>
)
