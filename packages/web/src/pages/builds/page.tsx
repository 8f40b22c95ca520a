import { useParams } from '@tanstack/react-router'
import { Page } from '../../parts/Page.tsx'
import { Loading } from '../../parts/States.tsx'

export function BuildsPage() {
  const { org } = useParams({ from: '/organizations/$org/builds' })
  return (
    <Page title={org}>
      <Loading />
    </Page>
  )
}
