import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Icon } from '../parts/Icon.tsx'
import type { MenuEntry } from '../parts/menu/entry.ts'
import { Menu } from '../parts/Menu.tsx'
import { userQuery } from './queries.ts'
import { signOut } from './sign-out.ts'
import { readTheme, setTheme, type Theme } from './theme.ts'
import styles from './UserMenu.module.css'

const themes: ReadonlyArray<{ theme: Theme; label: string; icon: 'monitor' | 'sun' | 'moon' }> = [
  { theme: 'system', label: 'Theme of the system', icon: 'monitor' },
  { theme: 'light', label: 'Light', icon: 'sun' },
  { theme: 'dark', label: 'Dark', icon: 'moon' },
]

export function UserMenu() {
  const { data: user } = useQuery(userQuery())
  const [theme, remember] = useState(readTheme)
  const entries: MenuEntry[] = [
    { label: user?.name ?? 'You', icon: 'user', action: { to: '/-/me' } },
    { label: 'Access tokens', icon: 'key', action: { to: '/-/me/tokens' } },
    { label: 'Sessions', icon: 'monitor', action: { to: '/-/me/sessions' } },
    ...(user?.viewer?.may.see_installation === true
      ? [{ label: 'Installation', icon: 'server' as const, action: { to: '/-/installation' } }]
      : []),
    { label: 'API documentation', icon: 'file-text', action: { href: '/docs' } },
    'separator',
    ...themes.map(({ theme: each, label, icon }) => ({
      label,
      icon,
      isChecked: theme === each,
      action: () => {
        setTheme(each)
        remember(each)
      },
    })),
    'separator',
    { label: 'Sign out', icon: 'log-out', action: () => void signOut() },
  ]
  return (
    <Menu label="You and the settings of this browser" entries={entries} className={styles.button}>
      {user === undefined ? <Icon name="user" /> : initials(user.name)}
    </Menu>
  )
}

const initials = (name: string) =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join('')
