import { showLabel } from '../../parts/labels.ts'
import { Link } from '@tanstack/react-router'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Table, type Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { orderAgents, stateOf } from './agent-state.ts'
import type { Agent } from './queries.ts'

interface Props {
  agents: readonly Agent[]
  /** Of several queues. */
  withQueue?: boolean
}

export const AgentTable = ({ agents, withQueue = true }: Props) => (
  <Table
    label="Agents"
    isLive
    rows={orderAgents(agents)}
    columns={[
      { head: 'State', render: (agent) => <StateBadge kind="agent" {...stateOf(agent)} /> },
      {
        head: 'Name',
        render: ({ name, web_url: url }) => (
          <Link to={pathOf(url)} title={name}>
            {name}
          </Link>
        ),
      },
      { head: 'Job', render: ({ job }) => (job === null ? '–' : <JobLink job={job} />) },
      ...(withQueue ? [queueColumn] : []),
      { head: 'Host', look: 'aside', render: ({ hostname }) => hostname },
      { head: 'Version', look: 'aside', render: ({ version }) => version },
      { head: 'Since', look: 'muted', render: (agent) => <Time at={sinceOf(agent)} /> },
    ]}
  />
)

const queueColumn: Column<Agent> = { head: 'Queue', look: 'optional', render: ({ queue }) => queue ?? '–' }

export const JobLink = ({ job }: { job: NonNullable<Agent['job']> }) => (
  <Link to={pathOf(job.web_url)} hash={job.id}>
    {showLabel(job.name ?? job.command ?? 'Job')}
  </Link>
)

const sinceOf = ({ lost_at: lost, disconnected_at: left, connected_at: came, created_at: made }: Agent) =>
  lost ?? left ?? came ?? made

const pathOf = (address: string) => new URL(address).pathname
