import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { ClusterLayout } from '../cluster/ClusterLayout.tsx'
import type { Cluster } from '../cluster/queries.ts'
import { ClusterForm } from './ClusterForm.tsx'
import { DeleteClusterDialog } from './DeleteClusterDialog.tsx'

export function ClusterSettingsPage() {
  const address = useParams({ from: '/organizations/$org/clusters/$cluster/settings' })
  const [isDeleting, setDeleting] = useState(false)
  const dialog = (cluster: Cluster) =>
    isDeleting && (
      <DeleteClusterDialog address={address} cluster={cluster} onClose={() => setDeleting(false)} />
    )
  return (
    <ClusterLayout
      address={address}
      name="settings"
      actions={
        <Button isWrite kind="danger" icon="trash" onClick={() => setDeleting(true)}>
          Delete…
        </Button>
      }
    >
      {(cluster) => (
        <>
          <ClusterForm address={address} cluster={cluster} />
          {dialog(cluster)}
        </>
      )}
    </ClusterLayout>
  )
}
