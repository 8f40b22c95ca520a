import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import { clusterQuery } from '../../api/resource-queries.ts'
import { Button } from '../../parts/Button.tsx'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { Empty, NotLoaded } from '../../parts/States.tsx'
import { NewQueueDialog } from './NewQueueDialog.tsx'
import { ClusterLayout } from './ClusterLayout.tsx'
import { Queues } from './Queues.tsx'
import { followedQueuesQuery, type Cluster, type ClusterAddress } from './queries.ts'
import { StartAgentDialog } from './StartAgentDialog.tsx'

export function ClusterPage() {
  const address = useParams({ from: '/organizations/$org/clusters/$cluster' })
  useLive(address.org)
  const { data: cluster } = useQuery(clusterQuery(address.org, address.cluster))
  const [isStarting, setStarting] = useState(false)
  return (
    <ClusterLayout
      address={address}
      name=""
      subtitle={cluster?.description || undefined}
      actions={
        cluster?.viewer?.may.manage === true && (
          <Button isWrite kind="primary" icon="plus" onClick={() => setStarting(true)}>
            Start an agent
          </Button>
        )
      }
    >
      {(shown) => (
        <>
          <QueueList address={address} cluster={shown} />
          {isStarting && (
            <StartAgentDialog org={address.org} clusters={[shown]} onClose={() => setStarting(false)} />
          )}
        </>
      )}
    </ClusterLayout>
  )
}

function QueueList({ address, cluster }: { address: ClusterAddress; cluster: Cluster }) {
  const queues = useQuery(followedQueuesQuery(address.org, address.cluster))
  const [isNewOpen, setNewOpen] = useState(false)
  return (
    <>
      <SectionHead title="Queues">
        {cluster.viewer?.may.manage === true && (
          <Button isWrite onClick={() => setNewOpen(true)}>
            New queue…
          </Button>
        )}
      </SectionHead>
      {queues.data === undefined && <NotLoaded query={queues} rows={3} />}
      {queues.data?.length === 0 && (
        <Empty title="No queues yet">Jobs wait in queues until an agent takes them.</Empty>
      )}
      {queues.data !== undefined && queues.data.length > 0 && (
        <Queues queues={queues.data} defaultId={cluster.default_queue_id} />
      )}
      {isNewOpen && (
        <NewQueueDialog
          address={address}
          isHosted={cluster.hosted === true}
          onClose={() => setNewOpen(false)}
        />
      )}
    </>
  )
}
