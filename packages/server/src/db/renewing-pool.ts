// A pool that can replace all of its connections. Idle connections report nothing when the network drops their packets, or
// when the address of the database has moved and they still lead to the old server. It refuses connections to a standby.
import pg from 'pg'

export type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: Error | boolean) => void,
) => void

type Release = Parameters<Connected>[2]

/** A database that stays read-only would otherwise be connected to anew for every failed statement. */
const renewEveryMs = 1000

/**
 * Fails like a write on a standby. Even reads would be wrong there, because it may lag behind: an agent whose token it does not
 * know yet gives up its job.
 */
const refuseStandby = `
  do $$ begin
    if pg_is_in_recovery() then
      raise read_only_sql_transaction using message = 'the address of the database leads to a standby';
    end if;
  end $$`

export class RenewingPool extends pg.Pool {
  private readonly checked = new WeakSet<pg.PoolClient>()
  private readonly openedAt = new WeakMap<pg.PoolClient, number>()
  private renewedAt = -Infinity

  constructor(config: pg.PoolConfig) {
    super(config)
    this.on('connect', (client) => this.openedAt.set(client, performance.now()))
  }

  /** Connections that are open now are closed before their next use. */
  renew(): void {
    const now = performance.now()
    if (now - this.renewedAt > renewEveryMs) this.renewedAt = now
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    if (callback !== undefined) {
      this.connectAfresh((error, client, done) => callback(error, client, onlyOnce(done)))
      return undefined
    }
    return new Promise((resolve, reject) => {
      this.connectAfresh((error, client) => (client === undefined ? reject(error) : resolve(client)))
    })
  }

  private connectAfresh(callback: Connected): void {
    super.connect((error, client, done) => {
      // A pool that has ended gives no `done`.
      if (client === undefined) return callback(error, client, () => {})
      const isOld = (this.openedAt.get(client) ?? 0) < this.renewedAt
      if (!isOld) return this.check(client, done, callback)
      done(true)
      this.connectAfresh(callback)
    })
  }

  /** Once for each connection. */
  private check(client: pg.PoolClient, done: Release, callback: Connected): void {
    if (this.checked.has(client)) return callback(undefined, client, done)
    client.query(refuseStandby, (error: Error | undefined) => {
      if (error) {
        done(error)
        return callback(error, undefined, () => {})
      }
      this.checked.add(client)
      callback(undefined, client, done)
    })
  }
}

/** graphile-worker releases its connection twice if it stops while the connection breaks. pg's error would end the process. */
function onlyOnce(done: Release): Release {
  let isDone = false
  return (release) => {
    if (!isDone) done(release)
    isDone = true
  }
}
