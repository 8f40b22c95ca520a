import type { MouseEvent } from 'react'
import styles from './Row.module.css'

export type OnNumber = (number: number, isExtending: boolean) => void

/** Links to its row. A plain click selects the row without leaving the page, with shift the rows up to it. */
export function RowNumber({ number, href, onNumber }: { number: number; href: string; onNumber: OnNumber }) {
  const onClick = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey) return
    event.preventDefault()
    onNumber(number, event.shiftKey)
  }
  return (
    <a className={styles.number} href={href} aria-label={`Row ${number}`} tabIndex={-1} onClick={onClick}>
      {number}
    </a>
  )
}
