import { Link } from '@tanstack/react-router'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import table from '../../parts/Table.module.css'
import { Time } from '../../parts/time/Time.tsx'
import { orderAgents, stateOf } from './agent-state.ts'
import type { Agent } from './queries.ts'

export const AgentTable = ({ agents }: { agents: readonly Agent[] }) => (
  <div className={table.scroll}>
    <table className={table.table} aria-label="Agents">
      <thead>
        <tr>
          <th>State</th>
          <th>Name</th>
          <th>Job</th>
          <th className={table.optional}>Queue</th>
          <th className={table.optional}>Host</th>
          <th className={table.optional}>Version</th>
          <th>Since</th>
        </tr>
      </thead>
      <tbody>
        {orderAgents(agents).map((agent) => (
          <tr key={agent.id}>
            <td>
              <StateBadge kind="agent" {...stateOf(agent)} />
            </td>
            <td>
              <Link to={pathOf(agent.web_url)} title={agent.name}>
                {agent.name}
              </Link>
            </td>
            <td>{agent.job === null ? '–' : <JobLink job={agent.job} />}</td>
            <td className={table.optional}>{agent.queue ?? '–'}</td>
            <td className={`${table.optional} ${table.muted}`}>{agent.hostname}</td>
            <td className={`${table.optional} ${table.muted}`}>{agent.version}</td>
            <td className={table.muted}>
              <Time at={agent.lost_at ?? agent.disconnected_at ?? agent.connected_at ?? agent.created_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

export const JobLink = ({ job }: { job: NonNullable<Agent['job']> }) => (
  <Link to={pathOf(job.web_url)} hash={job.id}>
    {job.name ?? job.command ?? 'Job'}
  </Link>
)

const pathOf = (address: string) => new URL(address).pathname
