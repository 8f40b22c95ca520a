// The agents that wait for work in this process, and how they hear of it. Whenever a queue may have runnable jobs,
// its waiting agents claim together: one statement finds work for all of them, and of many processes each asks once.
// Everything here can be lost: an agent that is not told asks again, and is then told what its job is.
import type pg from 'pg'
import type { Context } from '../context.ts'
import { listen } from '../db/listener.ts'
import { abilityOf, claimJobs, type Ability, type Claimant } from './claim.ts'
import { agentChannel, queueChannel } from './wake.ts'

export interface WaitingAgent {
  id: string
  organizationId: string
  /** null: its queue has been deleted, and no job will come. */
  queueId: string | null
  tags: readonly string[]
  /** null: below every number. */
  priority: number | null
  lastJobPassedAt: string | null
}

export type Woken =
  | { kind: 'assigned'; jobId: string }
  /** Something about the agent may be different now. */
  | { kind: 'changed' }
  /** Time is up, whoever waited has left, or the process stops. */
  | { kind: 'nothing' }

export interface Waiting {
  /** Whether a job may be claimed for it, or it only waits to hear of changes. */
  isIdle: boolean
  ms: number
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal
}

export interface Dispatcher {
  wait(agent: WaitingAgent, waiting: Waiting): Promise<Woken>
  /** How many agents the next job may go to: those that have been offered what there was when they came. */
  countWaiting(): number
  /** Lets everybody go. */
  stop(): Promise<void>
}

interface Waiter {
  agent: WaitingAgent
  ability: Ability
  isIdle: boolean
  /** Whether there may be a job that it was not offered. */
  isHopeful: boolean
  /** Whether it has been offered what there was when it came: nobody leaves before that. */
  isAnswered: boolean
  isLate: boolean
  since: number
  wake(woken: Woken): void
}

interface Desk {
  isServing: boolean
  /** Something happened while it was serving. */
  isAsked: boolean
}

export async function startDispatcher(ctx: Context, pool: pg.Pool): Promise<Dispatcher> {
  const waiters = new Set<Waiter>()
  const desks = new Map<string, Desk>()
  let isStopped = false
  let arrivals = 0

  const wakeAll = (agentId: string, woken: Woken) => {
    for (const waiter of waiters) if (waiter.agent.id === agentId) waiter.wake(woken)
  }

  const hear = (news: string) => {
    const [agentId, isFree] = news.split(' ')
    for (const waiter of waiters) {
      // Whoever waits for a job has been free before.
      if (waiter.agent.id === agentId && !(isFree && waiter.isIdle)) waiter.wake({ kind: 'changed' })
    }
  }

  const serve = async (queueId: string): Promise<void> => {
    const desk = desks.get(queueId) ?? { isServing: false, isAsked: false }
    desks.set(queueId, desk)
    desk.isAsked = true
    if (desk.isServing) return
    desk.isServing = true
    try {
      while (desk.isAsked) {
        desk.isAsked = false
        await offer(queueId)
      }
    } catch (error) {
      ctx.log.warn({ err: error, queue_id: queueId }, 'Could not hand out jobs; the agents will ask again.')
      for (const waiter of idleIn(queueId)) waiter.isAnswered = true
    } finally {
      desks.delete(queueId)
      for (const waiter of idleIn(queueId))
        if (waiter.isLate && waiter.isAnswered) waiter.wake({ kind: 'nothing' })
    }
  }

  const idleIn = (queueId: string) =>
    [...waiters].filter(({ agent, isIdle }) => isIdle && agent.queueId === queueId)

  const offer = async (queueId: string): Promise<void> => {
    for (;;) {
      const hopeful = idleIn(queueId)
        .filter(({ isHopeful }) => isHopeful)
        .sort(byPreference)
      const [first] = hopeful
      if (first === undefined || isStopped) return
      for (const waiter of hopeful) waiter.isHopeful = false
      const queue = { organizationId: first.agent.organizationId, queueId }
      const { assigned, unfit } = await claimJobs(ctx, queue, claimantsOf(hopeful)).finally(() => {
        for (const waiter of hopeful) waiter.isAnswered = true
      })
      for (const { agentId, jobId } of assigned) wakeAll(agentId, { kind: 'assigned', jobId })
      for (const agentId of unfit) wakeAll(agentId, { kind: 'changed' })
      // Where some were served, there may be more for the others.
      if (assigned.length + unfit.length > 0) for (const waiter of hopeful) waiter.isHopeful = true
    }
  }

  const serveAll = (queueId: string) => {
    for (const waiter of idleIn(queueId)) waiter.isHopeful = true
    void serve(queueId)
  }

  const listener = await listen(pool, {
    channels: {
      [queueChannel]: (queueIds) => queueIds.split(',').forEach(serveAll),
      [agentChannel]: hear,
    },
    // What happened while nobody listened is unknown, so everybody looks again.
    onConnected: () => waiters.forEach((waiter) => waiter.wake({ kind: 'changed' })),
    onError: (error) => ctx.log.warn({ err: error }, 'Lost the connection that hears of runnable jobs.'),
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
          isHopeful: isIdle,
          isAnswered: !isIdle || agent.queueId === null,
          isLate: false,
          since: arrivals++,
          wake,
        }
        const timer = setTimeout(() => {
          waiter.isLate = true
          if (waiter.isAnswered) leave()
        }, ms)
        signal.addEventListener('abort', leave)
        waiters.add(waiter)
        if (isStopped || signal.aborted) leave()
        else if (isIdle && agent.queueId !== null) void serve(agent.queueId)
      }),
    countWaiting: () =>
      claimantsOf([...waiters].filter(({ isIdle, isAnswered }) => isIdle && isAnswered)).length,
    async stop() {
      isStopped = true
      for (const waiter of waiters) waiter.wake({ kind: 'nothing' })
      await listener.stop()
    },
  }
}

/** The higher priority first, then whoever passed a job most recently, then whoever has waited longest. */
function byPreference({ agent: a, since: sinceA }: Waiter, { agent: b, since: sinceB }: Waiter): number {
  if (a.priority !== b.priority) return (b.priority ?? -Infinity) - (a.priority ?? -Infinity)
  return (b.lastJobPassedAt ?? '').localeCompare(a.lastJobPassedAt ?? '') || sinceA - sinceB
}

/** An agent may wait twice, on its stream and by asking. */
const claimantsOf = (waiters: readonly Waiter[]): Claimant[] => [
  ...new Map(waiters.map(({ agent, ability }) => [agent.id, { agentId: agent.id, ability }])).values(),
]
