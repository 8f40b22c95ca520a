// Yardstick: the bare SQL query of the endpoint, through the driver alone, from as many callers as the load has connections.
import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Measured } from './load.ts'
import { tell } from './children.ts'

interface Question {
  text: string
  values: unknown[]
  callers: number
  seconds: number
}

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'] ?? '', max: 20 })

process.on('message', ({ text, values, callers, seconds }: Question) => {
  void measure(text, values, callers, seconds).then(tell)
})
tell('ready')

async function measure(text: string, values: unknown[], callers: number, seconds: number): Promise<Measured> {
  const name = createHash('sha256').update(text).digest('hex').slice(0, 20)
  const latencies: number[] = []
  const start = performance.now()
  const end = start + seconds * 1000
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let at = performance.now(); at < end;) {
        await pool.query({ name, text, values })
        const now = performance.now()
        latencies.push(now - at)
        at = now
      }
    }),
  )
  const elapsed = (performance.now() - start) / 1000
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0
  return { perSecond: latencies.length / elapsed, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
