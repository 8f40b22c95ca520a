import { useId, useState, type KeyboardEvent, type ReactNode } from 'react'
import type { MenuEntry, MenuFocus } from './menu/entry.ts'
import type { MenuList } from './menu/MenuList.tsx'
import { rowSelector } from './list-keys.ts'
import { showToast } from './toasts/toasts.ts'
import styles from './Menu.module.css'

interface Props {
  label: string
  /** The content of the button. */
  children: ReactNode
  entries: readonly MenuEntry[]
  className?: string | undefined
}

/** Every page has menus and most visits open none, so what an open menu needs is a file of its own. */
export const loadMenuList = () => import('./menu/MenuList.tsx')

/** A button that opens a menu. The list is loaded when somebody points at the button or reaches it with a key. */
export function Menu({ label, children, entries, className }: Props) {
  const id = useId()
  const [button, setButton] = useState<HTMLButtonElement | null>(null)
  const [isOpen, setOpen] = useState(false)
  const [focus, setFocus] = useState<MenuFocus>('container')
  const [List, setList] = useState<typeof MenuList | null>(null)
  const load = async () => {
    const module = await loadMenuList()
    setList(() => module.MenuList)
  }
  const open = (at: MenuFocus) => {
    setFocus(at)
    setOpen(true)
    if (List !== null) return
    load().catch(() => {
      setOpen(false)
      showToast('The menu could not be loaded. Load the page anew once the server can be reached.', {
        tone: 'failed',
      })
    })
  }
  // Without the server it is tried again at the click, which says so.
  const prepare = () => void loadMenuList().catch(() => undefined)
  const openWithArrow = (event: KeyboardEvent<HTMLButtonElement>) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    // There the arrows lead to the other rows.
    if (event.currentTarget.closest(rowSelector) !== null) return
    event.preventDefault()
    open(event.key === 'ArrowDown' ? 'first' : 'last')
  }
  return (
    <>
      <button
        ref={setButton}
        type="button"
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        {...(isOpen && List !== null ? { 'aria-controls': id } : {})}
        className={className ?? styles.button}
        onPointerEnter={prepare}
        onFocus={prepare}
        onKeyDown={openWithArrow}
        // The click of a key has no detail.
        onClick={({ detail }) => (isOpen ? setOpen(false) : open(detail === 0 ? 'first' : 'container'))}
      >
        {children}
      </button>
      {List !== null && button !== null && (
        <List
          id={id}
          label={label}
          button={button}
          isOpen={isOpen}
          focus={focus}
          onOpenChange={setOpen}
          entries={entries}
        />
      )}
    </>
  )
}
