// Notifies every process of the queues and agents that a change concerns. PostgreSQL drops repetitions within a transaction.
//
// A commit with a notification holds a lock of the whole PostgreSQL, so a busy process sends few: the notifications of changes
// that follow another within `gatherMs` are sent together after their commits. The notification of a lone change is a part of
// its transaction, which costs no time. Those of a process that dies in between are lost, like all while the listening
// connection is down; dispatcher.ts looks again for both.
import { sql, type RawBuilder } from 'kysely'
import type pg from 'pg'
import type { Db, Trx } from '../../db/pool.ts'
import { prepared, type Statement } from '../../db/statement.ts'
import type { JobMove } from '../save.ts'

/** Its payload is the ids of queues that have runnable jobs, separated by commas. */
export const queueChannel = 'millrace_queues'
/** Its payload is the id of a queue whose agents must be asked again, because claims on it change. */
export const queueSettingsChannel = 'millrace_queue_settings'
/** Its payload is the id of an agent that something changed for, and ` free` if that is the end of its job. */
export const agentChannel = 'millrace_agents'

const onAgent: ReadonlySet<string | null> = new Set([
  'assigned',
  'accepted',
  'running',
  'timing_out',
  'canceling',
])

interface Wakes {
  /** To run before the moves are saved, which may clear `agent_id`. */
  beforeMoves: Statement[]
  /** To run after the moves are saved. */
  afterMoves: Statement[]
  /** To call after the commit. */
  onCommit(): void
}

interface Concerned {
  moves: readonly JobMove[]
  /** A job whose agent the caller has loaded. */
  known: { id: string; agentId: string | null } | undefined
  runnable: readonly string[]
}

/** Notifies the agents whose jobs end with these moves, and the queues of the jobs that are runnable and not assigned yet. */
export function wakesOf(pool: pg.Pool, { moves, known, runnable }: Concerned): Wakes {
  const left = moves.filter(({ from, to }) => onAgent.has(from) && !onAgent.has(to)).map(({ jobId }) => jobId)
  const isKnown = known !== undefined && left.every((jobId) => jobId === known.id)
  const unknown = isKnown || left.length === 0 ? [] : [agentsOf(left)]
  const freed = isKnown && left.length > 0 && known.agentId !== null ? [known.agentId] : []
  const gathering = gatheringOf(pool)
  if (freed.length + runnable.length > 0 && gathering.isBusy()) {
    const onCommit = () => gathering.add(freed, runnable)
    return { beforeMoves: unknown, afterMoves: [], onCommit }
  }
  const beforeMoves = [...unknown, ...freed.map((agentId) => notify(agentChannel, `${agentId} free`))]
  const afterMoves = wakeQueuesOf(runnable)
  if (beforeMoves.length + afterMoves.length > 0) gathering.noteSent()
  return { beforeMoves, afterMoves, onCommit() {} }
}

const gatherMs = 5

/** The notifications of a process that wait to be sent together. */
class Gathering {
  private readonly pool: pg.Pool
  private freedAgents = new Set<string>()
  private runnableJobs = new Set<string>()
  private timer: NodeJS.Timeout | undefined
  private sentAt = -Infinity

  constructor(pool: pg.Pool) {
    this.pool = pool
  }

  isBusy(): boolean {
    return this.timer !== undefined || performance.now() - this.sentAt < gatherMs
  }

  noteSent(): void {
    this.sentAt = performance.now()
  }

  add(freedAgents: readonly string[], runnableJobs: readonly string[]): void {
    for (const agentId of freedAgents) this.freedAgents.add(agentId)
    for (const jobId of runnableJobs) this.runnableJobs.add(jobId)
    this.timer ??= setTimeout(() => this.send(), gatherMs)
  }

  private send(): void {
    const values = [[...this.freedAgents], [...this.runnableJobs]]
    this.timer = undefined
    this.freedAgents = new Set()
    this.runnableJobs = new Set()
    this.noteSent()
    // The outage of the database is reported by every other statement.
    this.pool.query({ name: 'send_notifications', text: sendText, values }).catch(() => {})
  }
}

/** One notification for each queue, because the length of a payload is limited. */
const sendText = `
  select pg_notify('${agentChannel}', agent_id || ' free') from unnest($1::text[]) agent_id
  union all
  select pg_notify('${queueChannel}', queue_id::text) from (
    select distinct queue_id from jobs where id = any ($2::uuid[]) and queue_id is not null and state = 'scheduled'
  ) runnable`

const gatherings = new WeakMap<pg.Pool, Gathering>()

/** One for all requests of a process. */
function gatheringOf(pool: pg.Pool): Gathering {
  const gathering = gatherings.get(pool) ?? new Gathering(pool)
  gatherings.set(pool, gathering)
  return gathering
}

const agentsOf = prepared(
  (jobIds: readonly string[]) => sql`
    select pg_notify(${agentChannel}, agent_id || ' free') from jobs
    where id = any (${jobIds}::uuid[]) and agent_id is not null`,
)

const notify = prepared((channel: string, payload: string) => sql`select pg_notify(${channel}, ${payload})`)

/** PostgreSQL plans a statement with `=` once, but one with an array every time. */
function wakeQueuesOf(runnableJobs: readonly string[]): Statement[] {
  const [first] = runnableJobs
  if (first === undefined) return []
  return [runnableJobs.length === 1 ? queueOf(first) : queuesOf(runnableJobs)]
}

const notifyQueues = (which: RawBuilder<unknown>) => sql`
  select pg_notify(${queueChannel}, string_agg(distinct queue_id::text, ',')) from jobs
  where ${which} and queue_id is not null and state = 'scheduled' having count(*) > 0`
const queueOf = prepared((jobId: string) => notifyQueues(sql`id = ${jobId}`))
const queuesOf = prepared((jobIds: readonly string[]) => notifyQueues(sql`id = any (${jobIds}::uuid[])`))

export async function wakeQueue(trx: Trx, queueId: string): Promise<void> {
  await sql`select pg_notify(${queueChannel}, ${queueId})`.execute(trx)
}

export async function wakeQueueSettings(trx: Trx, queueId: string): Promise<void> {
  await sql`select pg_notify(${queueSettingsChannel}, ${queueId})`.execute(trx)
}

export async function wakeAgent(db: Db, agentId: string): Promise<void> {
  await sql`select pg_notify(${agentChannel}, ${agentId})`.execute(db)
}
