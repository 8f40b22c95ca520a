import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { SettingsLayout } from '../../parts/settings/SettingsLayout.tsx'
import { Denied, NotLoaded } from '../../parts/States.tsx'
import { organizationQuery } from '../../shell/queries.ts'
import { openSettings, settingsPages, settingsPath, type SettingsName } from '../../shell/settings-pages.ts'

interface Props {
  org: string
  name: SettingsName
  /** Instead of the title of the settings page, for a page below it. */
  title?: string
  subtitle?: ReactNode
  actions?: ReactNode
  /** Loads nothing before it is rendered, so nothing is asked for those who may not see it. */
  children: ReactNode
}

/** A page of the organization's settings. Whoever may not open it reads who may. */
export function OrganizationSettings({ org, name, title, subtitle, actions, children }: Props) {
  const organization = useQuery(organizationQuery(org))
  const may = organization.data?.viewer?.may
  const page = settingsPages.find((each) => each.name === name)
  if (organization.data === undefined || may === undefined || page === undefined)
    return <NotLoaded query={organization} />
  const isOpen = page.isOpenTo(may)
  return (
    <SettingsLayout
      of={organization.data.name}
      pages={openSettings(may).map((each) => ({ title: each.title, to: settingsPath(org, each.name) }))}
      title={title ?? page.title}
      subtitle={isOpen ? subtitle : undefined}
      actions={isOpen ? actions : undefined}
    >
      {isOpen ? (
        children
      ) : (
        <Denied>{page.refusal} An administrator of the organization can give you the right.</Denied>
      )}
    </SettingsLayout>
  )
}
