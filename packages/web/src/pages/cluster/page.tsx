import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { Page } from '../../parts/Page.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Empty, Loading, Problem } from '../../parts/States.tsx'
import table from '../../parts/Table.module.css'
import { clusterQuery, queuesQuery, type Queue } from './queries.ts'
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
      subtitle={cluster.description}
      actions={
        mayManage && (
          <Button kind="primary" icon="plus" onClick={() => setStarting(true)}>
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
  <div className={table.scroll}>
    <table className={table.table} aria-label="Queues">
      <thead>
        <tr>
          <th>Key</th>
          <th>State</th>
          <th>Description</th>
        </tr>
      </thead>
      <tbody>
        {queues.map(
          ({
            id,
            key,
            description,
            web_url: webUrl,
            dispatch_paused: isPaused,
            dispatch_paused_note: note,
          }) => (
            <tr key={id}>
              <td>
                <Link to={new URL(webUrl).pathname}>{key}</Link>
                {id === defaultId && <span className={table.muted}> · default</span>}
              </td>
              <td>
                <StateBadge kind="queue" state={isPaused ? 'paused' : 'active'} />
              </td>
              <td className={table.muted}>{isPaused ? note : description}</td>
            </tr>
          ),
        )}
      </tbody>
    </table>
  </div>
)
