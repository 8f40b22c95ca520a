// Responses that are streamed. Each is authorized again every few seconds, and at once when access changes; it ends when its
// caller may no longer read it. Streams that do not end by themselves are limited in number.
import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../../context.ts'
import { groupBy } from '../../lib/group-by.ts'
import { Holdings } from '../../lib/holdings.ts'

const checkMs = 5000
const checksAtOnce = 8

interface Stream {
  /** Streams with the same key have the same caller and the same URL, so one check decides about all of them. */
  key: string
  mayGoOn(): Promise<boolean>
  end(): void
}

const ofServer = new WeakMap<Context['metrics'], OpenStreams>()

/** The streams of the server with this context. */
export function openStreams(ctx: Context): OpenStreams {
  const known = ofServer.get(ctx.metrics) ?? new OpenStreams(ctx)
  ofServer.set(ctx.metrics, known)
  return known
}

class OpenStreams {
  /** The streams that do not end by themselves. */
  readonly endless: Holdings
  private readonly ctx: Context
  private readonly streams = new Set<Stream>()
  private wake = new AbortController()
  private isRunning = false
  private isDue = false

  constructor(ctx: Context) {
    this.ctx = ctx
    this.endless = new Holdings('streams open on this server', ctx.config.streams)
  }

  get count(): number {
    return this.streams.size
  }

  /** `until` aborts when the response is over. */
  watch(stream: Stream, until: AbortSignal): void {
    if (until.aborted) return
    this.streams.add(stream)
    until.addEventListener('abort', () => this.streams.delete(stream), { once: true })
    if (this.isRunning) return
    this.isRunning = true
    void this.run()
  }

  /** To be called when access has changed. */
  checkNow(): void {
    this.isDue = true
    this.wake.abort()
  }

  /** Ends all streams. */
  stop(): void {
    for (const stream of this.streams) stream.end()
    this.wake.abort()
  }

  private async run(): Promise<void> {
    while (this.streams.size > 0) {
      this.wake = new AbortController()
      if (!this.isDue) await delay(checkMs, undefined, { signal: this.wake.signal }).catch(() => {})
      this.isDue = false
      await this.checkAll()
    }
    this.isRunning = false
  }

  private async checkAll(): Promise<void> {
    const groups = groupBy([...this.streams], ({ key }) => key).values()
    const checkGroups = async () => {
      for (const streams of groups) await this.check(streams)
    }
    await Promise.all(Array.from({ length: checksAtOnce }, checkGroups))
  }

  private async check(streams: readonly Stream[]): Promise<void> {
    try {
      if (await streams[0]?.mayGoOn()) return
    } catch (error) {
      // The database is away, so there is nothing new to read either.
      this.ctx.log.warn({ err: error }, 'Streams could not be authorized again; trying again.')
      return
    }
    for (const stream of streams) {
      this.streams.delete(stream)
      stream.end()
    }
  }
}
