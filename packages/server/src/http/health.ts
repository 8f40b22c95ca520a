// For load balancers and supervisors: whether the process runs, and whether it should get requests.
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'

/** A server whose database takes longer to respond is not ready. */
const mostWaitMs = 3000

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
  const over = new AbortController()
  const timeout = delay(mostWaitMs, 'The database does not answer.', { signal: over.signal })
  const asked = pool.query('select from organizations limit 1').then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : 'unknown'),
  )
  const obstacle = await Promise.race([asked, timeout.catch(() => null)])
  over.abort()
  return obstacle
}
