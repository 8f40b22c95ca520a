// Records when agents and their jobs were last heard: in the memory of this process at once, and in the rows of all agents
// that were heard with one statement a second.
//
// - A row is older than the memory by at most `unwrittenSeconds` for a first time, and for a repeated request of a job by
//   `jobSeconds` more. All decisions from rows allow for much more (lost-agents.ts), but for one: whether a job that began
//   just now has sent any request. There, other processes wait until this one must have written it.
// - This process decides with `lastJobRequest`, which is never behind.
// - A row never moves back, so processes may write the same agent in any order.
// - A killed process loses these times. Agents and jobs that live send new ones within seconds.
// - While the database does not answer, times stay in memory. No request fails because of them.
import { sql } from 'kysely'
import { togetherOrApart, type LoopContext } from '../db/each-row.ts'
import type { Db } from '../db/pool.ts'
import { prepared } from '../db/statement.ts'

interface HeardAgent {
  id: string
  organizationId: string
}

export interface AgentActivity {
  recordHeartbeat(agent: HeardAgent): void
  recordStream(agent: HeardAgent): void
  recordJobRequest(agent: HeardAgent): void
  /** The last request with the token of the agent's job that may not be in the agent's row yet. */
  lastJobRequest(agentId: string): Date | null
  /** No decision needs the time of the last request of a job that has ended. */
  deleteJobRequest(agentId: string): void
  /** Writes what is due. */
  flush(): Promise<void>
}

const flushAfterMs = 1000
/** Allows for a flush that takes as long as the pause before it. */
export const unwrittenSeconds = 2
/** The requests of a job update its agent's row at most this often. */
export const jobSeconds = 5

const kinds = ['heartbeat', 'stream', 'job'] as const
type Kind = (typeof kinds)[number]

const betweenWritesMs: Readonly<Record<Kind, number>> = { heartbeat: 0, stream: 0, job: jobSeconds * 1000 }

interface Time {
  at: number
  /** The time in the row; -Infinity: unknown. */
  written: number
}

interface Heard extends HeardAgent {
  times: Map<Kind, Time>
}

export function trackAgentActivity(ctx: LoopContext, onError: (error: unknown) => void): AgentActivity {
  const now = () => ctx.now().getTime()
  const agents = new Map<string, Heard>()
  const writeApart = togetherOrApart<Heard>(ctx, 'agent_activity')
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> = Promise.resolve()

  const record = ({ id, organizationId }: HeardAgent, kind: Kind) => {
    const heard = agents.get(id) ?? { id, organizationId, times: new Map<Kind, Time>() }
    agents.set(id, heard)
    heard.times.set(kind, { at: now(), written: heard.times.get(kind)?.written ?? -Infinity })
    flushSoon()
  }

  const flushSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      void flush()
        .catch(onError)
        .finally(() => {
          if (agents.size > 0) flushSoon()
        })
    }, flushAfterMs).unref()
  }

  // One at a time, because a flush leaves out the rows that another one has locked.
  const flush = (): Promise<void> => {
    flushing = flushing.catch(() => {}).then(writeDue)
    return flushing
  }

  const writeDue = async (): Promise<void> => {
    deleteWritten()
    const due = [...agents.values()].flatMap((heard) => {
      const times = dueTimes(heard, now())
      return times.size === 0 ? [] : [{ ...heard, times }]
    })
    if (due.length === 0) return
    const written = new Set<string>()
    await writeApart(
      due,
      ({ id }) => id,
      async (heard) => {
        const busy = new Set(await write(ctx.db, heard))
        for (const { id } of heard) if (!busy.has(id)) written.add(id)
      },
    )
    for (const { id, times } of due) {
      if (!written.has(id)) continue
      for (const [kind, { at }] of times) {
        const time = agents.get(id)?.times.get(kind)
        if (time !== undefined) time.written = at
      }
    }
  }

  /** A written time stays until the next may be written, so that it limits the writes. */
  const deleteWritten = () => {
    for (const [id, { times }] of agents) {
      for (const [kind, { at, written }] of times) {
        if (at <= written && now() - written >= betweenWritesMs[kind]) times.delete(kind)
      }
      if (times.size === 0) agents.delete(id)
    }
  }

  return {
    recordHeartbeat: (agent) => record(agent, 'heartbeat'),
    recordStream: (agent) => record(agent, 'stream'),
    recordJobRequest: (agent) => record(agent, 'job'),
    lastJobRequest(agentId) {
      const time = agents.get(agentId)?.times.get('job')
      return time === undefined ? null : new Date(time.at)
    },
    deleteJobRequest: (agentId) => void agents.get(agentId)?.times.delete('job'),
    flush,
  }
}

const dueTimes = ({ times }: Heard, now: number): Map<Kind, Time> =>
  new Map(
    [...times].filter(([kind, { at, written }]) => at > written && now - written >= betweenWritesMs[kind]),
  )

/** Returns the agents whose rows are locked; it does not wait for them. */
async function write(db: Db, heard: readonly Heard[]): Promise<string[]> {
  const timesOf = (kind: Kind) =>
    heard.map(({ times }) => {
      const time = times.get(kind)
      return time === undefined ? null : new Date(time.at).toISOString()
    })
  const { rows } = await updateTimes(
    heard.map(({ organizationId }) => organizationId),
    heard.map(({ id }) => id),
    timesOf('heartbeat'),
    timesOf('stream'),
    timesOf('job'),
  ).execute(db)
  return rows.map(({ id }) => id)
}

type Times = (string | null)[]

const updateTimes = prepared(
  (organizationIds: string[], ids: string[], heartbeats: Times, streams: Times, jobRequests: Times) => {
    const isHeard = sql`a.organization_id = h.organization_id and a.id = h.id`
    return sql<{ id: string }>`
      with heard as (
        select * from unnest(${organizationIds}::uuid[], ${ids}::uuid[], ${heartbeats}::timestamptz[],
          ${streams}::timestamptz[], ${jobRequests}::timestamptz[])
          as h (organization_id, id, heartbeat_at, stream_at, job_request_at)
      ), free as (
        select a.id from agents a join heard h on ${isHeard} for no key update of a skip locked
      ), written as (
        update agents a set last_seen_at = greatest(a.last_seen_at, h.heartbeat_at),
          stream_opened_at = greatest(a.stream_opened_at, h.stream_at),
          job_heard_at = greatest(a.job_heard_at, h.job_request_at)
        from heard h where ${isHeard} and a.id in (select id from free)
      )
      select a.id from heard h join agents a on ${isHeard} where a.id not in (select id from free)`
  },
)
