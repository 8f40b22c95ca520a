// The agents whose requests wait for work in this process. Whenever a queue may have runnable jobs, one statement claims
// jobs for all its waiting agents; every process does so once. Nothing here must survive: an agent that gets no answer
// asks again, and the answer then names its job.
import { sql } from 'kysely'
import type pg from 'pg'
import type { Context } from '../../context.ts'
import { batch } from '../../db/batch.ts'
import { listen } from '../../db/listener.ts'
import { prepared } from '../../db/statement.ts'
import { abilityOf, claimJobs, type Ability, type Assigned, type Claimant } from './claim.ts'
import { agentChannel, queueChannel } from './wake.ts'

export interface WaitingAgent {
  id: string
  organizationId: string
  /** null: its queue was deleted, so it gets no job. */
  queueId: string | null
  tags: readonly string[]
  /** null: below every number. */
  priority: number | null
  lastJobPassedAt: string | null
}

export type Woken =
  | { kind: 'assigned'; jobId: string }
  /** Something about the agent may have changed. */
  | { kind: 'changed' }
  /** The time is over, the request was aborted, or the process stops. */
  | { kind: 'nothing' }

export interface Waiting {
  /** Whether a job may be claimed for it; otherwise it only waits for changes. */
  isIdle: boolean
  ms: number
  /** Aborted when the request ends. */
  signal: AbortSignal
}

export interface Dispatcher {
  wait(agent: WaitingAgent, waiting: Waiting): Promise<Woken>
  /** The number of agents that the next job may go to: those that were offered the jobs there were when they came. */
  countWaiting(): number
  /** Ends all waits. */
  stop(): Promise<void>
}

interface Waiter {
  agent: WaitingAgent
  ability: Ability
  isIdle: boolean
  /** Whether it was offered the jobs there were when it came. Its wait does not end before that. */
  wasOffered: boolean
  since: number
  /** By the database's clock, in milliseconds. */
  cameAt: number
  wake(woken: Woken): void
}

/** A queue with idle waiters, or with a claim for some. The other sets are parts of `idle`. */
interface QueueState {
  idle: Set<Waiter>
  /** Those for which the queue may have a job that they were not offered. */
  mayHaveWork: Set<Waiter>
  /** Those whose time was over before they were offered a job. */
  overdue: Set<Waiter>
  /** When a claim last found no job for an ability, by its JSON. A notification about the queue clears it. */
  nothingFor: Map<string, number>
  isClaiming: boolean
  /** Whether to claim once more: something happened since the last claim began. */
  isPending: boolean
}

export async function startDispatcher(ctx: Context, pool: pg.Pool): Promise<Dispatcher> {
  const agents = new Map<string, Set<Waiter>>()
  const queues = new Map<string, QueueState>()
  let isStopped = false
  let arrivals = 0

  const waitersOf = (agentId: string): Iterable<Waiter> => agents.get(agentId) ?? []

  const wakeAgent = (agentId: string, woken: Woken) => {
    for (const waiter of waitersOf(agentId)) waiter.wake(woken)
  }

  const wakeEverybody = (woken: Woken) => {
    for (const agentId of agents.keys()) wakeAgent(agentId, woken)
  }

  const agentChanged = (payload: string) => {
    const [agentId = '', isFree] = payload.split(' ')
    for (const waiter of waitersOf(agentId)) {
      // An agent that waits for a job was free before.
      if (!(isFree && waiter.isIdle)) waiter.wake({ kind: 'changed' })
    }
  }

  const claimFor = async (queueId: string, queue: QueueState): Promise<void> => {
    queue.isPending = true
    if (queue.isClaiming) return
    queue.isClaiming = true
    try {
      while (queue.isPending) {
        queue.isPending = false
        await offerJobs(queueId, queue)
      }
    } catch (error) {
      ctx.log.warn({ err: error, queue_id: queueId }, 'Could not claim jobs; the agents will ask again.')
      for (const waiter of queue.idle) waiter.wasOffered = true
    } finally {
      queue.isClaiming = false
      for (const waiter of queue.overdue) if (waiter.wasOffered) waiter.wake({ kind: 'nothing' })
      deleteUnused(queueId, queue)
    }
  }

  const offerJobs = async (queueId: string, queue: QueueState): Promise<void> => {
    for (;;) {
      const candidates = [...queue.mayHaveWork].sort(byPreference)
      const [first] = candidates
      if (first === undefined || isStopped) return
      queue.mayHaveWork.clear()
      const startedAt = Date.now()
      const { organizationId } = first.agent
      const claims = claimJobs(ctx, { organizationId, queueId }, claimantsOf(candidates))
      const { nothingFor } = queue
      const { assigned, unfit } = await claims.finally(() => {
        for (const waiter of candidates) waiter.wasOffered = true
      })
      if (assigned.length > 0) traceDispatch(queueId, startedAt, candidates.length, assigned)
      for (const { agentId, jobId, runnableAt } of assigned) {
        observeDispatch(agentId, runnableAt)
        wakeAgent(agentId, { kind: 'assigned', jobId })
      }
      for (const agentId of unfit) wakeAgent(agentId, { kind: 'changed' })
      // Where some got a job, there may be more for the others.
      if (assigned.length + unfit.length > 0) {
        for (const waiter of candidates) if (queue.idle.has(waiter)) queue.mayHaveWork.add(waiter)
      } else {
        // Without effect if a notification has come meanwhile.
        for (const { ability } of candidates) nothingFor.set(ability.json, performance.now())
      }
    }
  }

  /** A job that waited for a free agent, or an agent that waited for a job, is no delay of this process. */
  const observeDispatch = (agentId: string, runnableAt: string | null) => {
    const cameAt = Math.min(...[...waitersOf(agentId)].map((waiter) => waiter.cameAt))
    if (runnableAt === null || cameAt === Infinity) return
    const metAt = Math.max(cameAt, Date.parse(runnableAt))
    ctx.metrics.dispatches.observe(Math.max(0, ctx.now().getTime() - metAt) / 1000)
  }

  /** Most claims find no job, so a span is made afterwards. */
  const traceDispatch = (
    queueId: string,
    startedAt: number,
    agentCount: number,
    assigned: readonly Assigned[],
  ) => {
    const attributes = {
      'millrace.queue.id': queueId,
      'millrace.dispatch.agents': agentCount,
      'millrace.dispatch.jobs': assigned.map(({ jobId }) => jobId),
    }
    ctx.tracer?.start({ name: 'dispatch', kind: 'internal', attributes, startedAt }).end()
  }

  const offerToAll = (queueId: string) => {
    const queue = queues.get(queueId)
    if (queue === undefined) return
    queue.nothingFor = new Map()
    for (const waiter of queue.idle) queue.mayHaveWork.add(waiter)
    void claimFor(queueId, queue)
  }

  /** The waiter's queue, if a job of it may be claimed for the waiter. */
  const queueOf = ({ agent, isIdle }: Waiter): { queueId: string; queue: QueueState } | null => {
    const { queueId } = agent
    if (!isIdle || queueId === null) return null
    const queue = queues.get(queueId) ?? newQueue()
    queues.set(queueId, queue)
    return { queueId, queue }
  }

  const deleteUnused = (queueId: string, { idle, isClaiming }: QueueState) => {
    if (idle.size === 0 && !isClaiming) queues.delete(queueId)
  }

  /** Finds what a lost notification was about. */
  const lookAgain = async (): Promise<void> => {
    const hasIdle = [...queues].flatMap(([queueId, { idle }]) => (idle.size > 0 ? [queueId] : []))
    const busy = [...agents].flatMap(([agentId, waiters]) =>
      [...waiters].some(({ isIdle }) => !isIdle) ? [agentId] : [],
    )
    if (hasIdle.length + busy.length === 0) return
    const [runnable, free] = await batch(ctx.db, [queuesWithJobs(hasIdle), agentsWithoutJob(busy)])
    for (const { id } of runnable) offerToAll(id)
    for (const { id } of free) agentChanged(`${id} free`)
  }
  const looking = setInterval(() => void lookAgain().catch(() => {}), lookAgainMs)

  const listener = await listen(pool, {
    channels: {
      [queueChannel]: (queueIds) => queueIds.split(',').forEach(offerToAll),
      [agentChannel]: agentChanged,
    },
    // Notifications are lost while the connection is down, so every agent is looked at again.
    onConnected: () => wakeEverybody({ kind: 'changed' }),
    onError: (error) => ctx.log.warn({ err: error }, 'Lost the connection that listens for runnable jobs.'),
  })

  return {
    wait: (agent, { isIdle, ms, signal }) =>
      new Promise((resolve) => {
        if (isStopped || signal.aborted) {
          resolve({ kind: 'nothing' })
          return
        }
        const wake = (woken: Woken) => {
          clearTimeout(timer)
          signal.removeEventListener('abort', leave)
          leaveQueue()
          ofAgent.delete(waiter)
          if (ofAgent.size === 0) agents.delete(agent.id)
          resolve(woken)
        }
        const leave = () => wake({ kind: 'nothing' })
        const leaveQueue = () => {
          if (own === null) return
          own.queue.idle.delete(waiter)
          own.queue.mayHaveWork.delete(waiter)
          own.queue.overdue.delete(waiter)
          deleteUnused(own.queueId, own.queue)
        }
        const waiter: Waiter = {
          agent,
          ability: abilityOf(agent.tags),
          isIdle,
          wasOffered: !isIdle || agent.queueId === null,
          since: arrivals++,
          cameAt: ctx.now().getTime(),
          wake,
        }
        const ofAgent = agents.get(agent.id) ?? new Set()
        agents.set(agent.id, ofAgent.add(waiter))
        const own = queueOf(waiter)
        const timer = setTimeout(() => {
          if (waiter.wasOffered) leave()
          else own?.queue.overdue.add(waiter)
        }, ms)
        signal.addEventListener('abort', leave)
        if (own === null) return
        own.queue.idle.add(waiter)
        // An agent that comes right after an equal one would find nothing either.
        const foundNothingAt = own.queue.nothingFor.get(waiter.ability.json) ?? -Infinity
        if (performance.now() - foundNothingAt < trustMs) {
          waiter.wasOffered = true
          return
        }
        own.queue.mayHaveWork.add(waiter)
        void claimFor(own.queueId, own.queue)
      }),
    countWaiting: () =>
      [...agents.values()].filter((ofAgent) =>
        [...ofAgent].some(({ isIdle, wasOffered }) => isIdle && wasOffered),
      ).length,
    async stop() {
      isStopped = true
      clearInterval(looking)
      wakeEverybody({ kind: 'nothing' })
      await listener.stop()
    },
  }
}

/**
 * How long a claim without a job speaks for equal agents that come later. A job that another process had locked during the
 * claim and then did not take causes no notification, so the queue is looked at again after that time.
 */
const trustMs = 1000

/** As long as an agent's request waits at least. */
const lookAgainMs = 4000

const queuesWithJobs = prepared(
  (queueIds: readonly string[]) => sql<{ id: string }>`
    select q.id from unnest(${queueIds}::uuid[]) as q (id)
    where exists (select from jobs where queue_id = q.id and state = 'scheduled')`,
)

const agentsWithoutJob = prepared(
  (agentIds: readonly string[]) => sql<{ id: string }>`
    select a.id from unnest(${agentIds}::uuid[]) as a (id) where not exists (select from jobs j where j.agent_id = a.id
      and j.state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling'))`,
)

const newQueue = (): QueueState => ({
  idle: new Set(),
  mayHaveWork: new Set(),
  overdue: new Set(),
  nothingFor: new Map(),
  isClaiming: false,
  isPending: false,
})

/** The highest priority first, then the one that passed a job most recently, then the one that has waited longest. */
function byPreference({ agent: a, since: sinceA }: Waiter, { agent: b, since: sinceB }: Waiter): number {
  if (a.priority !== b.priority) return (b.priority ?? -Infinity) - (a.priority ?? -Infinity)
  return (b.lastJobPassedAt ?? '').localeCompare(a.lastJobPassedAt ?? '') || sinceA - sinceB
}

/** An agent may wait twice, on its stream and with a ping. */
const claimantsOf = (waiters: readonly Waiter[]): Claimant[] => [
  ...new Map(waiters.map(({ agent, ability }) => [agent.id, { agentId: agent.id, ability }])).values(),
]
