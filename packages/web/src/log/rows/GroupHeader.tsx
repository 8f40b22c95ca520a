import { showLabel } from '../../parts/labels.ts'
import { memo } from 'react'
import { Icon } from '../../parts/Icon.tsx'
import { formatSeconds } from './times.ts'
import type { Group } from '../model/groups.ts'
import { RowNumber, type OnNumber } from './RowNumber.tsx'
import styles from './Row.module.css'

interface Props {
  group: Group
  rows: number
  isOpen: boolean
  isSticky?: boolean
  mark: 'none' | 'selected' | 'failing'
  href: string
  onNumber: OnNumber
  onToggle: (group: Group) => void
}

/** The row that begins a group. It opens and closes it. */
export const GroupHeader = memo(
  ({ group, rows, isOpen, isSticky = false, mark, href, onNumber, onToggle }: Props) => (
    <div
      className={`${styles.row} ${styles.header} ${styles[mark] ?? ''}`}
      data-row={group.row}
      data-mark={mark}
    >
      <RowNumber number={group.row} href={href} onNumber={onNumber} />
      <button
        type="button"
        className={`${styles.toggle} ${group.kind === '~~~' ? styles.quiet : ''}`}
        aria-expanded={isOpen}
        tabIndex={isSticky ? -1 : 0}
        onClick={() => onToggle(group)}
      >
        <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} size={14} />
        <span className={styles.name} data-text>
          {showLabel(group.name)}
        </span>
        <span className={styles.fact}>
          {group.durationMs === null ? '' : formatSeconds(group.durationMs)}
        </span>
        <span className={styles.count}>
          {rows.toLocaleString()} {rows === 1 ? 'row' : 'rows'}
        </span>
      </button>
    </div>
  ),
)
