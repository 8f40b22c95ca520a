// Receivers with faults: once a fault is over, all deliveries arrive in order and with the same id, and other receivers do not
// wait meanwhile.
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { aPipeline } from '../../../test/builders.ts'
import { cert, key } from '../../../test/remote-hosts/certificate.ts'
import { eventually } from '../../../test/app.ts'
import { aBuild, runJob } from '../../../test/runs.ts'
import { useNotifications } from '../../../test/notifications.ts'
import { outboundClient } from '../../lib/outbound.ts'

const notifications = useNotifications()
const { app, anOrg, aService } = notifications

const events = ['job.scheduled', 'job.started', 'job.finished', 'build.finished']
const gibibyte = 1024 ** 3

interface Faulty {
  url: string
  isDown: boolean
  /** Attempts while it was down. */
  failed: number
  /** Deliveries that arrived afterwards. */
  received: Array<{ event: string; delivery: string }>
  /** Ids that were seen while it was down, where a request came so far. */
  seen: Set<string>
  /** Bytes of endless bodies. */
  bytesSent: number
}

type Fault = 'answers with 1 GiB' | 'closes TLS in mid-handshake' | 'resets the connection' | 'hangs'

const impatient = outboundClient({ allow: '127.0.0.0/8', timeoutMs: 2500 })
const patient = outboundClient({ allow: '127.0.0.0/8', timeoutMs: 600_000 })
/** Only receivers that hang are given up soon. All others answer, however slow the machine is. */
const hanging = new Set<string>()
beforeAll(async () => {
  await app.ctx.outbound.close()
  app.ctx.outbound = {
    send: (request) => (hanging.has(request.url) ? impatient : patient).send(request),
    open: patient.open,
    close: async () => void (await Promise.all([impatient.close(), patient.close()])),
  }
})

const closing: Array<() => void> = []
afterEach(() => closing.splice(0).forEach((close) => close()))

async function aFaulty(fault: Fault): Promise<Faulty> {
  const faulty: Faulty = { url: '', isDown: true, failed: 0, received: [], seen: new Set(), bytesSent: 0 }
  const idOf = ({ headers }: IncomingMessage) => String(headers['x-millrace-delivery'])
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (!faulty.isDown) {
      text(request).then(
        () => {
          faulty.received.push({
            event: String(request.headers['x-buildkite-event']),
            delivery: idOf(request),
          })
          response.end()
        },
        () => response.destroy(),
      )
      return
    }
    faulty.failed += 1
    faulty.seen.add(idOf(request))
    if (fault === 'resets the connection') request.socket.resetAndDestroy()
    if (fault === 'answers with 1 GiB') pour(response, faulty)
  }
  const isTls = fault === 'closes TLS in mid-handshake'
  const server = isTls ? createHttpsServer({ key, cert }, answer) : createHttpServer(answer)
  const sockets = new Set<Socket>()
  const front = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    if (!isTls || !faulty.isDown) return void server.emit('connection', socket)
    // The client has sent its hello and waits for the response.
    socket.once('data', () => {
      faulty.failed += 1
      socket.end()
    })
  })
  await new Promise<void>((listening) => front.listen(0, '127.0.0.1', listening))
  faulty.url = `${isTls ? 'https' : 'http'}://127.0.0.1:${(front.address() as AddressInfo).port}/`
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
    front.close()
  })
  return faulty
}

function pour(response: ServerResponse, faulty: Faulty): void {
  response.on('error', () => {})
  response.writeHead(500, { 'Content-Length': String(gibibyte) })
  const chunk = Buffer.alloc(64 * 1024, 'x')
  let left = gibibyte
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= chunk.length
      faulty.bytesSent += chunk.length
      if (!response.write(chunk)) return void response.once('drain', more)
    }
    response.end()
  }
  more()
}

describe('a receiver that', () => {
  it.each<Fault>(['answers with 1 GiB', 'closes TLS in mid-handshake', 'resets the connection', 'hangs'])(
    '%s gets everything afterwards, in order and under the same ids, while others wait for nothing',
    async (fault) => {
      const { org, admin } = await anOrg()
      const faulty = await aFaulty(fault)
      if (fault === 'hangs') hanging.add(faulty.url)
      const service = await aService(org, admin, { settings: { url: faulty.url, events, tls_verify: false } })
      const healthy = await aService(org, admin, { settings: { events } })
      const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{command: a}]'))
      await runJob(app, build, 'a')
      const told = () => new Set(healthy.events().map(({ event }) => String(event)))
      await eventually('all of the healthy one', async () => told().size === events.length)
      expect(faulty.received).toEqual([])
      await notifications.passUntil(service, 'a second attempt', () => faulty.failed >= 2)
      faulty.isDown = false
      hanging.clear()
      await notifications.passUntil(service, 'the end', () =>
        faulty.received.some(({ event }) => event === 'build.finished'),
      )
      const listed = async () =>
        (await app.request('GET', `${service.path}/deliveries`, { token: admin.token })).list
      await notifications.passUntil(service, 'nothing is pending', async () =>
        (await listed()).every(({ state }) => String(state) !== 'pending'),
      )
      const delivered = faulty.received.filter(({ event }) => event !== 'ping')
      const firsts = delivered.filter(
        ({ event }, n) => delivered.findIndex((one) => one.event === event) === n,
      )
      expect(firsts.map(({ event }) => event)).toEqual(events)
      const list = await listed()
      const ids = new Map(list.map(({ event, id }) => [String(event), String(id)]))
      for (const { event, delivery } of faulty.received) expect(delivery).toBe(ids.get(event))
      for (const id of faulty.seen) expect([...ids.values()]).toContain(id)
      expect(list.map(({ state }) => state)).toEqual(list.map(() => 'delivered'))
      // No more of the gibibyte is sent than the two ends buffer.
      expect(faulty.bytesSent).toBeLessThan(faulty.failed * 32 * 1024 ** 2 + 1)
    },
  )
})
