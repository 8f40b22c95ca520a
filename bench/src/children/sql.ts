// Yardstick: the bare SQL of the endpoint through the driver, from as many callers as the load has connections.
import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Statement } from '../harness/capture.ts'
import { summary, type Measured } from '../harness/load.ts'
import { send } from '../../../testbed/dist/children.js'

interface Question {
  /** Run one after the other, like the endpoint does. */
  statements: Statement[]
  callers: number
  seconds: number
}

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'] ?? '', max: 20 })

process.on('message', (question: Question) => {
  void measure(question).then(send)
})
send('ready')

async function measure({ statements, callers, seconds }: Question): Promise<Measured> {
  const named = statements.map(({ text, values }) => ({
    name: createHash('sha256').update(text).digest('hex').slice(0, 20),
    text,
    values: [...values],
  }))
  const latencies: number[] = []
  const start = performance.now()
  const end = start + seconds * 1000
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let at = performance.now(); at < end;) {
        for (const statement of named) await pool.query(statement)
        const now = performance.now()
        latencies.push(now - at)
        at = now
      }
    }),
  )
  return summary(latencies, (performance.now() - start) / 1000)
}
