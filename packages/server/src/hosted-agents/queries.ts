// Hosted agents are containers with an agent. `starting`: the container may not exist yet. `warm`: it runs and waits for a job.
// `running`: it has a job. `stopping`: its container and volumes are being deleted. The row is deleted last, so everything that
// exists has a row.
import { sql, type RawBuilder } from 'kysely'
import { mayBeTried } from '../db/each-row.ts'
import type { Db, Trx } from '../db/pool.ts'
import { isFree, leaseEnd } from '../tasks/lease.ts'

export interface HostedAgent {
  id: string
  organization_id: string
  cluster_id: string
  queue_id: string
  queue_key: string
  image_ref: string
  instance_shape: string
  job_id: string | null
  agent_id: string | null
  start_attempts: number
  /** Since when its job, or else the queue, waits for it. */
  wanted_since: string
  git_mirror: boolean
}

const columns = sql`
  h.id, h.organization_id, h.cluster_id, h.queue_id, q.key as queue_key, h.image_ref, h.instance_shape, h.job_id,
  h.agent_id, h.start_attempts, coalesce(h.assigned_at, h.created_at) as wanted_since,
  c.hosted_git_mirror_enabled as git_mirror`

type Inserted =
  | 'id'
  | 'organization_id'
  | 'cluster_id'
  | 'queue_id'
  | 'image_ref'
  | 'instance_shape'
  | 'job_id'

interface NewHostedAgent extends Pick<HostedAgent, Inserted> {
  token_hash: Buffer
  token_expires_at: string
  ends_at: string
}

export async function insert(trx: Trx, row: NewHostedAgent): Promise<void> {
  await trx.insertInto('hosted_agents').values(row).execute()
}

/** Agents in this state that no worker has. */
export async function listDue(
  db: Db,
  state: 'starting' | 'stopping',
  { at, most }: { at: string; most: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select h.id from hosted_agents h
    where h.state = ${state} and ${isFree('h.lease_until', at)} and ${mayBeTried('hosted_agents_due', sql`h.id::text`, at)}
    order by h.created_at limit ${most}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Leases those of these agents that are in this state to the caller for that long. */
export async function claim(
  db: Db,
  ids: readonly string[],
  state: 'starting' | 'stopping',
  { at, seconds }: { at: string; seconds: number },
): Promise<HostedAgent[]> {
  const { rows } = await sql<HostedAgent>`
    with due as (
      select id from hosted_agents
      where id = any (${ids}::uuid[]) and state = ${state} and ${isFree('lease_until', at)}
      order by created_at for update skip locked
    ), leased as (
      update hosted_agents h set lease_until = ${leaseEnd(at, seconds)}
      from due where h.id = due.id returning h.*
    )
    select ${columns} from leased h join cluster_queues q on q.id = h.queue_id join clusters c on c.id = h.cluster_id`.execute(
    db,
  )
  return rows
}

/** Stores the error and the time of the next attempt. False: the agent has left this state. */
export async function postpone(
  db: Db,
  id: string,
  { state, until, error }: { state: 'starting' | 'stopping'; until: string; error: string },
): Promise<boolean> {
  const { rows } = await sql`
    update hosted_agents set lease_until = ${until}, last_error = ${error}, start_attempts = start_attempts + 1
    where id = ${id} and state = ${state} returning id`.execute(db)
  return rows.length > 0
}

/** Allows an agent to register with this token until it expires. */
export async function setToken(db: Db, id: string, hash: Buffer, expiresAt: string): Promise<void> {
  await sql`
    update hosted_agents set token_hash = ${hash}, token_expires_at = ${expiresAt} where id = ${id}`.execute(
    db,
  )
}

/** False: the agent is being stopped. */
export async function setStarted(db: Db, id: string, at: string): Promise<boolean> {
  const { rows } = await sql`
    update hosted_agents set state = case when job_id is null then 'warm' else 'running' end, started_at = ${at},
      lease_until = null, last_error = null
    where id = ${id} and state = 'starting' returning id`.execute(db)
  return rows.length > 0
}

export async function listToStop(db: Db, which: RawBuilder<unknown>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select h.id from hosted_agents h where h.state <> 'stopping' and ${which}`.execute(db)
  return rows.map(({ id }) => id)
}

export async function setStopping(db: Db, which: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql`
    update hosted_agents h set state = 'stopping', lease_until = null
    where h.state <> 'stopping' and ${which} returning h.id`.execute(db)
  return rows.length
}

export async function deleteStopped(db: Db, id: string): Promise<void> {
  await sql`delete from hosted_agents where id = ${id} and state = 'stopping'`.execute(db)
}

export interface KnownContainer {
  id: string
  /** Its container was started and is not being stopped. */
  isUp: boolean
  hasAgent: boolean
  jobId: string | null
}

export async function listKnown(db: Db): Promise<KnownContainer[]> {
  const { rows } = await sql<KnownContainer>`
    select id, state in ('warm', 'running') and started_at is not null as "isUp", agent_id is not null as "hasAgent",
      job_id as "jobId"
    from hosted_agents`.execute(db)
  return rows
}
