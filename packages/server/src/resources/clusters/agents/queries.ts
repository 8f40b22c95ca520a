import { sql, type RawBuilder } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import { escaped } from '../../../db/json-text.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { publishMoved } from '../../../events/agents.ts'
import { notFound } from '../../../lib/errors.ts'
import { jobJson, jobsInBuilds } from '../../job/job-json.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'
import type { ListedState } from './schema.ts'

type ConnectionState = 'never_connected' | 'connected' | 'disconnected' | 'stopping' | 'stopped' | 'lost'

export interface AgentRow {
  id: string
  cluster_id: string
  queue_id: string | null
  queue_key: string | null
  name: string
  connection_state: ConnectionState
  hostname: string
  ip_address: string | null
  user_agent: string | null
  version: string
  os: string
  arch: string
  creator: UserRow | null
  created_at: string
  connected_at: string | null
  disconnected_at: string | null
  lost_at: string | null
  stopped_at: string | null
  /** JSON, as the API shows it; null also when the caller may not see its pipeline. */
  job: string | null
  last_job_finished_at: string | null
  priority: number | null
  tags: string[]
  paused_at: string | null
  paused_by: UserRow | null
  paused_note: string | null
  paused_timeout_in_minutes: number | null
}

interface AgentFilter {
  name: string | undefined
  hostname: string | undefined
  version: string | undefined
  queueId: string | undefined
  state: ListedState
}

/** An agent's job is shown to callers who may see its pipeline. */
interface Viewer {
  url: string
  org: Organization
  caller: Caller
}

const select = (url: string, isVisible: RawBuilder<boolean>): RawBuilder<unknown> => sql`
  a.id, a.cluster_id, a.queue_id, q.key as queue_key, a.name, a.connection_state, a.hostname, a.ip_address, a.user_agent,
  a.version, a.os, a.arch, ${userJson('creator')} as creator, a.created_at, a.connected_at, a.disconnected_at, a.lost_at,
  a.stopped_at, a.last_job_finished_at, a.priority, a.tags, a.paused_at, ${userJson('pauser')} as paused_by, a.paused_note,
  a.paused_timeout_in_minutes, (
    select ${jobJson(escaped(url))} from ${jobsInBuilds}
    where j.agent_id = a.id and j.state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling')
      and ${isVisible}) as job`

const selectFor = ({ url, org, caller }: Viewer) => select(url, visiblePipelines(org, caller))

const joins = sql`
  left join cluster_queues q on q.id = a.queue_id
  left join cluster_tokens t on t.id = a.cluster_token_id
  left join users creator on creator.id = t.created_by
  left join users pauser on pauser.id = a.paused_by`

/** Literals, so that PostgreSQL can use the partial index of the connected ones. */
const isInState: Record<ListedState, RawBuilder<boolean>> = {
  connected: sql`connection_state in ('connected', 'stopping')`,
  disconnected: sql`connection_state in ('disconnected', 'stopped')`,
  lost: sql`connection_state = 'lost'`,
  all: sql`true`,
}

/** Oldest first. */
export async function listInOrg(
  db: Db,
  viewer: Viewer,
  { name, hostname, version, queueId, state }: AgentFilter,
  page: { limit: number; offset: number },
): Promise<AgentRow[]> {
  const { rows } = await sql<AgentRow>`
    select ${selectFor(viewer)} from (
      select * from agents
      where organization_id = ${viewer.org.id} and ${isInState[state]}
        and (${name ?? null}::text is null or name = ${name ?? null})
        and (${hostname ?? null}::text is null or hostname = ${hostname ?? null})
        and (${version ?? null}::text is null or version = ${version ?? null})
        and (${queueId ?? null}::uuid is null or queue_id = ${queueId ?? null})
      order by created_at, id limit ${page.limit} offset ${page.offset}
    ) a ${joins}
    order by a.created_at, a.id`.execute(db)
  return rows
}

export async function getInOrg(db: Db, viewer: Viewer, id: string): Promise<AgentRow> {
  const { rows } = await sql<AgentRow>`
    select ${selectFor(viewer)} from agents a ${joins}
    where a.organization_id = ${viewer.org.id} and a.id = ${id}`.execute(db)
  const [agent] = rows
  if (agent === undefined) throw notFound('No agent found')
  return agent
}

/** For notifications, which have no caller and cover several organizations. The agents' jobs are left out. */
export async function listWithoutCaller(
  db: Db,
  url: string,
  orgIds: readonly string[],
  ids: readonly string[],
): Promise<Array<AgentRow & { organization_slug: string }>> {
  const { rows } = await sql<AgentRow & { organization_slug: string }>`
    select ${select(url, sql`false`)}, o.slug as organization_slug
    from agents a join organizations o on o.id = a.organization_id ${joins}
    where a.organization_id = any (${orgIds}::uuid[]) and a.id = any (${ids}::uuid[])`.execute(db)
  return rows
}

export async function getClusterId(db: Db, orgId: string, id: string): Promise<string> {
  const found = await db
    .selectFrom('agents')
    .select('cluster_id')
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (found === undefined) throw notFound('No agent found')
  return found.cluster_id
}

export interface LockedAgent {
  id: string
  connectionState: ConnectionState
  pausedAt: string | null
  job: AgentJob | null
}

export interface AgentJob {
  id: string
  buildId: string
  state: string
}

/** Until the transaction ends, no other transaction updates the agent. */
export async function lockInOrg(trx: Trx, orgId: string, id: string): Promise<LockedAgent> {
  const { rows } = await sql<LockedAgent>`
    select a.id, a.connection_state as "connectionState", a.paused_at as "pausedAt", (
      select json_build_object('id', j.id, 'buildId', j.build_id, 'state', j.state) from jobs j where j.agent_id = a.id
        and j.state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling')) as job
    from agents a where a.organization_id = ${orgId} and a.id = ${id} for no key update of a`.execute(trx)
  const [agent] = rows
  if (agent === undefined) throw notFound('No agent found')
  return agent
}

export async function updateStopping(trx: Trx, orgId: string, id: string, at: string): Promise<void> {
  await sql`
    with moved as (
      update agents set connection_state = 'stopping' where organization_id = ${orgId} and id = ${id} returning *
    ) ${publishMoved(sql`'agent.stopping'`, at)}
    select from moved`.execute(trx)
}

interface Pause {
  at: string | null
  by: string | null
  note: string | null
  timeoutMinutes: number | null
}

export async function updatePause(
  trx: Trx,
  orgId: string,
  id: string,
  { at, by, note, timeoutMinutes }: Pause,
  now: string,
): Promise<void> {
  await sql`
    with moved as (
      update agents set paused_at = ${at}, paused_by = ${by}, paused_note = ${note},
        paused_timeout_in_minutes = ${timeoutMinutes},
        resume_at = ${at}::timestamptz + make_interval(mins => ${timeoutMinutes})
      where organization_id = ${orgId} and id = ${id} returning *
    ) ${publishMoved(sql`'agent.changed'`, now)}
    select from moved`.execute(trx)
}
