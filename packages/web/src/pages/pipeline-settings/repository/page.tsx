import { useParams } from '@tanstack/react-router'
import { PipelineSettings } from '../PipelineSettings.tsx'
import { ConnectionForm } from './ConnectionForm.tsx'
import { GithubEvents } from './GithubEvents.tsx'
import { Health } from './Health.tsx'
import { ProviderForm } from './ProviderForm.tsx'
import { Webhook } from './Webhook.tsx'

export function RepositoryPage() {
  const address = useParams({ from: '/$org/$pipeline/settings/repository' })
  return (
    <PipelineSettings
      address={address}
      name="repository"
      subtitle="Where the code is, and which of its events make builds."
    >
      {({ pipeline, may }) => (
        <>
          <ConnectionForm key={pipeline.id} address={address} pipeline={pipeline} />
          <Webhook address={address} pipeline={pipeline} isAdministrator={may.organization.administer} />
          <Health address={address} />
          {pipeline.provider.id.startsWith('github') && <GithubEvents address={address} />}
          {pipeline.provider.id !== 'private' && (
            <ProviderForm key={pipeline.provider.id} address={address} pipeline={pipeline} />
          )}
        </>
      )}
    </PipelineSettings>
  )
}
