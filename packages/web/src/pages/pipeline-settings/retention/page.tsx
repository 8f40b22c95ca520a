import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { call } from '../../../api/call.ts'
import { query } from '../../../api/queries.ts'
import { NotLoaded } from '../../../parts/States.tsx'
import { given } from '../../retention/queries.ts'
import { RetentionForm } from '../../retention/RetentionForm.tsx'
import { PipelineSettings } from '../PipelineSettings.tsx'
import type { PipelineAddress } from '../queries.ts'

const retention = '/v2/organizations/{org}/pipelines/{pipeline}/retention'

const retentionQuery = (params: PipelineAddress) => query(`GET ${retention}`, { params })

export function PipelineRetentionPage() {
  const address = useParams({ from: '/$org/$pipeline/settings/retention' })
  return (
    <PipelineSettings
      address={address}
      name="retention"
      subtitle="How long builds, logs and artifacts of this pipeline are kept."
    >
      {() => <Content address={address} />}
    </PipelineSettings>
  )
}

function Content({ address }: { address: PipelineAddress }) {
  const queryClient = useQueryClient()
  const stored = useQuery(retentionQuery(address))
  if (stored.data === undefined) return <NotLoaded query={stored} />
  return (
    <RetentionForm
      org={address.org}
      stored={stored.data}
      fallback="organization"
      onSave={async (changed) => {
        await call(`PATCH ${retention}`, { params: address, body: changed })
        await queryClient.invalidateQueries({ queryKey: retentionQuery(address).queryKey })
      }}
      onPreview={(tried) => call(`GET ${retention}/preview`, { params: address, query: given(tried) })}
    />
  )
}
