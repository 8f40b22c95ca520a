// The idle waiters of one queue. One statement at a time claims jobs for all of them that may have work. A queue is
// always in one of these modes:
//
//   resting    No claim runs, and every waiter was offered the jobs there were.
//   claiming   A claim runs. It is repeated while waiters remain that may have work: they came meanwhile, a notification
//              named the queue, or the last claim found jobs, so that there may be more.
//   unused     No request waits and no claim runs. The dispatcher has deleted it.
//
//   resting -> claiming | unused     claiming -> resting | unused
//
// While it rests, a transaction that makes a job runnable may reserve a waiter and claim for it itself. Claims of the queue leave
// out a reserved waiter until that transaction has ended.
import assert from 'node:assert/strict'
import type { Context } from '../../context.ts'
import type { Assigned } from './assign.ts'
import { claimJobs } from './claim.ts'
import type { Claimant, Claims, Queue } from './claimant.ts'
import type { Waiter, Woken } from './waiter.ts'

/** What the queue asks of its dispatcher. */
interface Owner {
  waitersOf(agentId: string): Iterable<Waiter>
  answer(agentId: string, woken: Woken): void
  deleteQueue(queueId: string): void
}

/** A waiter that a transaction claims a job for. */
export interface Reservation {
  queue: Queue
  claimant: Claimant
  /** Must be called once. null: the transaction was rolled back, or its end is unknown. */
  end(claims: Claims | null): void
}

export class WaitingQueue {
  private readonly ctx: Context
  private readonly id: string
  private readonly owner: Owner
  private isFair = false
  private mode: 'resting' | 'claiming' | 'unused' = 'resting'
  private readonly waiters = new Set<Waiter>()
  /** Those of `waiters` for which the queue may have a job that they were not offered. */
  private mayHaveWork = new Set<Waiter>()
  private readonly reserved = new Set<Waiter>()
  /** When a claim last found no job for an ability, by its JSON. A notification about the queue clears it. */
  private nothingFor = new Map<string, number>()

  constructor(ctx: Context, id: string, owner: Owner) {
    this.ctx = ctx
    this.id = id
    this.owner = owner
  }

  get hasWaiters(): boolean {
    return this.waiters.size > 0
  }

  get clusterId(): string | undefined {
    const [first] = this.waiters
    return first?.agent.clusterId
  }

  add(waiter: Waiter): void {
    assert.notEqual(this.mode, 'unused')
    this.waiters.add(waiter)
    this.isFair = waiter.agent.isQueueFair
    // An agent that comes right after an equal one would find nothing either.
    const foundNothingAt = this.nothingFor.get(waiter.ability.json) ?? -Infinity
    if (performance.now() - foundNothingAt < trustMs) {
      waiter.offer()
      return
    }
    this.mayHaveWork.add(waiter)
    this.claim()
  }

  delete(waiter: Waiter): void {
    this.waiters.delete(waiter)
    this.mayHaveWork.delete(waiter)
    if (this.mode === 'resting' && !this.hasWaiters) this.retire()
  }

  /** The queue may have runnable jobs. */
  offerToAll(): void {
    this.nothingFor = new Map()
    this.mayHaveWork = new Set([...this.waiters].filter((waiter) => !this.reserved.has(waiter)))
    this.claim()
  }

  /** The agents come again, with what has changed. */
  answerAll(): void {
    this.nothingFor = new Map()
    for (const waiter of this.waiters) this.owner.answer(waiter.agent.id, { kind: 'changed' })
  }

  /** The waiter that a new job with these rules would go to. null: there is none, or the next claim decides. */
  reserve(rules: readonly string[]): Reservation | null {
    if (this.mode !== 'resting' || this.isFair) return null
    const fitting = [...this.waiters].filter(
      (waiter) => !this.reserved.has(waiter) && rules.every((rule) => waiter.ability.rules.has(rule)),
    )
    const [first, ...others] = fitting
    if (first === undefined) return null
    const waiter = others.reduce((best, other) => (byPreference(other, best) < 0 ? other : best), first)
    this.reserved.add(waiter)
    const { id: agentId, organizationId } = waiter.agent
    return {
      queue: { organizationId, queueId: this.id },
      claimant: { agentId, ability: waiter.ability },
      end: (claims) => this.endReservation(waiter, claims),
    }
  }

  private endReservation(waiter: Waiter, claims: Claims | null): void {
    this.reserved.delete(waiter)
    if (claims !== null) this.tell(claims)
    // Without a job it may have missed a notification meanwhile.
    if (!this.waiters.has(waiter)) return
    this.mayHaveWork.add(waiter)
    this.claim()
  }

  private claim(): void {
    assert.notEqual(this.mode, 'unused')
    if (this.mode === 'claiming') return
    this.mode = 'claiming'
    void this.claimRepeatedly()
  }

  private async claimRepeatedly(): Promise<void> {
    try {
      while (this.mayHaveWork.size > 0) await this.claimOnce()
    } catch (error) {
      this.ctx.log.warn({ err: error, queue_id: this.id }, 'Could not claim jobs; trying again in a second.')
      for (const waiter of this.waiters) waiter.offer()
      this.claimAgainLater()
    }
    this.rest()
  }

  /** The jobs that this claim was to find are not announced again. */
  private claimAgainLater(): void {
    setTimeout(() => {
      if (this.mode !== 'unused' && this.hasWaiters) this.offerToAll()
    }, retryMs).unref()
  }

  private rest(): void {
    assert.equal(this.mode, 'claiming')
    this.mode = 'resting'
    const overdue = [...this.waiters].filter(({ isOverdue }) => isOverdue)
    if (!this.hasWaiters) this.retire()
    for (const waiter of overdue) waiter.answer({ kind: 'nothing' })
  }

  private retire(): void {
    assert.equal(this.mode, 'resting')
    this.mode = 'unused'
    this.owner.deleteQueue(this.id)
  }

  private async claimOnce(): Promise<void> {
    const candidates = [...this.mayHaveWork].sort(byPreference)
    this.mayHaveWork = new Set()
    const { nothingFor } = this
    const startedAt = Date.now()
    const { assigned, unfit } = await this.claimFor(candidates)
    if (assigned.length > 0) this.trace(startedAt, candidates.length, assigned)
    this.tell({ assigned, unfit })
    // Where some got a job, there may be more for the others.
    if (assigned.length + unfit.length > 0) {
      for (const waiter of candidates) if (this.waiters.has(waiter)) this.mayHaveWork.add(waiter)
    } else {
      // Without effect if a notification has come meanwhile.
      for (const { ability } of candidates) nothingFor.set(ability.json, performance.now())
    }
  }

  private tell({ assigned, unfit }: Claims): void {
    for (const { agentId, jobId, buildId, runnableAt } of assigned) {
      this.observe(agentId, runnableAt)
      this.owner.answer(agentId, { kind: 'assigned', jobId, buildId })
    }
    for (const agentId of unfit) this.owner.answer(agentId, { kind: 'changed' })
  }

  private async claimFor(candidates: readonly Waiter[]): Promise<Claims> {
    const [first] = candidates
    assert(first !== undefined)
    const { organizationId } = first.agent
    try {
      return await claimJobs(
        this.ctx,
        { organizationId, queueId: this.id, isFair: this.isFair },
        claimantsOf(candidates),
      )
    } finally {
      for (const waiter of candidates) if (this.waiters.has(waiter)) waiter.offer()
    }
  }

  /** A job that waited for a free agent, or an agent that waited for a job, is no delay of this process. */
  private observe(agentId: string, runnableAt: string | null): void {
    const cameAt = Math.min(...[...this.owner.waitersOf(agentId)].map(({ arrival }) => arrival.at))
    if (runnableAt === null || cameAt === Infinity) return
    const metAt = Math.max(cameAt, Date.parse(runnableAt))
    this.ctx.metrics.dispatches.observe(Math.max(0, this.ctx.now().getTime() - metAt) / 1000)
  }

  /** Most claims find no job, so a span is made afterwards. */
  private trace(startedAt: number, agentCount: number, assigned: readonly Assigned[]): void {
    const attributes = {
      'millrace.queue.id': this.id,
      'millrace.dispatch.agents': agentCount,
      'millrace.dispatch.jobs': assigned.map(({ jobId }) => jobId),
    }
    this.ctx.tracer?.start({ name: 'dispatch', kind: 'internal', attributes, startedAt }).end()
  }
}

/**
 * How long a claim without a job speaks for equal agents that come later. A job that another process had locked during the
 * claim and then did not take causes no notification, so the queue is looked at again after that time.
 */
const trustMs = 1000

const retryMs = 1000

/** The highest priority first, then the one that passed a job most recently, then the one that has waited longest. */
function byPreference({ agent: a, arrival: first }: Waiter, { agent: b, arrival: second }: Waiter): number {
  if (a.priority !== b.priority) return (b.priority ?? -Infinity) - (a.priority ?? -Infinity)
  return (b.lastJobPassedAt ?? '').localeCompare(a.lastJobPassedAt ?? '') || first.number - second.number
}

/** An agent may wait twice, on its stream and with a ping. */
const claimantsOf = (waiters: readonly Waiter[]): Claimant[] => [
  ...new Map(waiters.map(({ agent, ability }) => [agent.id, { agentId: agent.id, ability }])).values(),
]
