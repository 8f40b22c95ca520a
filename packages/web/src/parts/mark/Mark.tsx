import { showLabel } from '../labels.ts'
import styles from './Mark.module.css'

interface Props {
  /** In colon syntax. */
  emoji: string | null
  color: string | null
}

/** The emoji of a pipeline or a cluster, on its colour. Nothing where neither was set. */
export const Mark = ({ emoji, color }: Props) =>
  emoji === null && color === null ? null : (
    <span
      className={styles.mark}
      {...(color === null ? {} : { style: { background: color } })}
      aria-hidden="true"
    >
      {emoji === null ? '' : showLabel(emoji)}
    </span>
  )
