import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Page } from '../../parts/Page.tsx'
import { ViewLinks } from '../../parts/views/ViewLinks.tsx'

interface Props {
  title: string
  actions?: ReactNode
  children: ReactNode
}

/** The pages of a person, with links between them. */
export const MeLayout = ({ title, actions, children }: Props) => (
  <Page title={title} actions={actions}>
    <ViewLinks label="Your account">
      <Link to="/-/me" activeOptions={{ exact: true }}>
        Profile
      </Link>
      <Link to="/-/me/tokens">Access tokens</Link>
      <Link to="/-/me/programs">Connected programs</Link>
      <Link to="/-/me/sessions">Sessions</Link>
    </ViewLinks>
    {children}
  </Page>
)
