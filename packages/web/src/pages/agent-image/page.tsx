import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { query } from '../../api/queries.ts'
import { CopyBlock } from '../../parts/Copy.tsx'
import { Facts } from '../../parts/Facts.tsx'
import { Page } from '../../parts/Page.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Loading, Problem } from '../../parts/States.tsx'

const imageQuery = (params: { org: string; cluster: string; image: string }) =>
  query('GET /v2/organizations/{org}/clusters/{cluster}/agent-images/{image}', { params })

export function AgentImagePage() {
  const params = useParams({ from: '/organizations/$org/clusters/$cluster/agent_images/$image' })
  const { data: image, error, refetch } = useQuery(imageQuery(params))
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />
  if (image === undefined) return <Loading />
  return (
    <Page title={image.name} before={<StateBadge kind="image" state={image.status} />}>
      <Facts
        isFramed
        facts={[
          ['Version', image.version],
          [
            'Reference',
            image.image_ref === null ? 'Not built yet' : <code key="ref">{image.image_ref}</code>,
          ],
          ['Built from', <code key="base">{image.base_image}</code>],
          ['Last error', image.last_build_error],
        ]}
      />
      <h2>Dockerfile</h2>
      <CopyBlock text={image.dockerfile} label="Dockerfile" />
    </Page>
  )
}
