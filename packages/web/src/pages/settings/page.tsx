// The settings lead to the first of their pages that the person may open.
import { useQuery } from '@tanstack/react-query'
import { Navigate, useParams } from '@tanstack/react-router'
import { Denied, NotLoaded } from '../../parts/States.tsx'
import { organizationQuery } from '../../shell/queries.ts'
import { openSettings, settingsPath } from '../../shell/settings-pages.ts'

export function SettingsStartPage() {
  const { org } = useParams({ from: '/organizations/$org/settings' })
  const organization = useQuery(organizationQuery(org))
  const may = organization.data?.viewer?.may
  if (may === undefined) return <NotLoaded query={organization} />
  const [first] = openSettings(may)
  if (first === undefined)
    return (
      <Denied>
        The settings need more rights than you have. An administrator of the organization can give you the
        right.
      </Denied>
    )
  return <Navigate to={settingsPath(org, first.name)} replace />
}
