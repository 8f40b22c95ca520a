import { useParams } from '@tanstack/react-router'
import { Page } from '../../parts/Page.tsx'
import { Loading } from '../../parts/States.tsx'

export function PipelinePage() {
  const { pipeline } = useParams({ from: '/$org/$pipeline' })
  return (
    <Page title={pipeline}>
      <Loading />
    </Page>
  )
}
