// What load balancers and supervisors ask: whether the process lives, and whether it should get requests.
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'

/** Balancers give up earlier or later; a database that takes longer is no use to callers either. */
const answerMs = 3000

export function serveHealth(app: FastifyInstance, pool: pg.Pool): void {
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const reason = app.lifecycle.isStopping ? 'The server is stopping.' : await findObstacle(pool)
    if (reason === null) return { status: 'ready' }
    return reply
      .code(503)
      .header('Retry-After', '2')
      .send({ message: `Not ready: ${reason}` })
  })
}

async function findObstacle(pool: pg.Pool): Promise<string | null> {
  const waiting = new AbortController()
  const late = delay(answerMs, 'The database does not answer.', { signal: waiting.signal })
  const asked = pool.query('select from organizations limit 1').then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : 'unknown'),
  )
  const obstacle = await Promise.race([asked, late.catch(() => null)])
  waiting.abort()
  return obstacle
}
