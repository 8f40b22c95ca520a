// Captures the statements of a request, so that the yardstick runs the same ones.
import { Kysely, PostgresDialect, type CompiledQuery } from 'kysely'
import type pg from 'pg'
import type { Db } from '@millrace/server/db/pool.ts'

export interface Statement {
  text: string
  values: readonly unknown[]
}

interface Capture {
  db: Db
  /** The statements since the last call. */
  take(): Statement[]
}

export function capture(pool: pg.Pool): Capture {
  let seen: CompiledQuery[] = []
  const db: Db = new Kysely({
    dialect: new PostgresDialect({ pool }),
    log: (event) => {
      seen.push(event.query)
    },
  })
  return {
    db,
    take() {
      const taken = seen.map(({ sql, parameters }) => ({ text: sql, values: parameters }))
      seen = []
      return taken
    },
  }
}
