import { Button } from '../../parts/Button.tsx'
import styles from './Rows.module.css'

/** Says that a list keeps its order because somebody points at it. */
export const HeldRows = ({ onRelease }: { onRelease: () => void }) => (
  <Button className={styles.held} icon="refresh-cw" onClick={onRelease}>
    The list has changed · Update
  </Button>
)
