// A pool that keeps to a few connections. Behind each is a process of the database with memory of its own; where more of
// them take turns than there are processors, each finds its part of the caches taken by the others. Statements that are
// quick are done sooner by waiting a moment for one of the few. Whatever takes longer is not counted, so that nobody
// waits for locks that others wait for, or for somebody's large answer.
import pg from 'pg'

type Callback = (error: Error | undefined, client?: pg.PoolClient, done?: (release?: unknown) => void) => void

export class GatedPool extends pg.Pool {
  private readonly few: number
  private readonly quickMs: number
  /** Those let in that have no connection yet. */
  private coming = 0
  /** Since when; the oldest first. */
  private readonly held = new Map<pg.PoolClient, number>()
  private readonly waiting: Callback[] = []
  private check: NodeJS.Timeout | undefined

  /** A connection that is held for longer than `quickMs` waits for something itself. */
  constructor(config: pg.PoolConfig, few: number, quickMs = 20) {
    super(config)
    this.few = few
    this.quickMs = quickMs
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
    this.waiting.push(callback)
    this.letIn()
  }

  private letIn(): void {
    while (this.waiting.length > 0 && this.coming + this.countQuick() < this.few) {
      const callback = this.waiting.shift()
      if (callback !== undefined) this.open(callback)
    }
    if (this.waiting.length > 0) this.lookAgain()
  }

  private open(callback: Callback): void {
    this.coming += 1
    super.connect((error, client, done) => {
      this.coming -= 1
      if (error !== undefined) this.letIn()
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
