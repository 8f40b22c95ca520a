import { Type } from 'typebox'
import { mayManageCluster } from '../../../auth/permissions.ts'
import type { RequestContext } from '../../../context.ts'
import { noContent, ok, okJson } from '../../../http/answer.ts'
import { linkHeader } from '../../../http/links.ts'
import { pageAnswer, pageLinks, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { forbidden } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import { listJobs } from './jobs.ts'
import { pauseAgent, resumeAgent, stopAgent } from './update.ts'
import { presentAgent } from './present.ts'
import * as agents from './queries.ts'
import { Agent, ListedJob, ListedState, PauseAgent, StopAgent } from './schema.ts'

const listAgentsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/agents',
  summary: 'List agents, oldest first; by default those that are connected or stopping',
  scope: 'read_agents',
  permission: 'member',
  paging: 'pages',
  query: {
    name: Type.Optional(Type.String({ description: 'Only agents of this name.' })),
    hostname: Type.Optional(Type.String({ description: 'Only agents on the machine of this name.' })),
    version: Type.Optional(Type.String({ description: 'Only agents of this version.' })),
    cluster_queue_id: Type.Optional(Type.String({ description: 'Those that serve this queue.' })),
    state: Type.Optional(ListedState),
  },
  answers: { 200: Type.Array(Agent) },
  async handler({ ctx, org, caller, query, url }) {
    const page = readPage(url)
    const { name, hostname, version, cluster_queue_id: queueId, state = 'connected' } = query
    if (queueId && !isUuid(queueId)) return pageAnswer(page, [], () => null)
    const filter = {
      name: name || undefined,
      hostname: hostname || undefined,
      version: version || undefined,
      queueId: queueId || undefined,
      state,
    }
    const rows = await agents.listInOrg(ctx.db, { url: ctx.config.url, org, caller }, filter, page)
    return pageAnswer(page, rows, (row) => presentAgent(ctx.config.url, org.slug, row))
  },
})

const getAgentRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/agents/:agent',
  summary: 'Get an agent, whatever its state',
  scope: 'read_agents',
  permission: 'member',
  answers: { 200: Agent },
  async handler({ ctx, org, caller, params }) {
    const agent = await agents.getInOrg(ctx.db, { url: ctx.config.url, org, caller }, params.agent)
    return ok(presentAgent(ctx.config.url, org.slug, agent))
  },
})

const listAgentJobsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/agents/:agent/jobs',
  summary: 'List the jobs that an agent ran or runs, the newest first',
  scope: 'read_builds',
  permission: 'member',
  paging: 'pages',
  answers: { 200: Type.Array(ListedJob) },
  async handler({ ctx, org, caller, params, url }) {
    await agents.getClusterId(ctx.db, org.id, params.agent)
    const page = readPage(url)
    const rows = await listJobs(ctx.db, org, caller, params.agent, { ...page, url: ctx.config.url })
    const shown = rows.slice(0, page.perPage).filter((job) => job !== null)
    return {
      ...okJson(`[${shown.join(',')}]`),
      headers: linkHeader(pageLinks(page, rows.length > page.perPage)),
    }
  },
})

const action = {
  method: ['PUT', 'PATCH'],
  scope: 'write_agents',
  permission: 'member',
  answers: { 204: null },
} as const

const stopAgentRoute = route({
  ...action,
  url: '/v2/organizations/:org/agents/:agent/stop',
  summary: 'Stop an agent, by default with its job',
  body: StopAgent,
  errors: { 400: 'The agent is not connected.' },
  async handler({ ctx, org, caller, params, body }) {
    await requireManager({ ctx, org, caller }, params.agent)
    await stopAgent(ctx, org.id, params.agent, { cancel: body.force === false ? 'nothing' : 'build' })
    return noContent()
  },
})

const pauseAgentRoute = route({
  ...action,
  url: '/v2/organizations/:org/agents/:agent/pause',
  summary: 'Pause an agent: it ends its job and is offered no other',
  body: PauseAgent,
  errors: { 422: 'The body is not valid, or the agent is paused already or not connected.' },
  async handler({ ctx, org, caller, params, body }) {
    await requireManager({ ctx, org, caller }, params.agent)
    await pauseAgent(ctx, org.id, params.agent, {
      by: caller.user.id,
      note: body.note || null,
      timeoutMinutes: body.timeout_in_minutes ?? null,
    })
    return noContent()
  },
})

const resumeAgentRoute = route({
  ...action,
  url: '/v2/organizations/:org/agents/:agent/resume',
  summary: 'Resume a paused agent',
  errors: { 422: 'The agent is not paused.' },
  async handler({ ctx, org, caller, params }) {
    await requireManager({ ctx, org, caller }, params.agent)
    await resumeAgent(ctx, org.id, params.agent)
    return noContent()
  },
})

/** Refuses callers who are neither administrators nor maintainers of the agent's cluster. */
async function requireManager({ ctx, org, caller }: RequestContext, agentId: string): Promise<void> {
  const clusterId = await agents.getClusterId(ctx.db, org.id, agentId)
  if (!(await mayManageCluster(ctx.db, org, caller, clusterId))) throw forbidden()
}

export const agentRoutes = [
  listAgentsRoute,
  getAgentRoute,
  listAgentJobsRoute,
  stopAgentRoute,
  pauseAgentRoute,
  resumeAgentRoute,
]
