import type { ReactNode } from 'react'
import styles from './SectionHead.module.css'

/** The heading of a part of a page, with its actions. */
export const SectionHead = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className={styles.head}>
    <h2>{title}</h2>
    {children}
  </div>
)
