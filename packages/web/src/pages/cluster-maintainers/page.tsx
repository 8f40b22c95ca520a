import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ClusterLayout } from '../cluster/ClusterLayout.tsx'
import { organizationQuery } from '../../shell/queries.ts'
import { Maintainers } from './Maintainers.tsx'

export function ClusterMaintainersPage() {
  const address = useParams({ from: '/organizations/$org/clusters/$cluster/maintainers' })
  const { data: organization } = useQuery(organizationQuery(address.org))
  return (
    <ClusterLayout
      address={address}
      name="maintainers"
      subtitle="They manage this cluster, and administrators of the organization do."
    >
      {({ viewer }) => (
        <Maintainers
          address={address}
          mayManage={viewer?.may.manage === true}
          maySeePeople={organization?.viewer?.may.view_teams === true}
        />
      )}
    </ClusterLayout>
  )
}
