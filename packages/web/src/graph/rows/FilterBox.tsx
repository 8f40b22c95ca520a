import type { ReactNode, RefObject } from 'react'
import { Icon } from '../../parts/Icon.tsx'
import styles from './FilterBox.module.css'

interface Props {
  input: RefObject<HTMLInputElement | null>
  filter: string
  onFilter: (filter: string) => void
  shown: number
  total: number
  children?: ReactNode
}

export const FilterBox = ({ input, filter, onFilter, shown, total, children }: Props) => (
  <div className={styles.bar}>
    <label className={`icon-input ${styles.box}`}>
      <Icon name="search" size={14} />
      <input
        ref={input}
        type="search"
        value={filter}
        placeholder="Filter jobs…  /"
        aria-label="Filter jobs by name, state, agent or reason"
        onChange={(event) => onFilter(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && filter !== '') onFilter('')
        }}
      />
    </label>
    <span className={`muted ${styles.count}`} role="status">
      {shown === total
        ? `${total.toLocaleString()} jobs`
        : `${shown.toLocaleString()} of ${total.toLocaleString()} jobs`}
    </span>
    {children}
  </div>
)
