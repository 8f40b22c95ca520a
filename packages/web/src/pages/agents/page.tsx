import { useParams } from '@tanstack/react-router'
import { Page } from '../../parts/Page.tsx'
import { Loading } from '../../parts/States.tsx'

export function AgentsPage() {
  const { org } = useParams({ from: '/organizations/$org/agents' })
  return (
    <Page title={org}>
      <Loading />
    </Page>
  )
}
