import { Link, useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Icon } from '../Icon.tsx'
import { showLabel } from '../labels.ts'
import { Menu } from '../Menu.tsx'
import { Page } from '../Page.tsx'
import { usePhone } from '../use-media.ts'
import styles from './SettingsLayout.module.css'

interface Entry {
  title: string
  to: string
  /** Addresses below this one belong to other entries. */
  isExact?: boolean
}

interface Props {
  /** What the settings are of. */
  of: string
  /** What the list has, where it is more than settings. */
  kind?: string
  /** All pages of these settings that the person may open. */
  pages: readonly Entry[]
  title: string
  /** Beside the title. */
  before?: ReactNode
  subtitle?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

/** The list of pages at the left, and one of them beside it. */
export const SettingsLayout = ({ of, kind = 'Settings', pages, children, ...page }: Props) => {
  const isPhone = usePhone()
  const { pathname } = useLocation()
  const label = `${kind} of ${showLabel(of)}`
  return (
    <div className={styles.columns}>
      {isPhone ? (
        <Menu
          label={label}
          className={styles.choice}
          entries={pages.map((entry) => ({
            label: entry.title,
            isChecked: holds(entry, pathname),
            action: { to: entry.to },
          }))}
        >
          <span className="truncated">{label}</span>
          <Icon name="chevron-down" size={14} />
        </Menu>
      ) : (
        <nav aria-label={label} className={styles.list}>
          {pages.map(({ title, to, isExact = false }) => (
            <Link key={to} to={to} activeOptions={{ exact: isExact }} className={styles.link}>
              {title}
            </Link>
          ))}
        </nav>
      )}
      <Page {...page}>{children}</Page>
    </div>
  )
}

const holds = ({ to, isExact = false }: Entry, pathname: string) =>
  pathname === to || (!isExact && pathname.startsWith(`${to}/`))
