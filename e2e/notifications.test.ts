import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { aDataDirectory, eventually, startServer, stop, type Json, type Server } from './millrace.ts'

interface Arrival {
  delivery: string
  event: string
  build: string
  accepted: boolean
}

const closing: Array<() => void> = []
afterEach(() => closing.splice(0).forEach((close) => close()))

/** Answers 503 until `isUp`. */
async function aReceiver() {
  const arrivals: Arrival[] = []
  const receiver = { url: '', isUp: false, arrivals }
  const server = createServer((request, response) => {
    text(request).then(
      (raw) => {
        const body = JSON.parse(raw) as Json
        const accepted = receiver.isUp
        const { event, build } = body
        const delivery = String(request.headers['x-millrace-delivery'])
        if (String(event) !== 'ping') {
          arrivals.push({ delivery, event: String(event), build: String(build?.['number']), accepted })
        }
        response.statusCode = accepted ? 200 : 503
        response.end()
      },
      () => response.destroy(),
    )
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return receiver
}

const events = ['build.scheduled', 'build.running', 'build.finished']

async function aPipelineWithWebhook(server: Server, receiver: { url: string }): Promise<string> {
  const org = '/v2/organizations/default'
  const service = await server.post(`${org}/services`, {
    provider: 'webhook',
    settings: { url: receiver.url, events },
  })
  expect(service.status).toBe(201)
  const pipeline = await server.post(`${org}/pipelines`, {
    name: 'Notified',
    repository: 'https://git.example.com/notified.git',
    configuration: 'steps: [{command: "true", checkout: {skip: true}}]',
  })
  expect(pipeline.status).toBe(201)
  return `${org}/pipelines/${String(pipeline.body['slug'])}`
}

describe('kill -9 between a state change and its delivery', () => {
  it('loses no notification: each arrives, in order per build, with the same id', async () => {
    const receiver = await aReceiver()
    const settings = {
      MILLRACE_DATA_DIR: aDataDirectory(),
      MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8',
    }
    const first = await startServer(settings)
    const path = await aPipelineWithWebhook(first, receiver)
    const build = (server: Server) =>
      server.post(`${path}/builds`, { commit: 'HEAD', branch: 'main' }, first.token)
    for (let n = 0; n < 3; n++) expect((await build(first)).status).toBe(201)
    await eventually(
      'an attempt for each',
      async () => new Set(receiver.arrivals.map((one) => one.build)).size === 3,
    )
    // These are committed, but hardly more, before the kill.
    const last = await Promise.all([build(first), build(first), build(first)])
    first.killGroup()
    await first.ended
    expect(last.map(({ status }) => status)).toEqual([201, 201, 201])

    receiver.isUp = true
    const second = await startServer(settings)
    const accepted = () => receiver.arrivals.filter((one) => one.accepted)
    await eventually(
      'the end of all six',
      async () => accepted().filter(({ event }) => event === 'build.finished').length >= 6,
    )
    for (const number of ['1', '2', '3', '4', '5', '6']) {
      const own = accepted().filter((one) => one.build === number)
      expect([...new Set(own.map(({ event }) => event))]).toEqual(events)
    }
    const ids = new Map<string, Set<string>>()
    for (const { build: number, event, delivery } of receiver.arrivals) {
      ids.set(`${number} ${event}`, (ids.get(`${number} ${event}`) ?? new Set()).add(delivery))
    }
    expect([...ids.values()].map((of) => of.size)).toEqual([...ids].map(() => 1))
    expect((await stop(second)).code).toBe(0)
  })
})
