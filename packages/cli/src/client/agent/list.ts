import type { Agent } from '@millrace/server/wire.ts'
import { listAll, openApi } from '../api.ts'
import type { ClientOptions } from '../command.ts'
import { showRows } from '../show.ts'
import { stateText } from '../style.ts'
import { oneLine } from '../text.ts'
import { describeAge } from '../times.ts'

export interface ListAgentsOptions extends ClientOptions {
  queue?: string
  name?: string
  state?: string
  limit?: number
}

export async function listAgents(options: ListAgentsOptions): Promise<void> {
  const api = await openApi(options)
  const query = new URLSearchParams()
  if (options.name !== undefined) query.set('name', options.name)
  if (options.state !== undefined) query.set('state', options.state)
  const rows = await listAll(
    ofQueue(api.pages<Agent>(`agents?${query.toString()}`), options.queue),
    options.limit,
  )
  await showRows(options, rows, `${api.org} has no such agents.`, (style) => [
    { title: 'Agent', text: ({ name }) => name, least: 12 },
    { title: 'State', styled: (agent) => stateText(style, stateOf(agent)) },
    { title: 'Queue', text: ({ queue }) => queue, least: 8 },
    { title: 'Job', text: ({ job }) => (job === null ? null : nameOf(job)), least: 12 },
    { title: 'Host', text: ({ hostname }) => hostname, least: 8 },
    { title: 'Version', text: ({ version }) => version, least: 6 },
    { title: 'Connected', text: ({ connected_at }) => describeAge(connected_at) },
    { title: 'Id', text: ({ id }) => id },
  ])
}

async function* ofQueue(agents: AsyncIterable<Agent>, queue: string | undefined): AsyncGenerator<Agent> {
  for await (const agent of agents) if (queue === undefined || agent.queue === queue) yield agent
}

function stateOf({ connection_state, paused, job }: Agent): string {
  if (connection_state !== 'connected') return connection_state
  if (paused) return 'paused'
  return job === null ? 'connected' : 'running'
}

function nameOf(job: NonNullable<Agent['job']>): string {
  return 'name' in job && typeof job.name === 'string' ? oneLine(job.name) : job.id
}
