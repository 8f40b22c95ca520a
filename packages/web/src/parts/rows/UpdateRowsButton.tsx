import { Button } from '../Button.tsx'
import styles from './UpdateRowsButton.module.css'

interface Props {
  onUpdate: () => void
  /** The list may be longer than the screen, and has no scrollbar of its own. */
  isOnScreen?: boolean
}

/** A list keeps its order while somebody points at it. This shows the new order. */
export const UpdateRowsButton = ({ onUpdate, isOnScreen = false }: Props) => (
  <Button
    className={`${styles.update} ${isOnScreen ? styles.onScreen : ''}`}
    icon="refresh-cw"
    onClick={onUpdate}
  >
    The list has changed · Update
  </Button>
)
