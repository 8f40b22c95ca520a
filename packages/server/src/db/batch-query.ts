// Statements that go to the database at once: written in one piece, answered in one piece, with one word at the end
// that asks for the answers. The driver has a query for each and an answer for each, so that every statement of a
// transaction wakes both sides once.
//
// A statement goes by its name. What its rows look like never changes then, so the database is asked once.
//
// It stands on inner things of the driver, which are written down here: how a query is submitted and told of what
// comes back, how a result reads rows, and where a connection keeps the names of statements.
/* oxlint-disable no-underscore-dangle -- the driver's own names */
import type { Writable } from 'node:stream'
import pg from 'pg'
import { serialize } from 'pg-protocol'
import { emptyRow } from './empty-row.ts'

export interface NamedStatement {
  /** Undefined: it is read anew each time. */
  name: string | undefined
  text: string
  values: readonly unknown[]
}

export type Callback = (error: Error | null | undefined, results?: pg.QueryResult[]) => void

/** What the driver makes of the description of a statement's rows. */
type Shape = Pick<DriverResult, 'fields' | '_parsers' | '_prebuiltEmptyResultObject'>

/** By the name of the statement. */
export type Shapes = Map<string, Shape>

interface DriverResult extends pg.QueryResult {
  _parsers: unknown
  _prebuiltEmptyResultObject: unknown
  addFields(fields: unknown): void
  parseRow(fields: unknown): pg.QueryResultRow
  addCommandComplete(message: unknown): void
}

interface DriverConnection {
  stream: Pick<Writable, 'writable' | 'write'>
  parsedStatements: Record<string, string>
  submittedNamedStatements: Record<string, string>
}

interface DriverQuery {
  /** The driver writes down, by its name and text, that the statement being answered is known to the connection. */
  name: string | undefined
  text: string | undefined
  callback: Callback
}

const driver = pg as unknown as {
  Query: new (text: string, callback: Callback) => DriverQuery
  Result: new (rowMode: undefined, types: pg.CustomTypesConfig) => DriverResult
  utils: { prepareValue(value: unknown): unknown }
}

const valueMapper = driver.utils.prepareValue
const describe = serialize.describe({ type: 'P' })
const execute = serialize.execute()
const sync = serialize.sync()

export class Batch extends driver.Query {
  private readonly statements: readonly NamedStatement[]
  private readonly types: pg.CustomTypesConfig
  private readonly shapes: Shapes
  private readonly results: DriverResult[] = []
  /** Those that the database hears for the first time on this connection. */
  private readonly newNames = new Set<string>()
  private misread: Error | undefined
  /** The driver's option: how long to wait for the answer; undefined: as long as the connection says. */
  readonly query_timeout: number | undefined

  constructor(
    statements: readonly NamedStatement[],
    types: pg.CustomTypesConfig,
    shapes: Shapes,
    callback: Callback,
    timeoutMs?: number,
  ) {
    super('', callback)
    this.query_timeout = timeoutMs
    this.statements = statements
    this.types = types
    this.shapes = shapes
  }

  submit(connection: DriverConnection): Error | null {
    try {
      const messages: Buffer[] = []
      for (const statement of this.statements) this.addMessages(statement, connection, messages)
      messages.push(sync)
      if (connection.stream.writable) connection.stream.write(Buffer.concat(messages))
    } catch (error) {
      this.forgetNames(connection)
      return error as Error
    }
    this.expectNext()
    return null
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    const result = this.current()
    result.addFields(fields)
    result._prebuiltEmptyResultObject = emptyRow(fields.map(({ name }) => name))
    this.keepShape(result)
  }

  handleDataRow({ fields }: { fields: unknown }): void {
    if (this.misread !== undefined) return
    const result = this.current()
    try {
      result.rows.push(result.parseRow(fields))
    } catch (error) {
      this.misread = error as Error
    }
  }

  handleCommandComplete(message: unknown): void {
    const result = this.current()
    result.addCommandComplete(message)
    if (this.name !== undefined && !this.shapes.has(this.name)) this.keepShape(result)
    this.expectNext()
  }

  handleEmptyQuery(): void {
    this.expectNext()
  }

  handleError(error: Error, connection: DriverConnection): void {
    this.forgetNames(connection)
    this.callback(error)
  }

  handleReadyForQuery(): void {
    this.callback(this.misread, this.results)
  }

  private addMessages(statement: NamedStatement, connection: DriverConnection, messages: Buffer[]): void {
    const { name = '', text, values } = statement
    const { parsedStatements, submittedNamedStatements } = connection
    const bound = serialize.bind({ statement: name, values: [...values], valueMapper })
    const isKnown = name !== '' && (parsedStatements[name] ?? submittedNamedStatements[name]) !== undefined
    if (!isKnown) {
      messages.push(serialize.parse({ text, name }))
      if (name !== '') {
        submittedNamedStatements[name] = text
        this.newNames.add(name)
      }
    }
    messages.push(bound)
    if (!isKnown || !this.shapes.has(name)) messages.push(describe)
    messages.push(execute)
  }

  private expectNext(): void {
    const next = this.statements[this.results.length]
    this.name = next?.name
    this.text = next?.text
    if (next === undefined) return
    const result = new driver.Result(undefined, this.types)
    const shape = next.name === undefined ? undefined : this.shapes.get(next.name)
    this.results.push(shape === undefined ? result : Object.assign(result, shape))
  }

  /** What stands behind the one that failed was skipped, and its names were never given. */
  private forgetNames(connection: DriverConnection): void {
    for (const { name } of this.statements.slice(this.results.length))
      if (name !== undefined && this.newNames.has(name)) delete connection.submittedNamedStatements[name]
  }

  private current(): DriverResult {
    const result = this.results.at(-1)
    if (result === undefined) throw new Error('The database answered what was never asked.')
    return result
  }

  private keepShape({ fields, _parsers, _prebuiltEmptyResultObject }: DriverResult): void {
    if (this.name !== undefined) this.shapes.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject })
  }
}
