// One request of an agent that waits: a ping, or an event stream. It is always in one of these modes:
//
//   arrived    Its queue may have a job that it was not offered. It is not answered with `nothing` before it was.
//   overdue    Like `arrived`, but its time is over. It is answered when its queue has no claim left.
//   offered    It was offered the jobs there were. It waits for the next one, for a change, or until its time is over.
//   answered   The request has its answer. Nothing follows.
//
//   arrived -> offered | overdue | answered     offered -> answered     overdue -> answered
//
// A request begins as `offered` if no job may be claimed for it: its agent is busy, or has no queue.
import assert from 'node:assert/strict'
import { abilityOf, type Ability } from './claimant.ts'

export interface WaitingAgent {
  id: string
  organizationId: string
  clusterId: string
  /** null: its queue was deleted, so it gets no job. */
  queueId: string | null
  isQueueFair: boolean
  tags: readonly string[]
  /** null: below every number. */
  priority: number | null
  lastJobPassedAt: string | null
}

export type Woken =
  | { kind: 'assigned'; jobId: string; buildId: string }
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

interface Arrival {
  /** Counts the requests of this process. */
  number: number
  /** By the database's clock, in milliseconds. */
  at: number
}

export class Waiter {
  readonly agent: WaitingAgent
  readonly ability: Ability
  readonly isIdle: boolean
  readonly arrival: Arrival
  private mode: 'arrived' | 'overdue' | 'offered' | 'answered'
  private readonly signal: AbortSignal
  private readonly timer: NodeJS.Timeout
  private readonly onAnswer: (woken: Woken) => void

  constructor(agent: WaitingAgent, waiting: Waiting, arrival: Arrival, onAnswer: (woken: Woken) => void) {
    this.agent = agent
    this.ability = abilityOf(agent.tags)
    this.isIdle = waiting.isIdle
    this.arrival = arrival
    this.mode = this.queueId === null ? 'offered' : 'arrived'
    this.signal = waiting.signal
    this.onAnswer = onAnswer
    this.timer = setTimeout(() => this.timeOut(), waiting.ms)
    this.signal.addEventListener('abort', this.giveUp)
  }

  /** The queue whose jobs may be claimed for it. */
  get queueId(): string | null {
    return this.isIdle ? this.agent.queueId : null
  }

  get isOffered(): boolean {
    return this.mode === 'offered'
  }

  get isOverdue(): boolean {
    return this.mode === 'overdue'
  }

  /** A claim with it has ended, or would have found nothing. One that is overdue stays so until its queue rests. */
  offer(): void {
    assert.notEqual(this.mode, 'answered')
    if (this.mode === 'arrived') this.mode = 'offered'
  }

  answer(woken: Woken): void {
    assert.notEqual(this.mode, 'answered')
    this.mode = 'answered'
    clearTimeout(this.timer)
    this.signal.removeEventListener('abort', this.giveUp)
    this.onAnswer(woken)
  }

  private timeOut(): void {
    assert(this.mode === 'arrived' || this.mode === 'offered')
    if (this.mode === 'arrived') this.mode = 'overdue'
    else this.answer({ kind: 'nothing' })
  }

  private readonly giveUp = () => this.answer({ kind: 'nothing' })
}
