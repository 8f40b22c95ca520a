// The agents whose requests wait for work in this process. Nothing here must survive: an agent that gets no answer asks
// again, and the answer then names its job.
//
// A request that waits is a `Waiter`, and the idle waiters of a queue are a `WaitingQueue`. Whenever the queue may have
// runnable jobs, it claims jobs for its waiters; every process does so for its own. waiter.ts and waiting-queue.ts name
// their modes. A waiter is answered by the first of these:
//
// - a claim, of its queue or of the transaction that makes the job runnable (claim-inside.ts): a job is assigned to its agent,
//   or the agent may take none any more
// - a notification about its agent
// - its time, its client, or the end of this process
//
// The dispatcher itself is in one of these modes:
//
//   starting    It does not listen yet. No request waits.
//   listening   It hears notifications about queues and agents. Every few seconds it looks for those that were lost, and it
//               answers everybody after the connection was down.
//   stopped     Every request is answered at once.
//
//   starting -> listening -> stopped
import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type pg from 'pg'
import type { AgentActivity } from '../../auth/agent-activity.ts'
import type { Context } from '../../context.ts'
import { batch } from '../../db/batch.ts'
import { listen, type Listener } from '../../db/listener.ts'
import { prepared } from '../../db/statement.ts'
import { Waiter, type Waiting, type WaitingAgent, type Woken } from './waiter.ts'
import { WaitingQueue, type Reservation } from './waiting-queue.ts'
import { agentChannel, queueChannel, queueSettingsChannel } from './wake.ts'

export async function startDispatcher(ctx: Context, pool: pg.Pool): Promise<Dispatcher> {
  const dispatcher = new Dispatcher(ctx)
  await dispatcher.start(pool)
  return dispatcher
}

export interface RunnableJob {
  clusterId: string
  /** null: the rules name the queue. */
  queueId: string | null
  rules: readonly string[]
}

export class Dispatcher {
  private readonly ctx: Context
  private mode: 'starting' | 'listening' | 'stopped' = 'starting'
  private listener: Listener | undefined
  private looking: NodeJS.Timeout | undefined
  private readonly agents = new Map<string, Set<Waiter>>()
  private readonly queues = new Map<string, WaitingQueue>()
  private arrivals = 0

  constructor(ctx: Context) {
    this.ctx = ctx
  }

  async start(pool: pg.Pool): Promise<void> {
    assert.equal(this.mode, 'starting')
    this.listener = await listen(pool, {
      channels: {
        [queueChannel]: (queueIds) => queueIds.split(',').forEach((id) => this.queues.get(id)?.offerToAll()),
        [queueSettingsChannel]: (queueId) => this.queues.get(queueId)?.answerAll(),
        [agentChannel]: (payload) => this.agentChanged(payload),
      },
      // Notifications are lost while the connection is down, so every agent is looked at again.
      onConnected: () => this.answerAll({ kind: 'changed' }),
      onError: (error) =>
        this.ctx.log.warn({ err: error }, 'Lost the connection that listens for runnable jobs.'),
    })
    this.looking = setInterval(() => void this.lookAgain().catch(() => {}), lookAgainMs)
    this.mode = 'listening'
    dispatchers.set(this.ctx.agentActivity, this)
  }

  wait(agent: WaitingAgent, waiting: Waiting): Promise<Woken> {
    assert.notEqual(this.mode, 'starting')
    if (this.mode === 'stopped' || waiting.signal.aborted) return Promise.resolve({ kind: 'nothing' })
    return new Promise((resolve) => {
      const arrival = { number: this.arrivals++, at: this.ctx.now().getTime() }
      const waiter = new Waiter(agent, waiting, arrival, (woken) => {
        this.delete(waiter)
        resolve(woken)
      })
      this.add(waiter)
    })
  }

  /** The number of agents that the next job may go to: those that were offered the jobs there were when they came. */
  countWaiting(): number {
    const isWaiting = ({ isIdle, isOffered }: Waiter) => isIdle && isOffered
    return [...this.agents.values()].filter((waiters) => [...waiters].some(isWaiting)).length
  }

  /** For a job that the caller makes runnable. null: no agent waits for it here, or the queue's next claim decides. */
  reserve({ clusterId, queueId, rules }: RunnableJob): Reservation | null {
    if (queueId !== null) return this.queues.get(queueId)?.reserve(rules) ?? null
    // The rules name the queue, and only its agents satisfy them.
    for (const queue of this.queues.values()) {
      const reservation = queue.clusterId === clusterId ? queue.reserve(rules) : null
      if (reservation !== null) return reservation
    }
    return null
  }

  /** Ends all waits. */
  async stop(): Promise<void> {
    assert.equal(this.mode, 'listening')
    this.mode = 'stopped'
    dispatchers.delete(this.ctx.agentActivity)
    clearInterval(this.looking)
    this.answerAll({ kind: 'nothing' })
    await this.listener?.stop()
  }

  waitersOf(agentId: string): Iterable<Waiter> {
    return this.agents.get(agentId) ?? []
  }

  answer(agentId: string, woken: Woken): void {
    for (const waiter of this.waitersOf(agentId)) waiter.answer(woken)
  }

  deleteQueue(queueId: string): void {
    this.queues.delete(queueId)
  }

  private add(waiter: Waiter): void {
    const { agent, queueId } = waiter
    this.agents.set(agent.id, (this.agents.get(agent.id) ?? new Set()).add(waiter))
    if (queueId === null) return
    const queue = this.queues.get(queueId) ?? new WaitingQueue(this.ctx, queueId, this)
    this.queues.set(queueId, queue)
    queue.add(waiter)
  }

  private delete(waiter: Waiter): void {
    const { agent, queueId } = waiter
    if (queueId !== null) this.queues.get(queueId)?.delete(waiter)
    const waiters = this.agents.get(agent.id)
    waiters?.delete(waiter)
    if (waiters?.size === 0) this.agents.delete(agent.id)
  }

  private answerAll(woken: Woken): void {
    for (const agentId of this.agents.keys()) this.answer(agentId, woken)
  }

  private agentChanged(payload: string): void {
    const [agentId = '', isFree] = payload.split(' ')
    for (const waiter of this.waitersOf(agentId)) {
      // An agent that waits for a job was free before.
      if (!(isFree && waiter.isIdle)) waiter.answer({ kind: 'changed' })
    }
  }

  /** Finds what a lost notification was about. */
  private async lookAgain(): Promise<void> {
    const withWaiters = [...this.queues].flatMap(([queueId, { hasWaiters }]) => (hasWaiters ? [queueId] : []))
    const busy = [...this.agents].flatMap(([agentId, waiters]) =>
      [...waiters].some(({ isIdle }) => !isIdle) ? [agentId] : [],
    )
    if (withWaiters.length + busy.length === 0) return
    const [runnable, free] = await batch(this.ctx.db, [queuesWithJobs(withWaiters), agentsWithoutJob(busy)])
    for (const { id } of runnable) this.queues.get(id)?.offerToAll()
    for (const { id } of free) this.agentChanged(`${id} free`)
  }
}

/** A server and its dispatcher share what is known of the agents that speak to them. */
const dispatchers = new WeakMap<AgentActivity, Dispatcher>()

/** null: no requests of agents wait in this process. */
export const dispatcherOf = ({ agentActivity }: Context): Dispatcher | null =>
  dispatchers.get(agentActivity) ?? null

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
