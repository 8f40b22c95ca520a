import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Page } from '../../parts/Page.tsx'
import styles from './MeLayout.module.css'

interface Props {
  title: string
  actions?: ReactNode
  children: ReactNode
}

/** The pages of a person, with links between them. */
export const MeLayout = ({ title, actions, children }: Props) => (
  <Page title={title} actions={actions}>
    <nav aria-label="Your account" className={styles.links}>
      <Link to="/-/me" activeOptions={{ exact: true }} className={styles.link}>
        Profile
      </Link>
      <Link to="/-/me/tokens" className={styles.link}>
        Access tokens
      </Link>
      <Link to="/-/me/programs" className={styles.link}>
        Connected programs
      </Link>
      <Link to="/-/me/sessions" className={styles.link}>
        Sessions
      </Link>
    </nav>
    {children}
  </Page>
)
