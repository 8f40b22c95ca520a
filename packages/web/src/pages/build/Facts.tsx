import type { ReactNode } from 'react'
import styles from './Facts.module.css'

/** Names and values, such as an environment. Those without a value are left out. */
export const Facts = ({
  facts,
  isCode = false,
}: {
  facts: ReadonlyArray<readonly [string, ReactNode]>
  isCode?: boolean
}) => (
  <dl className={isCode ? `${styles.facts} ${styles.code}` : styles.facts}>
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
