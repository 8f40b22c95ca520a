import type { IconName } from '../icon-names.ts'

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

/** Where the focus is once the menu is open: a mouse leaves it on the menu, keys begin at an entry. */
export type MenuFocus = 'container' | 'first' | 'last'
