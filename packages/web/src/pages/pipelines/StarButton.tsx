import { useWritesOff } from '../../api/reachable.ts'
import { Icon } from '../../parts/Icon.tsx'
import styles from './StarButton.module.css'

interface Props {
  name: string
  isStarred: boolean
  /** In a list, the arrow keys lead to it. */
  isTabStop?: boolean
  onStar: (isStarred: boolean) => void
}

/** Marks a pipeline as a favourite, which come first in the list. */
export function StarButton({ name, isStarred, isTabStop = true, onStar }: Props) {
  const off = useWritesOff()
  return (
    <button
      type="button"
      className={isStarred ? `${styles.star} ${styles.starred}` : styles.star}
      aria-pressed={isStarred}
      aria-label={`Favourite ${name}`}
      title={off ?? (isStarred ? 'No favourite any more' : 'Make it a favourite, which come first')}
      tabIndex={isTabStop ? 0 : -1}
      disabled={off !== undefined}
      onClick={() => onStar(!isStarred)}
    >
      <Icon name="star" />
    </button>
  )
}
