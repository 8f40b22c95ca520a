import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Icon } from '../Icon.tsx'
import { showLabel } from '../labels.ts'
import { Menu } from '../Menu.tsx'
import { Page } from '../Page.tsx'
import { usePhone } from '../use-media.ts'
import styles from './SettingsLayout.module.css'

interface Props {
  /** What the settings are of. */
  of: string
  /** All pages of these settings that the person may open. */
  pages: ReadonlyArray<{ title: string; to: string }>
  title: string
  subtitle?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

/** The list of pages at the left, and one of them beside it. */
export const SettingsLayout = ({ of, pages, children, ...page }: Props) => {
  const isPhone = usePhone()
  const label = `Settings of ${showLabel(of)}`
  return (
    <div className={styles.columns}>
      {isPhone ? (
        <Menu
          label={label}
          className={styles.choice}
          entries={pages.map(({ title, to }) => ({
            label: title,
            isChecked: title === page.title,
            action: { to },
          }))}
        >
          Settings
          <Icon name="chevron-down" size={14} />
        </Menu>
      ) : (
        <nav aria-label={label} className={styles.list}>
          {pages.map(({ title, to }) => (
            <Link key={to} to={to} className={styles.link}>
              {title}
            </Link>
          ))}
        </nav>
      )}
      <Page {...page}>{children}</Page>
    </div>
  )
}
