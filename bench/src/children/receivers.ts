// Ten webhook receivers. Each answers at once, or is dead: it accepts the connection and never answers.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { send } from '../../../testbed/dist/children.js'

export interface Tally {
  /** For each receiver. */
  counts: number[]
  /** From the state change to the arrival, in milliseconds, sorted. */
  delays: number[]
  /** The time of the last arrival. */
  lastAt: number
}

interface Body {
  event: string
  job?: Record<string, string>
  build?: Record<string, string>
}

const receivers = 10
let dead = -1
let tally: Tally = { counts: Array.from({ length: receivers }, () => 0), delays: [], lastAt: 0 }

/** The time of the event in the payload. */
function happenedAt({ event, job, build }: Body): string | undefined {
  if (event === 'job.started') return job?.['started_at']
  if (event === 'job.finished') return job?.['finished_at']
  if (event === 'build.running') return build?.['started_at']
  if (event === 'build.finished') return build?.['finished_at']
  return undefined
}

const ports = await Promise.all(
  Array.from({ length: receivers }, async (_, n) => {
    const server = createServer((request, response) => {
      if (n === dead) return
      text(request).then(
        (raw) => {
          const now = Date.now()
          const body = JSON.parse(raw) as Body
          const at = happenedAt(body)
          if (at !== undefined) tally.delays.push(now - Date.parse(at))
          if (body.event !== 'ping') tally.counts[n] = (tally.counts[n] ?? 0) + 1
          tally.lastAt = now
          response.end()
        },
        () => response.destroy(),
      )
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    return (server.address() as AddressInfo).port
  }),
)
send(ports)

process.on('message', (question: { reset: true; dead: number } | { reset: false }) => {
  if (question.reset) {
    dead = question.dead
    tally = { counts: Array.from({ length: receivers }, () => 0), delays: [], lastAt: 0 }
  }
  send({ ...tally, delays: tally.delays.toSorted((a, b) => a - b) })
})
process.on('SIGTERM', () => process.exit(0))
