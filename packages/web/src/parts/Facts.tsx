import type { ReactNode } from 'react'
import styles from './Facts.module.css'

interface Props {
  facts: ReadonlyArray<readonly [string, ReactNode]>
  isCode?: boolean
  /** With a border of its own, where no panel stands around it. */
  isFramed?: boolean
}

/** Names and values, one a line. Those without a value are left out. */
export const Facts = ({ facts, isCode = false, isFramed = false }: Props) => (
  <dl
    className={[styles.facts, isCode && styles.code, isFramed && `card ${styles.framed}`]
      .filter(Boolean)
      .join(' ')}
  >
    {facts.map(
      ([name, value]) =>
        value !== null &&
        value !== undefined && (
          <div key={name} className={styles.fact}>
            <dt className={styles.name}>{name}</dt>
            <dd className={styles.value}>{value}</dd>
          </div>
        ),
    )}
  </dl>
)
