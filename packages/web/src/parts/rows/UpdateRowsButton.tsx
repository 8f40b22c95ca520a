import { Button } from '../Button.tsx'
import styles from './UpdateRowsButton.module.css'

/** A list keeps its order while somebody points at it. This shows the new order. */
export const UpdateRowsButton = ({ onUpdate }: { onUpdate: () => void }) => (
  <Button className={styles.update} icon="refresh-cw" onClick={onUpdate}>
    The list has changed · Update
  </Button>
)
