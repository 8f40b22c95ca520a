import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import { Button, LinkButton } from '../../parts/Button.tsx'
import { Page } from '../../parts/Page.tsx'
import { Empty, Loading, Problem } from '../../parts/States.tsx'
import { Chip } from '../builds/FilterBar.tsx'
import { clustersQuery } from '../clusters/queries.ts'
import { StartAgentDialog } from '../cluster/StartAgentDialog.tsx'
import { AgentTable } from './AgentTable.tsx'
import { useAgents } from './use-agents.ts'

export function AgentsPage() {
  const { org } = useParams({ from: '/organizations/$org/agents' })
  useLive(org)
  const { state } = useSearch({ from: '/organizations/$org/agents' })
  const navigate = useNavigate({ from: '/organizations/$org/agents' })
  const { data: clusters = [] } = useQuery(clustersQuery(org))
  const { agents, list } = useAgents(org, { state })
  const { error, refetch, hasNextPage, fetchNextPage } = list
  const [isStarting, setStarting] = useState(false)
  const manageable = clusters.filter(({ viewer }) => viewer?.may.manage === true)
  const start = manageable.length > 0 && (
    <Button isWrite kind="primary" icon="plus" onClick={() => setStarting(true)}>
      Start an agent
    </Button>
  )
  return (
    <Page
      title="Agents"
      subtitle={agents === undefined ? undefined : summaryOf(agents)}
      actions={
        <>
          <LinkButton to="/organizations/$org/clusters" params={{ org }} icon="layers">
            Clusters and queues
          </LinkButton>
          {start}
        </>
      }
    >
      <div role="group" aria-label="Which agents">
        <Chip label="Connected" isOn={state === undefined} onClick={() => void navigate({ search: {} })} />{' '}
        <Chip
          label="All"
          isOn={state === 'all'}
          onClick={() => void navigate({ search: { state: 'all' } })}
        />
      </div>
      {error !== null && agents === undefined && <Problem error={error} onRetry={() => void refetch()} />}
      {error === null && agents === undefined && <Loading look="list" />}
      {agents?.length === 0 && (
        <Empty title="No agent is connected" action={start}>
          Agents run the jobs of builds, on machines of yours.
        </Empty>
      )}
      {agents !== undefined && agents.length > 0 && <AgentTable agents={agents} />}
      {hasNextPage && <Button onClick={() => void fetchNextPage()}>Show more agents</Button>}
      {isStarting && manageable[0] !== undefined && (
        <StartAgentDialog org={org} clusters={manageable} onClose={() => setStarting(false)} />
      )}
    </Page>
  )
}

function summaryOf(
  agents: ReadonlyArray<{ connection_state: string; job: unknown; paused: boolean }>,
): string {
  const connected = agents.filter((agent) => agent.connection_state === 'connected')
  const busy = connected.filter(({ job }) => job !== null).length
  const lost = agents.filter((agent) => agent.connection_state === 'lost').length
  return [`${connected.length} connected`, `${busy} busy`, ...(lost > 0 ? [`${lost} lost`] : [])].join(' · ')
}
