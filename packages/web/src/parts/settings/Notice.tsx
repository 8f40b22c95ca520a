import type { ReactNode } from 'react'
import styles from './Notice.module.css'

/** What is to be known before the rest of the page, and one action. */
export const Notice = ({ children, action }: { children: ReactNode; action?: ReactNode }) => (
  <div className={`card ${styles.notice}`}>
    <p className={styles.text}>{children}</p>
    {action}
  </div>
)
