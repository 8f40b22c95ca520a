// The agents whose requests wait for work in this process. Whenever a queue may have runnable jobs, one statement claims
// jobs for all its waiting agents; every process does so once. Nothing here must survive: an agent that gets no answer
// asks again, and the answer then names its job.
import type pg from 'pg'
import type { Context } from '../context.ts'
import { listen } from '../db/listener.ts'
import { abilityOf, claimJobs, type Ability, type Claimant } from './claim.ts'
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
  /** Whether the queue may have a job that it was not offered. */
  mayHaveWork: boolean
  /** Whether it was offered the jobs there were when it came. Its wait does not end before that. */
  wasOffered: boolean
  isTimeOver: boolean
  since: number
  wake(woken: Woken): void
}

interface QueueState {
  isClaiming: boolean
  /** Whether to claim once more: something happened since the last claim began. */
  isPending: boolean
}

export async function startDispatcher(ctx: Context, pool: pg.Pool): Promise<Dispatcher> {
  const waiters = new Set<Waiter>()
  const queues = new Map<string, QueueState>()
  let isStopped = false
  let arrivals = 0

  const wakeAll = (agentId: string, woken: Woken) => {
    for (const waiter of waiters) if (waiter.agent.id === agentId) waiter.wake(woken)
  }

  const wakeAgent = (payload: string) => {
    const [agentId, isFree] = payload.split(' ')
    for (const waiter of waiters) {
      // An agent that waits for a job was free before.
      if (waiter.agent.id === agentId && !(isFree && waiter.isIdle)) waiter.wake({ kind: 'changed' })
    }
  }

  const claimFor = async (queueId: string): Promise<void> => {
    const queue = queues.get(queueId) ?? { isClaiming: false, isPending: false }
    queues.set(queueId, queue)
    queue.isPending = true
    if (queue.isClaiming) return
    queue.isClaiming = true
    try {
      while (queue.isPending) {
        queue.isPending = false
        await offerJobs(queueId)
      }
    } catch (error) {
      ctx.log.warn({ err: error, queue_id: queueId }, 'Could not claim jobs; the agents will ask again.')
      for (const waiter of idleIn(queueId)) waiter.wasOffered = true
    } finally {
      queues.delete(queueId)
      for (const waiter of idleIn(queueId))
        if (waiter.isTimeOver && waiter.wasOffered) waiter.wake({ kind: 'nothing' })
    }
  }

  const idleIn = (queueId: string) =>
    [...waiters].filter(({ agent, isIdle }) => isIdle && agent.queueId === queueId)

  const offerJobs = async (queueId: string): Promise<void> => {
    for (;;) {
      const candidates = idleIn(queueId)
        .filter(({ mayHaveWork }) => mayHaveWork)
        .sort(byPreference)
      const [first] = candidates
      if (first === undefined || isStopped) return
      for (const waiter of candidates) waiter.mayHaveWork = false
      const queue = { organizationId: first.agent.organizationId, queueId }
      const { assigned, unfit } = await claimJobs(ctx, queue, claimantsOf(candidates)).finally(() => {
        for (const waiter of candidates) waiter.wasOffered = true
      })
      for (const { agentId, jobId } of assigned) wakeAll(agentId, { kind: 'assigned', jobId })
      for (const agentId of unfit) wakeAll(agentId, { kind: 'changed' })
      // Where some got a job, there may be more for the others.
      if (assigned.length + unfit.length > 0) for (const waiter of candidates) waiter.mayHaveWork = true
    }
  }

  const offerToAll = (queueId: string) => {
    for (const waiter of idleIn(queueId)) waiter.mayHaveWork = true
    void claimFor(queueId)
  }

  const listener = await listen(pool, {
    channels: {
      [queueChannel]: (queueIds) => queueIds.split(',').forEach(offerToAll),
      [agentChannel]: wakeAgent,
    },
    // Notifications are lost while the connection is down, so every agent is looked at again.
    onConnected: () => waiters.forEach((waiter) => waiter.wake({ kind: 'changed' })),
    onError: (error) => ctx.log.warn({ err: error }, 'Lost the connection that listens for runnable jobs.'),
  })

  return {
    wait: (agent, { isIdle, ms, signal }) =>
      new Promise((resolve) => {
        const wake = (woken: Woken) => {
          clearTimeout(timer)
          signal.removeEventListener('abort', leave)
          waiters.delete(waiter)
          resolve(woken)
        }
        const leave = () => wake({ kind: 'nothing' })
        const ability = abilityOf(agent.tags)
        const waiter: Waiter = {
          agent,
          ability,
          isIdle,
          mayHaveWork: isIdle,
          wasOffered: !isIdle || agent.queueId === null,
          isTimeOver: false,
          since: arrivals++,
          wake,
        }
        const timer = setTimeout(() => {
          waiter.isTimeOver = true
          if (waiter.wasOffered) leave()
        }, ms)
        signal.addEventListener('abort', leave)
        waiters.add(waiter)
        if (isStopped || signal.aborted) leave()
        else if (isIdle && agent.queueId !== null) void claimFor(agent.queueId)
      }),
    countWaiting: () =>
      claimantsOf([...waiters].filter(({ isIdle, wasOffered }) => isIdle && wasOffered)).length,
    async stop() {
      isStopped = true
      for (const waiter of waiters) waiter.wake({ kind: 'nothing' })
      await listener.stop()
    },
  }
}

/** The highest priority first, then the one that passed a job most recently, then the one that has waited longest. */
function byPreference({ agent: a, since: sinceA }: Waiter, { agent: b, since: sinceB }: Waiter): number {
  if (a.priority !== b.priority) return (b.priority ?? -Infinity) - (a.priority ?? -Infinity)
  return (b.lastJobPassedAt ?? '').localeCompare(a.lastJobPassedAt ?? '') || sinceA - sinceB
}

/** An agent may wait twice, on its stream and with a ping. */
const claimantsOf = (waiters: readonly Waiter[]): Claimant[] => [
  ...new Map(waiters.map(({ agent, ability }) => [agent.id, { agentId: agent.id, ability }])).values(),
]
