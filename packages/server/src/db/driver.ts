// The query builder's way to the database. Unlike the one it comes with, this one sends nothing alone that can go with
// something else: `begin` goes with the first statement of a transaction, and what nobody waits for with the next, at
// the latest with `commit`. A change that reads and then writes is two ways to the database and back.
import {
  PostgresDialect,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import pg from 'pg'
import type { NamedStatement } from './batch-query.ts'
import { named, type BatchClient } from './client.ts'

export class BatchDialect extends PostgresDialect {
  private readonly pool: pg.Pool

  constructor(pool: pg.Pool) {
    super({ pool })
    this.pool = pool
  }

  override createDriver(): Driver {
    return new BatchDriver(this.pool)
  }
}

class BatchDriver implements Driver {
  private readonly pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.pool = pool
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<BatchConnection> {
    // The pool makes its clients by the class that client.ts gives it.
    return new BatchConnection((await this.pool.connect()) as BatchClient)
  }

  async beginTransaction(connection: BatchConnection, settings: TransactionSettings): Promise<void> {
    const { isolationLevel, accessMode } = settings
    const level = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`
    connection.begin(`begin${level}${accessMode === undefined ? '' : ` ${accessMode}`}`)
  }

  commitTransaction(connection: BatchConnection): Promise<void> {
    return connection.commit()
  }

  rollbackTransaction(connection: BatchConnection): Promise<void> {
    return connection.rollback()
  }

  async releaseConnection(connection: BatchConnection): Promise<void> {
    connection.release()
  }

  /** The pool is closed by whoever opened it. */
  async destroy(): Promise<void> {}
}

export class BatchConnection implements DatabaseConnection {
  private readonly client: BatchClient
  /** To be sent before whatever is sent next. */
  private waiting: NamedStatement[] = []
  /** Of the transaction, as the database knows it. */
  private state: 'none' | 'open' | 'committed' = 'none'
  /** What made PostgreSQL abort the transaction: later statements are refused without saying why. */
  private abortedBy: unknown = undefined
  private isBroken = false
  private timeoutMs: number | undefined

  constructor(client: BatchClient) {
    this.client = client
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const [result] = await this.executeTogether([query])
    return result as QueryResult<Row>
  }

  async executeTogether(queries: readonly CompiledQuery[]): Promise<Array<QueryResult<unknown>>> {
    const results = await this.send(queries.map(statementOf))
    return results.map(resultOf)
  }

  /** Nobody waits for the answers; a failure is that of what is sent next. */
  executeLater(queries: readonly CompiledQuery[]): void {
    this.waiting.push(...queries.map(statementOf))
  }

  /** The last statements of the transaction, which is over then. */
  async executeAndCommit(queries: readonly CompiledQuery[]): Promise<Array<QueryResult<unknown>>> {
    const results = await this.send([...queries.map(statementOf), commit])
    this.state = 'committed'
    return results.slice(0, -1).map(resultOf)
  }

  // oxlint-disable-next-line require-yield -- the query builder asks for one
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('A statement whose rows come bit by bit cannot share a connection with others.')
  }

  begin(text: string): void {
    this.waiting.push(named(text, []))
  }

  async commit(): Promise<void> {
    // With `begin` alone, nothing has to be said.
    if (this.state === 'open' || this.waiting.length > 1) await this.send([commit])
    this.end()
  }

  /** Whoever rolls back has an error to report, which must not give way to the failure of the rollback. */
  async rollback(): Promise<void> {
    this.waiting = []
    try {
      if (this.state === 'open') await this.send([named('rollback', [])])
    } catch {
      this.isBroken = true
    }
    this.end()
  }

  /** From here to the end of the transaction, this side waits that long for each answer. */
  waitUpTo(ms: number): void {
    this.timeoutMs = ms
  }

  release(): void {
    this.client.release(this.isBroken)
  }

  private end(): void {
    this.waiting = []
    this.state = 'none'
    this.abortedBy = undefined
    this.timeoutMs = undefined
  }

  private async send(statements: readonly NamedStatement[]): Promise<pg.QueryResult[]> {
    if (this.state === 'committed') throw new Error('The transaction has been committed already.')
    const before = this.waiting
    this.waiting = []
    if (before.length > 0) this.state = 'open'
    const results = await this.client.send([...before, ...statements], this.timeoutMs).catch(this.explain)
    return results.slice(before.length)
  }

  private readonly explain = (error: unknown): never => {
    const isConsequence = error instanceof pg.DatabaseError && error.code === inFailedTransaction
    if (!isConsequence) this.abortedBy = error
    throw this.abortedBy ?? error
  }
}

const commit = named('commit', [])
const inFailedTransaction = '25P02'

const statementOf = ({ sql, parameters }: CompiledQuery) => named(sql, parameters)

const writing: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

const resultOf = ({ rows, command, rowCount }: pg.QueryResult): QueryResult<unknown> =>
  writing.has(command) ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows }
