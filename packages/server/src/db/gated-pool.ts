// A pool that keeps to a few connections. Behind each is a process of the database with memory of its own; where more of
// them take turns than there are processors, each finds its part of the caches taken by the others. Statements that are
// quick are done sooner by waiting a moment for one of the few. Whatever takes longer is not counted, so that nobody
// waits for locks that others wait for, or for somebody's large answer.
import pg from 'pg'

/** Ends every wait for a connection, in the words of the driver's own pool. */
const tooLate = () => new Error('timeout exceeded when trying to connect')

export interface GateOptions {
  /** A connection that is held for longer waits for something itself. */
  quickMs?: number
  /** Told when a connection could not be had. */
  onRefused?: (error: Error) => void
}

interface Waiting {
  since: number
  callback: Callback
}

type Callback = (error: Error | undefined, client?: pg.PoolClient, done?: (release?: unknown) => void) => void

export class GatedPool extends pg.Pool {
  private readonly few: number
  private readonly quickMs: number
  private readonly mostWaitMs: number
  private readonly onRefused: (error: Error) => void
  /** Those let in that have no connection yet. */
  private coming = 0
  /** Since when; the oldest first. */
  private readonly held = new Map<pg.PoolClient, number>()
  /** The oldest first. */
  private readonly waiting: Waiting[] = []
  private check: NodeJS.Timeout | undefined

  constructor(config: pg.PoolConfig, few: number, { quickMs = 20, onRefused = () => {} }: GateOptions = {}) {
    super(config)
    this.few = few
    this.quickMs = quickMs
    this.mostWaitMs = config.connectionTimeoutMillis || Infinity
    this.onRefused = onRefused
    this.on('acquire', (client) => {
      this.held.set(client, performance.now())
    })
    this.on('release', (_, client) => {
      this.held.delete(client)
      // The connection is free when whoever tells of it is done.
      if (this.waiting.length > 0) process.nextTick(() => this.letIn())
    })
  }

  // The signature is the driver's own pair of overloads, which cannot be restated one by one.
  override connect = ((callback?: Callback) => {
    if (callback !== undefined) return this.enter(callback)
    return new Promise<pg.PoolClient>((resolve, reject) => {
      this.enter((error, client) => (client === undefined ? reject(error) : resolve(client)))
    })
  }) as typeof pg.Pool.prototype.connect

  private enter(callback: Callback): void {
    this.waiting.push({ since: performance.now(), callback })
    this.letIn()
  }

  private letIn(): void {
    this.refuseLate()
    while (this.waiting.length > 0 && this.coming + this.countQuick() < this.few) {
      const next = this.waiting.shift()
      if (next !== undefined) this.open(next.callback)
    }
    if (this.waiting.length > 0) this.lookAgain()
  }

  /** While connections cannot be opened, nobody is let in. */
  private refuseLate(): void {
    const since = performance.now() - this.mostWaitMs
    while ((this.waiting[0]?.since ?? Infinity) < since) this.waiting.shift()?.callback(tooLate())
  }

  private open(callback: Callback): void {
    this.coming += 1
    super.connect((error, client, done) => {
      this.coming -= 1
      if (error !== undefined) {
        this.onRefused(error)
        this.letIn()
      }
      callback(error, client, done)
    })
  }

  private countQuick(): number {
    const since = performance.now() - this.quickMs
    let slow = 0
    for (const at of this.held.values()) {
      if (at > since) break
      slow += 1
    }
    return this.held.size - slow
  }

  /** Nobody tells of a connection that is held for long. */
  private lookAgain(): void {
    this.check ??= setTimeout(() => {
      this.check = undefined
      this.letIn()
    }, this.quickMs)
  }
}
