// Connections that many share. A statement that only reads a few rows need not have a connection to itself: it is written
// behind others that are on their way, and the database goes from one to the next without waiting for us. With many callers
// that is half the work on both sides. Only a few are on their way at a time; the others wait here, for the connection that
// has room first.
//
// Nobody may wait there for a lock, or for long: whoever comes behind waits too. A connection that has not answered for a
// while gets nothing more until it does; while that is so of all, statements have connections of their own.
import type pg from 'pg'
import { isConnectionLost } from './away.ts'

/** What goes over a shared connection hardly ever takes as long. */
const stalledMs = 20
const mostOnTheirWay = 4

interface Asked {
  text: string
  values: unknown[]
  resolve(result: pg.QueryResult): void
  reject(error: unknown): void
}

export class SharedConnections {
  private readonly pool: pg.Pool
  private readonly most: number
  private readonly connections: SharedConnection[] = []
  private readonly waiting: Asked[] = []
  private opening = false
  private closed = false
  private check: NodeJS.Timeout | undefined

  constructor(pool: pg.Pool, most: number) {
    this.pool = pool
    this.most = most
  }

  get count(): number {
    return this.connections.length
  }

  /** Those that have not answered for a while. */
  get stalled(): number {
    return this.connections.filter((connection) => connection.isStalled()).length
  }

  query(text: string, values: unknown[]): Promise<pg.QueryResult> {
    const connection = this.leastBusy()
    if (connection === undefined || connection.unanswered > 0) this.openAnother()
    if (connection === undefined) return this.pool.query(text, values)
    return new Promise((resolve, reject) => {
      const asked = { text, values, resolve, reject }
      if (connection.unanswered < mostOnTheirWay) connection.ask(asked)
      else this.wait(asked)
    })
  }

  /** When what is on its way has been answered. */
  async close(): Promise<void> {
    this.closed = true
    await Promise.all(this.connections.splice(0).map((connection) => connection.release()))
  }

  private leastBusy(): SharedConnection | undefined {
    let found: SharedConnection | undefined
    for (const connection of this.connections)
      if ((found === undefined || connection.unanswered < found.unanswered) && !connection.isStalled())
        found = connection
    return found
  }

  private wait(asked: Asked): void {
    this.waiting.push(asked)
    this.check ??= setTimeout(() => this.lookAfterWaiting(), stalledMs)
  }

  /** Nobody tells of a connection that does not answer, or was closed. */
  private lookAfterWaiting(): void {
    this.check = undefined
    if (this.leastBusy() === undefined)
      for (const { text, values, resolve, reject } of this.waiting.splice(0))
        this.pool.query(text, values).then(resolve, reject)
    else if (this.waiting.length > 0) this.check = setTimeout(() => this.lookAfterWaiting(), stalledMs)
  }

  /** Nobody waits for it, and if it fails, nobody is the poorer. */
  private openAnother(): void {
    if (this.opening || this.closed || this.connections.length >= this.most) return
    this.opening = true
    const open = async () => {
      const client = await this.pool.connect()
      if (this.closed) return client.release()
      const connection = new SharedConnection(client, () => this.waiting.shift())
      this.connections.push(connection)
      for (const end of ['error', 'end']) client.once(end, () => this.drop(connection))
    }
    void open()
      .catch(() => {})
      .finally(() => (this.opening = false))
  }

  private drop(connection: SharedConnection): void {
    const at = this.connections.indexOf(connection)
    if (at === -1) return
    this.connections.splice(at, 1)
    connection.discard()
  }
}

class SharedConnection {
  unanswered = 0
  /** When it last answered, or was asked after a pause. */
  private movedAt = 0
  private isBroken = false
  private readonly client: pg.PoolClient
  private readonly next: () => Asked | undefined
  private onDrained: (() => void) | undefined

  constructor(client: pg.PoolClient, next: () => Asked | undefined) {
    this.client = client
    this.next = next
  }

  ask({ text, values, resolve, reject }: Asked): void {
    if (this.unanswered === 0) this.movedAt = performance.now()
    this.unanswered += 1
    this.client.query(text, values, (error: Error | undefined, result) => {
      this.unanswered -= 1
      this.movedAt = performance.now()
      // Whoever waits is sent elsewhere.
      if (error && isConnectionLost(error)) this.isBroken = true
      const next = this.isBroken ? undefined : this.next()
      if (next !== undefined) this.ask(next)
      else if (this.unanswered === 0) this.onDrained?.()
      if (error) reject(error)
      else resolve(result)
    })
  }

  /** Or will never answer again. */
  isStalled(): boolean {
    return this.isBroken || (this.unanswered > 0 && performance.now() - this.movedAt > stalledMs)
  }

  async release(): Promise<void> {
    if (this.unanswered > 0) await new Promise<void>((resolve) => (this.onDrained = resolve))
    this.client.release()
  }

  discard(): void {
    this.isBroken = true
    this.client.release(true)
  }
}
