// Kysely's driver over pg in pipeline mode, where a connection sends statements without waiting for the results of those before.
// `begin` goes with the first statement of a transaction, and deferred statements go with the next one or with `commit`. A
// transaction that reads and then writes takes two round trips.
import {
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import pg from 'pg'
import { traced, type Tracer } from '../lib/tracing.ts'
import { statementSpan } from './statement-spans.ts'

/** Is told of everything that happens on connections. */
interface Observer {
  /** With the error of a connection or statement, and without one when statements succeed. */
  onResult(error?: unknown): void
  /** The time that a caller waited for a connection. */
  onWaited(seconds: number): void
  tracer: Tracer | null
}

/** How statements are sent. */
export interface StatementMode {
  /** PostgreSQL plans a named statement once per session. */
  namesStatements: boolean
  /** Follows the text of each `begin`. */
  afterBegin: string
}

export const pipelineDialect = (pool: pg.Pool, mode: StatementMode, observer: Observer): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new PipelineDriver(pool, mode, observer),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
})

class PipelineDriver implements Driver {
  private readonly pool: pg.Pool
  private readonly mode: StatementMode
  private readonly observer: Observer

  constructor(pool: pg.Pool, mode: StatementMode, observer: Observer) {
    this.pool = pool
    this.mode = mode
    this.observer = observer
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PipelineConnection> {
    const askedAt = performance.now()
    try {
      return new PipelineConnection(await this.pool.connect(), this.mode, this.observer)
    } catch (error) {
      this.observer.onResult(error)
      throw error
    } finally {
      this.observer.onWaited((performance.now() - askedAt) / 1000)
    }
  }

  async beginTransaction(connection: PipelineConnection, settings: TransactionSettings): Promise<void> {
    const { isolationLevel, accessMode } = settings
    const level = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`
    connection.begin(`begin${level}${accessMode === undefined ? '' : ` ${accessMode}`}`)
  }

  commitTransaction(connection: PipelineConnection): Promise<void> {
    return connection.commit()
  }

  rollbackTransaction(connection: PipelineConnection): Promise<void> {
    return connection.rollback()
  }

  async releaseConnection(connection: PipelineConnection): Promise<void> {
    connection.release()
  }

  /** The pool is closed where it was opened. */
  async destroy(): Promise<void> {}
}

interface Deferred {
  query: Query
  /** Gets the rows as soon as they arrive, which is before the commit. */
  read: (rows: unknown[]) => void
}

/** Savepoints are nested: the one that was opened last ends first. */
interface Savepoint {
  /** Also sends what was deferred since. */
  keep(): Promise<void>
  /** Undoes the statements since, the deferred ones included. What waits for the end gets `false`. */
  undo(): Promise<void>
}

interface Query extends pg.QueryConfig<unknown[]> {
  query_timeout?: number
}

export class PipelineConnection implements DatabaseConnection {
  private readonly client: pg.PoolClient
  private readonly mode: StatementMode
  private readonly observer: Observer
  /** Sent before the next statement. */
  private deferred: Deferred[] = []
  private atEnd: Array<(isCommitted: boolean) => void> = []
  private state: 'none' | 'begun' | 'open' | 'ended' = 'none'
  /** The error that aborted the transaction. PostgreSQL refuses later statements without naming it. */
  private abortedBy: unknown = undefined
  private isBroken = false
  private timeoutMs: number | undefined

  constructor(client: pg.PoolClient, mode: StatementMode, observer: Observer) {
    this.client = client
    this.mode = mode
    this.observer = observer
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const [result] = await this.send([this.queryOf(query)])
    return result as QueryResult<Row>
  }

  /** Outside of a transaction, several statements are a transaction of their own. */
  async executeBatch(queries: readonly CompiledQuery[]): Promise<Array<QueryResult<unknown>>> {
    const statements = queries.map((query) => this.queryOf(query))
    if (this.state !== 'none' || statements.length < 2) return this.send(statements)
    this.begin('begin')
    try {
      return await this.sendWithCommit(statements)
    } finally {
      this.reset()
    }
  }

  /** An error of these statements is that of the next send. */
  defer(queries: readonly CompiledQuery[], read: Deferred['read'] = () => {}): void {
    this.deferred.push(...queries.map((query) => ({ query: this.queryOf(query), read })))
  }

  /** Runs `work` when the open transaction has ended. After an error of the commit nobody knows; it then gets `false`. */
  onEnd(work: (isCommitted: boolean) => void): void {
    this.atEnd.push(work)
  }

  async openSavepoint(): Promise<Savepoint> {
    await this.send([{ text: 'savepoint work' }])
    const before = this.atEnd.length
    return {
      keep: async () => void (await this.send([{ text: 'release savepoint work' }])),
      undo: async () => {
        this.deferred = []
        for (const work of this.atEnd.splice(before)) work(false)
        this.abortedBy = undefined
        await this.send([{ text: 'rollback to savepoint work' }, { text: 'release savepoint work' }])
      },
    }
  }

  /** Nothing can be sent in the transaction afterwards. */
  executeAndCommit(queries: readonly CompiledQuery[]): Promise<Array<QueryResult<unknown>>> {
    return this.sendWithCommit(queries.map((query) => this.queryOf(query)))
  }

  // oxlint-disable-next-line require-yield -- the interface asks for a generator
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('pg streams no rows in pipeline mode.')
  }

  begin(text: string): void {
    this.deferred = [{ query: { text: text + this.mode.afterBegin }, read() {} }]
    this.state = 'begun'
  }

  async commit(): Promise<void> {
    const isUnsent = this.state === 'begun' && this.deferred.length === 1
    if (this.state !== 'ended' && !isUnsent) await this.sendWithCommit([])
    this.reset()
  }

  /** Does not throw: the error that led to the rollback is the one to report. */
  async rollback(): Promise<void> {
    this.deferred = []
    try {
      if (this.state === 'open') await this.send([{ text: 'rollback' }])
    } catch {
      this.isBroken = true
    }
    this.reset()
  }

  /** The time that this side waits for each result until the end of the transaction. */
  setTimeout(ms: number): void {
    this.timeoutMs = ms
  }

  release(): void {
    this.client.release(this.isBroken)
  }

  private queryOf({ sql: text, parameters }: CompiledQuery): Query {
    const values = parameters.map(serialized)
    const name = this.mode.namesStatements ? nameOf(text) : undefined
    return name === undefined ? { text, values } : { name, text, values }
  }

  private reset(): void {
    this.deferred = []
    for (const work of this.atEnd.splice(0)) work(false)
    this.state = 'none'
    this.abortedBy = undefined
    this.timeoutMs = undefined
  }

  /** Ends the transaction in any case: PostgreSQL answers the `commit` of an aborted one with ROLLBACK. */
  private async sendWithCommit(queries: readonly Query[]): Promise<Array<QueryResult<unknown>>> {
    const sent = this.query([...queries, { text: 'commit' }])
    this.state = 'ended'
    const results = await sent
    if (results.at(-1)?.command === 'ROLLBACK')
      throw this.abortedBy ?? new Error('The transaction was rolled back.')
    for (const work of this.atEnd.splice(0)) work(true)
    return results.slice(0, -1).map(resultOf)
  }

  private async send(queries: readonly Query[]): Promise<Array<QueryResult<unknown>>> {
    return (await this.query(queries)).map(resultOf)
  }

  private async query(queries: readonly Query[]): Promise<pg.QueryResult[]> {
    if (this.state === 'ended') throw new Error('The transaction has been committed already.')
    const before = this.deferred
    this.deferred = []
    if (this.state === 'begun') this.state = 'open'
    const all = [...before.map(({ query }) => query), ...queries].map((query) => this.limited(query))
    const { tracer } = this.observer
    const results = tracer?.active()?.isRecording()
      ? await traced(tracer, statementSpan(all.map(({ text }) => text)), () => this.exchange(all))
      : await this.exchange(all)
    for (const [index, { read }] of before.entries()) read(results[index]?.rows ?? [])
    return results.slice(before.length)
  }

  /** One round trip. */
  private async exchange(queries: readonly Query[]): Promise<pg.QueryResult[]> {
    const sent = queries.map((query) => this.client.query(query))
    try {
      // Waits for all of them: the connection must be free of unanswered statements when it is released.
      if (sent.length > 1) await Promise.allSettled(sent)
      // Throws the first error, which is the cause of those after it.
      const results = await Promise.all(sent)
      this.observer.onResult()
      return results
    } catch (error) {
      const cause = this.causeOf(error)
      // pg's own trace ends in its socket.
      if (cause instanceof Error) Error.captureStackTrace(cause)
      throw cause
    }
  }

  private limited(query: Query): Query {
    return this.timeoutMs === undefined ? query : { ...query, query_timeout: this.timeoutMs }
  }

  private causeOf(error: unknown): unknown {
    this.observer.onResult(error)
    const isConsequence = error instanceof pg.DatabaseError && error.code === inFailedTransaction
    if (!isConsequence) this.abortedBy = error
    return this.abortedBy ?? error
  }
}

const inFailedTransaction = '25P02'

// The program has few different texts; the limit guards against statements whose number of placeholders varies. Statements that
// define tables name others each time.
const names = new Map<string, string>()
const mostNames = 1000
const definition = /^\s*(create|alter|drop) /

function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= mostNames || definition.test(text)) return known
  const name = `s${names.size}`
  names.set(text, name)
  return name
}

/**
 * pg serializes values while it sends a statement. A value that cannot be serialized has to fail earlier: the `commit` of its
 * batch would follow it.
 */
function serialized(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date || ArrayBuffer.isView(value))
    return value
  return Array.isArray(value) ? value.map(serialized) : JSON.stringify(value)
}

const writing: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

const resultOf = ({ rows, command, rowCount }: pg.QueryResult): QueryResult<unknown> =>
  writing.has(command) ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows }
