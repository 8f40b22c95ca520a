import { Menu as Base, MenuItem, MenuSeparator, useMenuStore } from '@ariakit/react/menu'
import { Link } from '@tanstack/react-router'
import { useLayoutEffect, type ComponentProps } from 'react'
import { Icon } from '../Icon.tsx'
import type { MenuEntry, MenuFocus } from './entry.ts'
import styles from '../Menu.module.css'

interface Props {
  id: string
  label: string
  /** The button that opened it. */
  button: HTMLButtonElement
  isOpen: boolean
  focus: MenuFocus
  onOpenChange: (isOpen: boolean) => void
  entries: readonly MenuEntry[]
}

export function MenuList({ id, label, button, isOpen, focus, onOpenChange, entries }: Props) {
  const menu = useMenuStore({ open: isOpen, setOpen: onOpenChange })
  useLayoutEffect(() => {
    menu.setDisclosureElement(button)
    menu.setAnchorElement(button)
    if (!isOpen) return
    menu.setAutoFocusOnShow(true)
    menu.setInitialFocus(focus)
  }, [menu, button, isOpen, focus])
  return (
    <Base
      store={menu}
      id={id}
      aria-label={label}
      gutter={4}
      portal
      unmountOnHide
      className={`card ${styles.menu}`}
    >
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
  )
}

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
