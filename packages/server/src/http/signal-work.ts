// Tells the workers of all processes that a request may have made work for them. tasks/pauses.ts says how they sleep otherwise.
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import type { Db } from '../db/pool.ts'
import { workChannel } from '../tasks/pauses.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    makesNoWork?: boolean
  }
}

/** A worker stays awake for longer than that. A commit that notifies holds a lock of the whole PostgreSQL, so few do. */
const betweenMs = 1000

const reading: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export function signalWork(app: FastifyInstance, db: Db): void {
  let sentAt = -Infinity
  app.addHook('onResponse', (request, _reply, next) => {
    next()
    if (reading.has(request.method) || request.routeOptions.config.makesNoWork === true) return
    if (performance.now() - sentAt < betweenMs) return
    sentAt = performance.now()
    // The outage of the database is reported by every other statement.
    sql`select pg_notify(${workChannel}, '')`.execute(db).catch(() => {
      sentAt = -Infinity
    })
  })
}
