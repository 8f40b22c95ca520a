import type { ReactNode } from 'react'
import styles from './ViewLinks.module.css'

/** Links between the pages or lists of one thing; the open one is underlined. */
export const ViewLinks = ({ label, children }: { label: string; children: ReactNode }) => (
  <nav aria-label={label} className={styles.links}>
    {children}
  </nav>
)
