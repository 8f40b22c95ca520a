// Reads event streams, and opens them again after every break.
import { setTimeout as pause } from 'node:timers/promises'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { RefusedByServer } from './failures.ts'

interface ReconnectOptions {
  signal: AbortSignal
  /** How long the server may be away. */
  patienceMs?: number | undefined
  /** null: the connection is back. */
  onProblem?(problem: string | null): void
}

/** Requests to a server that may be away for a while. One that has never answered gets a second attempt only. */
export class Reconnecting {
  private readonly options: ReconnectOptions
  private hasAnswered = false
  private hasProblem = false
  private answeredAt = Date.now()
  private failures = 0

  constructor(options: ReconnectOptions) {
    this.options = options
  }

  /** The events of one stream after the other, until the signal. Throws if the server refuses one. */
  async *events(open: () => Promise<Response>): AsyncGenerator<EventSourceMessage> {
    while (!this.options.signal.aborted) {
      try {
        const response = await open()
        this.answered()
        this.failures += 1
        for await (const event of readEvents(response)) {
          this.answered()
          this.failures = 0
          yield event
        }
      } catch (error) {
        this.failed(error)
      }
      // Something on the way may end the streams at once.
      await this.pause()
    }
  }

  /** The server's answer, after as many attempts as it takes; null with the signal. */
  async request<T>(send: () => Promise<T>): Promise<T | null> {
    while (!this.options.signal.aborted) {
      try {
        const answer = await send()
        this.answered()
        this.failures = 0
        return answer
      } catch (error) {
        this.failed(error)
      }
      await this.pause()
    }
    return null
  }

  private answered(): void {
    this.hasAnswered = true
    this.answeredAt = Date.now()
    if (this.hasProblem) this.options.onProblem?.(null)
    this.hasProblem = false
  }

  /** Throws the error if another attempt is of no use. */
  private failed(error: unknown): void {
    const { signal, patienceMs = 300_000, onProblem } = this.options
    if (signal.aborted) return
    const isAway = this.hasAnswered ? Date.now() - this.answeredAt > patienceMs : this.failures > 0
    if (isRefusal(error) || isAway) throw error
    this.failures += 1
    if (!this.hasAnswered) return
    this.hasProblem = true
    const reason = error instanceof Error ? error.message : String(error)
    onProblem?.(`The connection is lost, trying again. ${reason}`)
  }

  private async pause(): Promise<void> {
    if (this.failures === 0) return
    const ms = Math.min(100 * 2 ** this.failures, 5000)
    await pause(ms, undefined, { signal: this.options.signal }).catch(() => {})
  }
}

/** The same request would be refused again. */
export const isRefusal = (error: unknown): error is RefusedByServer =>
  error instanceof RefusedByServer && error.status < 500 && error.status !== 429

/**
 * The events of a response, in order. Throws if nothing arrives for `idleMs`: servers send a comment every 15 seconds, so
 * the connection is dead then, or something on the way holds the events back.
 */
export async function* readEvents({ body }: Response, idleMs = 45_000): AsyncGenerator<EventSourceMessage> {
  if (body === null) return
  const events: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => events.push(event) })
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (;;) {
      const { done, value } = await withLimit(reader.read(), idleMs)
      if (done) return
      parser.feed(value)
      yield* events.splice(0)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

async function withLimit<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The server has sent nothing for ${ms / 1000} seconds.`)), ms)
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}
