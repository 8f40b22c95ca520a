// A connection to the database whose statements go by their names, as many at once as are given.
import pg from 'pg'
import { Batch, type Callback, type NamedStatement, type Shapes } from './batch-query.ts'
import { databaseSocket } from './socket.ts'

export interface BatchClient extends pg.PoolClient {
  /**
   * Carries them out in their order, each seeing what those before it did. Where one fails, those behind it are skipped;
   * outside of a transaction those before it are undone. `timeoutMs` replaces the limit of the pool.
   */
  send(statements: readonly NamedStatement[], timeoutMs?: number): Promise<pg.QueryResult[]>
}

/** The driver hides the password of a configuration from whoever copies that. */
export const passwordOf = ({ password }: pg.ClientConfig): Pick<pg.ClientConfig, 'password'> =>
  password === undefined ? {} : { password }

/** Each pool has a class of its own: names mean the same in every database, what they stand for need not. */
export function batchClient(
  types: pg.CustomTypesConfig,
  onAnswer: (error: unknown) => void,
): typeof pg.Client {
  const shapes: Shapes = new Map()
  return class extends pg.Client {
    constructor(config: pg.ClientConfig = {}) {
      super({ ...config, ...passwordOf(config), stream: databaseSocket })
    }

    send(statements: readonly NamedStatement[], timeoutMs?: number): Promise<pg.QueryResult[]> {
      return new Promise<pg.QueryResult[]>((resolve, reject) => {
        const settle: Callback = (error, results = []) => (error ? reject(error) : resolve(results))
        this.submit(statements, settle, timeoutMs)
      }).catch((error: Error) => {
        // Until here its stack leads to the socket; from here it leads to who asked.
        Error.captureStackTrace(error)
        throw error
      })
    }

    // The signature is the driver's own set of overloads, which cannot be restated one by one.
    override query = ((...args: unknown[]) => {
      const [text, values, callback] = args
      if (typeof text !== 'string' || !Array.isArray(values)) return Reflect.apply(super.query, this, args)
      const statement = named(text, values)
      if (callback === undefined) return this.send([statement]).then(([result]) => result)
      const tell = callback as (error?: Error | null, result?: pg.QueryResult) => void
      return this.submit([statement], (error, results) => tell(error, results?.[0]))
    }) as typeof pg.Client.prototype.query

    private submit(statements: readonly NamedStatement[], callback: Callback, timeoutMs?: number): void {
      const tell: Callback = (error, results) => {
        onAnswer(error)
        callback(error, results)
      }
      // The driver takes whatever is a query of its own.
      super.query(new Batch(statements, types, shapes, tell, timeoutMs) as unknown as pg.Submittable)
    }
  }
}

// Named statements are planned once per connection. The texts come from this program, so there are few; the
// bound is a guard against a query built with a varying number of placeholders.
const names = new Map<string, string>()
const mostNames = 1000

export function named(text: string, values: readonly unknown[]): NamedStatement {
  const known = names.get(text)
  if (known !== undefined || names.size >= mostNames) return { name: known, text, values }
  const name = `s${names.size}`
  names.set(text, name)
  return { name, text, values }
}
