// The session of an agent: register, connect, heartbeat, stop, pause, resume, disconnect.
import { sql } from 'kysely'
import {
  HeartbeatRequest,
  PauseRequest,
  RegisterRequest,
  StopRequest,
  type HeartbeatResponse,
  type RegisterResponse,
  type TokenResponse,
} from '@millrace/protocol/agents.ts'
import { disconnectAgent } from '../../conductor/lost-agents.ts'
import { publishMoved } from '../../events/agents.ts'
import { ok } from '../../http/answer.ts'
import { pauseAgent, resumeAgent, stopAgent } from '../../resources/clusters/agents/update.ts'
import { registerAgent } from './register-agent.ts'
import { agentRoute, done } from '../route.ts'

const register = agentRoute({
  method: 'POST',
  url: '/v3/register',
  token: 'joining',
  body: RegisterRequest,
  async handler({ ctx, joining, request, body }) {
    const { id, name, sessionToken, tags } = await registerAgent(ctx, joining, request, body)
    const answer: RegisterResponse = {
      id,
      name,
      access_token: sessionToken,
      // A ping waits while there is no job, so a short interval costs little.
      ping_interval: 1,
      // An agent may miss two of them.
      heartbeat_interval: Math.max(1, Math.min(60, Math.floor(ctx.config.timers.agentLostSeconds / 3))),
      job_status_interval: 2,
      meta_data: tags,
    }
    return ok(answer)
  },
})

const connect = agentRoute({
  method: 'POST',
  url: '/v3/connect',
  token: 'session',
  async handler({ ctx, agent, request }) {
    const at = ctx.now().toISOString()
    await sql`
      with moved as (
        update agents set connection_state = 'connected', connected_at = ${at}, last_seen_at = ${at},
          ip_address = ${request.ip}
        where id = ${agent.id} and connection_state = 'never_connected' returning *
      ) ${publishMoved(sql`'agent.connected'`, at)}
      select from moved`.execute(ctx.db)
    return done()
  },
})

const heartbeat = agentRoute({
  method: 'POST',
  url: '/v3/heartbeat',
  token: 'session',
  makesNoWork: true,
  body: HeartbeatRequest,
  async handler({ ctx, agent, body }) {
    const at = ctx.now().toISOString()
    ctx.agentActivity.recordHeartbeat(agent)
    const answer: HeartbeatResponse = { ...(body.sent_at ? { sent_at: body.sent_at } : {}), received_at: at }
    return ok(answer)
  },
})

const disconnect = agentRoute({
  method: 'POST',
  url: '/v3/disconnect',
  // An agent that did not get the answer repeats the request.
  token: 'ended_session',
  async handler({ ctx, agent }) {
    await disconnectAgent(ctx, agent)
    return done()
  },
})

const stop = agentRoute({
  method: 'POST',
  url: '/v3/stop',
  token: 'session_or_job',
  forks: { refused: 'control of their agent' },
  body: StopRequest,
  async handler({ ctx, agent, body }) {
    await stopAgent(ctx, agent.organizationId, agent.id, { cancel: body.force ? 'job' : 'nothing' })
    return done()
  },
})

const pause = agentRoute({
  method: 'POST',
  url: '/v3/pause',
  token: 'session_or_job',
  forks: { refused: 'control of their agent' },
  body: PauseRequest,
  async handler({ ctx, agent, body }) {
    await pauseAgent(ctx, agent.organizationId, agent.id, {
      by: null,
      note: body.note || null,
      timeoutMinutes: body.timeout_in_minutes || null,
    })
    return done()
  },
})

const resume = agentRoute({
  method: 'POST',
  url: '/v3/resume',
  token: 'session_or_job',
  forks: { refused: 'control of their agent' },
  async handler({ ctx, agent }) {
    await resumeAgent(ctx, agent.organizationId, agent.id)
    return done()
  },
})

const getToken = agentRoute({
  method: 'GET',
  url: '/v3/token',
  token: 'registration',
  async handler({ registration: { tokenId, description, organization, cluster, defaultQueue } }) {
    const answer: TokenResponse = {
      uuid: tokenId,
      description,
      token_type: 'cluster',
      organization_slug: organization.slug,
      organization_uuid: organization.id,
      cluster_uuid: cluster.id,
      cluster_name: cluster.name,
      organization_queue_uuid: defaultQueue?.id ?? '',
      organization_queue_key: defaultQueue?.key ?? '',
    }
    return ok(answer)
  },
})

export const agentApi = [register, connect, heartbeat, disconnect, stop, pause, resume, getToken]
