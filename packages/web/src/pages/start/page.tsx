// `/` leads to the organization that was open last in this browser, or to the first one.
import { useQuery } from '@tanstack/react-query'
import { Navigate } from '@tanstack/react-router'
import { Page } from '../../parts/Page.tsx'
import { Empty, Loading, Problem } from '../../parts/States.tsx'
import { readLastOrganization } from '../../shell/last-organization.ts'
import { organizationsQuery } from '../../shell/queries.ts'

export function StartPage() {
  const { data, error, refetch } = useQuery(organizationsQuery())
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading />
  const last = data.find(({ slug }) => slug === readLastOrganization()) ?? data[0]
  if (last !== undefined) return <Navigate to="/$org" params={{ org: last.slug }} replace />
  return (
    <Page title="Organizations">
      <Empty title="You belong to no organization.">An administrator of one can invite you.</Empty>
    </Page>
  )
}
