// The order in which a fair queue gives its waiting jobs to agents if no job comes and none ends: what people are told. The order of
// claims themselves is decided by engine/fairness; this is the same arithmetic over all jobs at once.
import { sql, type RawBuilder } from 'kysely'
import { machineSlots } from '@millrace/engine/fairness/shares.ts'
import type { Db } from '../../db/pool.ts'
import { readFairSettings } from './fair-queries.ts'

export interface MachinesNow {
  running: number
  slots: number
}

/** null: machines may hold all agents. */
export async function findMachines(
  db: Db,
  organizationId: string,
  queueId: string,
): Promise<MachinesNow | null> {
  const { rows } = await readFairSettings(organizationId, queueId).execute(db)
  const [settings] = rows
  if (settings === undefined || settings.machineLimitPercent === null) return null
  const { machineLimitPercent, machinesRunning, agents } = settings
  return { running: machinesRunning, slots: machineSlots(machineLimitPercent, agents) }
}

const isFull = (machines: MachinesNow | null): boolean =>
  machines !== null && machines.running >= machines.slots

/** Rows `id, share_key, is_machine, rules, place`, from place 1. */
export const fairPlaces = (
  organizationId: string,
  queueId: string,
  machines: MachinesNow | null,
): RawBuilder<unknown> => sql`
  select id, share_key, is_machine, rules, row_number() over (
    order by share_key is null, is_machine and ${isFull(machines)}::boolean, untrusted, priority desc, starts, finish, scheduled_at,
      position, id) as place
  from (
    select j.id, j.share_key, j.is_machine, j.agent_query_rules as rules, j.untrusted, j.priority, j.scheduled_at, j.position,
      coalesce(s.finish, 0) as finish,
      greatest(f.virtual_time, s.finish) + coalesce(s.running, 0) + coalesce(
        sum(least(greatest(coalesce(l.seconds, 60), 1), 3600) / coalesce((q.fair_weights ->> substr(j.share_key, 3))::float8, 1)) over (
          partition by j.share_key order by j.untrusted, j.priority desc, j.scheduled_at, j.position, j.id
          rows between unbounded preceding and 1 preceding), 0) as starts
    from jobs j join cluster_queues q on q.id = j.queue_id join fair_queues f on f.queue_id = j.queue_id
    left join queue_shares s on s.queue_id = j.queue_id and s.share_key = j.share_key
    left join queue_job_lengths l on l.queue_id = j.queue_id and l.pipeline_id = j.pipeline_id
    where j.queue_id = ${queueId} and j.organization_id = ${organizationId} and j.state = 'scheduled') waiting`

export interface FairTurn {
  jobsAhead: number
  /** Those of them that belong to the job's own share. */
  ownAhead: number
  /** Set if the job is a machine's that has to wait for people. */
  machines: MachinesNow | null
}

/** undefined: the job does not wait in a fair queue. */
export async function findTurn(
  db: Db,
  organizationId: string,
  queueId: string,
  jobId: string,
): Promise<FairTurn | undefined> {
  const machines = await findMachines(db, organizationId, queueId)
  const { rows } = await sql<{ ahead: number; own: number; waits: boolean }>`
    with places as materialized (${fairPlaces(organizationId, queueId, machines)})
    select (me.place - 1)::int as ahead,
      (select count(*) from places p where p.share_key = me.share_key and p.place < me.place)::int as own,
      me.is_machine and exists (select from places p where not p.is_machine) as waits
    from places me where me.id = ${jobId}`.execute(db)
  const [turn] = rows
  return (
    turn && {
      jobsAhead: turn.ahead,
      ownAhead: turn.own,
      machines: turn.waits && isFull(machines) ? machines : null,
    }
  )
}
