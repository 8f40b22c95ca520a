import { Icon } from '../parts/Icon.tsx'
import type { Mark } from './check.ts'
import styles from './Problems.module.css'

/** The marks of the editor as a list, which also a screen reader finds. */
export const Problems = ({ marks }: { marks: readonly Mark[] }) => (
  <ul className={styles.list} aria-live="polite" aria-label="Problems">
    {marks.map(({ line, column, severity, text }) => (
      <li key={`${line}:${column} ${text}`} className={styles[severity]}>
        <Icon name={severity === 'error' ? 'circle-x' : 'triangle-alert'} size={14} label={severity} />
        <span>{text}</span>
      </li>
    ))}
  </ul>
)
