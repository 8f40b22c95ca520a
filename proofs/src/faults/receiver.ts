// Receives webhooks and remembers every request. Some answers are errors, so that deliveries are repeated.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Dice } from '../dice.ts'

export interface Received {
  deliveryId: string
  event: string
  /** Empty for events without a build. */
  buildId: string
  jobId: string
  /** Of the body. */
  sha256: string
  isAccepted: boolean
}

export interface Receiver {
  url: string
  /** In the order of their arrival. */
  received: Received[]
  close(): void
}

/** The share of requests that are answered with 500. */
const refusedShare = 0.02

export async function startReceiver(dice: Dice): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        const { event, build, job } = JSON.parse(body) as {
          event: string
          build?: { id: string }
          job?: { id: string }
        }
        const isAccepted = !dice.happens(refusedShare)
        received.push({
          deliveryId: String(request.headers['x-millrace-delivery']),
          event,
          buildId: build?.id ?? '',
          jobId: job?.id ?? '',
          sha256: createHash('sha256').update(body).digest('hex'),
          isAccepted,
        })
        response.writeHead(isAccepted ? 200 : 500).end()
      },
      () => response.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
