import sprite from '../icons.svg?url'
import type { IconName } from './icon-names.ts'
import styles from './Icon.module.css'

interface Props {
  name: IconName
  /** Read aloud. Without it the icon is decoration beside a word. */
  label?: string
  /** In pixels. */
  size?: 12 | 14 | 16 | 20 | 24
  isTurning?: boolean
}

export const Icon = ({ name, label, size = 16, isTurning = false }: Props) => (
  <svg
    className={isTurning ? `${styles.icon} ${styles.turning}` : styles.icon}
    width={size}
    height={size}
    {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
  >
    <use href={`${sprite}#${name}`} />
  </svg>
)
