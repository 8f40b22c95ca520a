// Retries of calls: how often, with which delays, after which errors.

import type { Clock } from '../clock.ts'
import { NoAnswer } from './exchange.ts'

export interface RetryRule {
  attempts: number
  /** Seconds before the next attempt; the first wait is number 0. */
  wait: (wait: number) => number
  /** Random seconds between the two, added to every wait. */
  jitter?: readonly [least: number, most: number]
  /** Time limit of all attempts. */
  totalSeconds?: number
  repeats: (failure: unknown) => boolean
  honorsRetryAfter?: boolean
}

/** A refusal: any status outside 200 to 299. */
export class Refused extends Error {
  readonly status: number
  readonly retryAfterSeconds: number | null
  /** The server's message alone. */
  readonly reason: string
  constructor(what: string, status: number, reason: string, retryAfterSeconds: number | null) {
    super(`${what}: ${status}${reason === '' ? '' : ` ${reason}`}`)
    this.name = 'Refused'
    this.status = status
    this.reason = reason
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export const constant = (seconds: number) => (): number => seconds
export const powersOfTwo = (wait: number): number => 2 ** wait
/** Starts at the given seconds and grows by the same ratio each time. */
export const curve =
  (seconds: number, ratio: number) =>
  (wait: number): number =>
    seconds * ratio ** wait

/** Too many requests, a server error, or no response. */
export function isPassing(failure: unknown): boolean {
  if (failure instanceof Refused) return failure.status === 429 || failure.status >= 500
  return failure instanceof NoAnswer
}

export interface Repeating {
  clock: Clock
  signal?: AbortSignal | undefined
  /** Called before each wait. */
  waiting?: ((failure: unknown, attempt: number, seconds: number) => void) | undefined
}

/** Attempts are counted from 0. Throws the last failure. */
export async function repeat<T>(
  rule: RetryRule,
  { clock, signal, waiting }: Repeating,
  attempt: (count: number) => Promise<T>,
): Promise<T> {
  const giveUpAt = clock.now() + (rule.totalSeconds ?? Number.POSITIVE_INFINITY) * 1000
  for (let count = 0; ; count += 1) {
    try {
      return await attempt(count)
    } catch (failure) {
      const isLast = count + 1 >= rule.attempts || isAborted(signal)
      if (isLast || !rule.repeats(failure)) throw failure
      const seconds = waitSeconds(rule, count, failure, clock)
      if (clock.now() + seconds * 1000 > giveUpAt) throw failure
      waiting?.(failure, count, seconds)
      await clock.sleep(seconds * 1000, signal)
      if (isAborted(signal)) throw failure
    }
  }
}

function waitSeconds(rule: RetryRule, count: number, failure: unknown, clock: Clock): number {
  const asked = failure instanceof Refused ? failure.retryAfterSeconds : null
  if (rule.honorsRetryAfter === true && asked !== null) return asked
  const [least, most] = rule.jitter ?? [0, 0]
  return Math.max(0, rule.wait(count) + least + clock.random() * (most - least))
}

/** A function, because the compiler narrows a property that is read twice. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}
