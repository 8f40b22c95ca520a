import { Menu as Base, MenuButton, MenuItem, MenuProvider, MenuSeparator } from '@ariakit/react/menu'
import { Link } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'
import { Icon } from './Icon.tsx'
import type { IconName } from './icon-names.ts'
import styles from './Menu.module.css'

export type MenuEntry =
  | 'separator'
  | {
      label: string
      icon?: IconName
      /** The key that does the same. */
      keys?: string
      isDanger?: boolean
      isChecked?: boolean
      /** Why it cannot be chosen now. */
      disabledReason?: string
      action: (() => void) | { to: string } | { href: string }
    }

interface Props {
  label: string
  /** The content of the button. */
  children: ReactNode
  entries: readonly MenuEntry[]
  className?: string | undefined
}

export const Menu = ({ label, children, entries, className }: Props) => (
  <MenuProvider>
    <MenuButton aria-label={label} title={label} className={className ?? styles.button}>
      {children}
    </MenuButton>
    <Base gutter={4} portal unmountOnHide className={`card ${styles.menu}`}>
      {entries.map((entry, index) =>
        entry === 'separator' ? (
          // The order of a menu does not change while it is open.
          // oxlint-disable-next-line react/no-array-index-key
          <MenuSeparator key={index} className={styles.separator} />
        ) : (
          <Item key={entry.label} entry={entry} />
        ),
      )}
    </Base>
  </MenuProvider>
)

function Item({ entry }: { entry: Exclude<MenuEntry, 'separator'> }) {
  const { label, icon, keys, isDanger = false, isChecked, disabledReason, action } = entry
  const content = (
    <>
      {icon === undefined ? <span className={styles.space} /> : <Icon name={icon} />}
      <span className={`truncated ${styles.label}`}>{label}</span>
      {isChecked === true && <Icon name="check" label="chosen" />}
      {keys !== undefined && <kbd className={styles.keys}>{keys}</kbd>}
    </>
  )
  const common = {
    className: isDanger ? `${styles.item} ${styles.danger}` : styles.item,
    disabled: disabledReason !== undefined,
    accessibleWhenDisabled: true,
    ...(disabledReason === undefined ? {} : { title: disabledReason }),
  }
  if (typeof action === 'function')
    return (
      <MenuItem {...common} onClick={action}>
        {content}
      </MenuItem>
    )
  return (
    <MenuItem {...common} render={'to' in action ? <Link to={action.to} /> : <Anchor href={action.href} />}>
      {content}
    </MenuItem>
  )
}

const Anchor = ({ children, ...rest }: ComponentProps<'a'>) => <a {...rest}>{children}</a>
