import { useParams } from '@tanstack/react-router'
import { Page } from '../../parts/Page.tsx'
import { Loading } from '../../parts/States.tsx'

export function BuildPage() {
  const { number } = useParams({ from: '/$org/$pipeline/builds/$number' })
  return (
    <Page title={number}>
      <Loading />
    </Page>
  )
}
