import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { clusterQuery } from '../../api/resource-queries.ts'
import { Button } from '../../parts/Button.tsx'
import { Mark } from '../../parts/mark/Mark.tsx'
import { Page } from '../../parts/Page.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Empty, Loading, Problem } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { queuesQuery, type Queue } from './queries.ts'
import { StartAgentDialog } from './StartAgentDialog.tsx'
import { Tokens } from './Tokens.tsx'

export function ClusterPage() {
  const { org, cluster: id } = useParams({ from: '/organizations/$org/clusters/$cluster' })
  const { data: cluster, error, refetch } = useQuery(clusterQuery(org, id))
  const queues = useQuery(queuesQuery(org, id))
  const [isStarting, setStarting] = useState(false)
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />
  if (cluster === undefined) return <Loading />
  const mayManage = cluster.viewer?.may.manage === true
  return (
    <Page
      title={cluster.name}
      before={<Mark emoji={cluster.emoji} color={cluster.color} />}
      subtitle={cluster.description}
      actions={
        mayManage && (
          <Button isWrite kind="primary" icon="plus" onClick={() => setStarting(true)}>
            Start an agent
          </Button>
        )
      }
    >
      <h2>Queues</h2>
      {queues.error !== null && <Problem error={queues.error} onRetry={() => void queues.refetch()} />}
      {queues.data?.length === 0 && (
        <Empty title="No queues yet">Jobs wait in queues until an agent takes them.</Empty>
      )}
      {queues.data !== undefined && queues.data.length > 0 && (
        <Queues queues={queues.data} defaultId={cluster.default_queue_id} />
      )}
      {mayManage && (
        <>
          <h2>Agent tokens</h2>
          <Tokens org={org} cluster={id} />
        </>
      )}
      {isStarting && <StartAgentDialog org={org} clusters={[cluster]} onClose={() => setStarting(false)} />}
    </Page>
  )
}

interface QueuesProps {
  queues: readonly Queue[]
  defaultId: string | null
}

const Queues = ({ queues, defaultId }: QueuesProps) => (
  <Table
    label="Queues"
    rows={queues}
    columns={[
      {
        head: 'Key',
        render: ({ id, key, web_url: url }) => (
          <>
            <Link to={new URL(url).pathname}>{key}</Link>
            {id === defaultId && <span className="muted"> · default</span>}
          </>
        ),
      },
      {
        head: 'State',
        render: ({ dispatch_paused: isPaused }) => (
          <StateBadge kind="queue" state={isPaused ? 'paused' : 'active'} />
        ),
      },
      {
        head: 'Description',
        look: 'muted',
        render: ({ description, dispatch_paused: isPaused, dispatch_paused_note: note }) =>
          isPaused ? note : description,
      },
    ]}
  />
)
