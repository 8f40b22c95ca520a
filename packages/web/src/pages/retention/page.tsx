import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { NotLoaded } from '../../parts/States.tsx'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { previewRetention, retentionQuery, updateRetention } from './queries.ts'
import { RetentionForm } from './RetentionForm.tsx'

export function RetentionPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/retention' })
  return (
    <OrganizationSettings
      org={org}
      name="retention"
      subtitle="How long builds, logs and artifacts are kept. A pipeline may have its own settings."
    >
      <Content org={org} />
    </OrganizationSettings>
  )
}

function Content({ org }: { org: string }) {
  const queryClient = useQueryClient()
  const retention = useQuery(retentionQuery(org))
  if (retention.data === undefined) return <NotLoaded query={retention} />
  return (
    <RetentionForm
      org={org}
      stored={retention.data}
      fallback="installation"
      onSave={async (changed) => {
        await updateRetention(org, changed)
        await queryClient.invalidateQueries({ queryKey: retentionQuery(org).queryKey })
      }}
      onPreview={(tried) => previewRetention(org, tried)}
    />
  )
}
