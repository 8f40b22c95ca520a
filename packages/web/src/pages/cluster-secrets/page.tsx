import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { ClusterLayout } from '../cluster/ClusterLayout.tsx'
import { NewSecretDialog } from './NewSecretDialog.tsx'
import { Secrets } from './Secrets.tsx'

export function ClusterSecretsPage() {
  const address = useParams({ from: '/organizations/$org/clusters/$cluster/secrets' })
  const [isNewOpen, setNewOpen] = useState(false)
  return (
    <ClusterLayout
      address={address}
      name="secrets"
      subtitle="Jobs of this cluster read them by key. Nobody is shown a value again, here or in a log."
      actions={
        <Button isWrite kind="primary" icon="plus" onClick={() => setNewOpen(true)}>
          New secret
        </Button>
      }
    >
      {() => (
        <>
          <Secrets address={address} />
          {isNewOpen && <NewSecretDialog address={address} onClose={() => setNewOpen(false)} />}
        </>
      )}
    </ClusterLayout>
  )
}
