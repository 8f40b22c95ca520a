import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Empty, NotLoaded } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { TimeOrNever } from '../../parts/time/Time.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { ClusterLayout } from '../cluster/ClusterLayout.tsx'
import type { ClusterAddress } from '../cluster/queries.ts'
import { deleteVolumes, volumesQuery, type CacheVolume } from './queries.ts'

export function CacheVolumesPage() {
  const address = useParams({ from: '/organizations/$org/clusters/$cluster/cache_volumes' })
  return (
    <ClusterLayout
      address={address}
      name="cache_volumes"
      subtitle="The files that steps cache on hosted agents, kept for the next job."
    >
      {() => <Volumes address={address} />}
    </ClusterLayout>
  )
}

function Volumes({ address }: { address: ClusterAddress }) {
  const queryClient = useQueryClient()
  const volumes = useQuery(volumesQuery(address))
  const [deleting, setDeleting] = useState<CacheVolume | null>(null)
  if (volumes.data === undefined) return <NotLoaded query={volumes} rows={3} />
  if (volumes.data.length === 0)
    return <Empty title="No cache volumes yet">A step with “cache” on a hosted queue makes one.</Empty>
  return (
    <>
      <Table
        label="Cache volumes"
        rows={volumes.data}
        columns={[
          { head: 'Tag', titleOf: ({ tag }) => tag, render: ({ tag }) => <code>{tag}</code> },
          { head: 'Size', look: 'number', render: ({ size_mb: mb }) => `${mb.toLocaleString()} MB` },
          { head: 'Last used', look: 'aside', render: ({ attached_at: at }) => <TimeOrNever at={at} /> },
        ]}
        renderAction={(volume) => (
          <Button
            isWrite
            kind="danger"
            aria-label={`Delete ${volume.tag}`}
            onClick={() => setDeleting(volume)}
          >
            Delete…
          </Button>
        )}
      />
      {deleting !== null && (
        <ConfirmDialog
          title={`Delete the cache ${deleting.tag}?`}
          action="Delete this cache"
          onConfirm={async () => {
            await deleteVolumes(address, deleting.tag)
            await queryClient.invalidateQueries({ queryKey: volumesQuery(address).queryKey })
            showToast(`The cache ${deleting.tag} is deleted.`)
          }}
          onClose={() => setDeleting(null)}
        >
          <p>Jobs that run keep theirs. The next job with this tag begins with an empty one.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
