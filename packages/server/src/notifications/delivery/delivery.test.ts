import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../test/app.ts'
import { aPipeline, auditTrail } from '../../../test/builders.ts'
import type { Answering } from '../../../test/remote-hosts/receiver.ts'
import { aBuild, runJob } from '../../../test/runs.ts'
import { parseMetrics } from '../../../test/metrics.ts'
import { useNotifications, type TestService } from '../../../test/notifications.ts'
import { backoffMs } from './backoff.ts'

const notifications = useNotifications()
const { app, anOrg, aService, pass, passUntil } = notifications

const hour = 60 * 60 * 1000
const jobEvents = { events: ['job.scheduled', 'job.started', 'job.finished', 'build.finished'] }

const refusing: Answering = (response, { headers }) => {
  response.statusCode = headers['x-buildkite-event'] === 'ping' ? 200 : 500
  response.end('not today')
}

const toldEvents = (service: TestService) => service.events().map(({ event }) => String(event))

const queuesOf = ({ id }: TestService) =>
  app.db.selectFrom('notification_queues').select('ordered_queue').where('owner_id', '=', id).execute()

describe('a delivery', () => {
  it('is counted with its result', async () => {
    const attempts = async (result: string) => {
      const { value } = parseMetrics(await app.ctx.metrics.registry.metrics())
      const labels = { provider: 'webhook', result }
      return value('millrace_delivery_attempt_duration_seconds_count', labels) ?? 0
    }
    const { org, admin } = await anOrg()
    const [delivered, retried] = [await attempts('delivered'), await attempts('retry')]
    const service = await aService(org, admin, { settings: { events: ['build.finished'] } })
    await notifications.untilDelivered(service)
    let isDown = true
    service.receiver.answering = (response, received, n) =>
      isDown ? refusing(response, received, n) : response.end()
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{command: a}]'))
    await runJob(app, build, 'a')
    await passUntil(service, 'an attempt failed', async () => (await attempts('retry')) > retried)
    isDown = false
    await passUntil(service, 'it is delivered', () => toldEvents(service).length > 1)
    await notifications.untilDelivered(service)
    // The ping, and the build's end.
    expect(await attempts('delivered')).toBe(delivered + 2)
  })
})

describe('a delivery that fails', () => {
  it('is retried with growing pauses for a day', () => {
    const waits = Array.from({ length: 10 }, (_, n) => backoffMs(n + 1, () => 0.5))
    expect(waits.slice(0, 4)).toEqual([2000, 6000, 18_000, 54_000])
    expect(waits.slice(7)).toEqual([hour, hour, hour])
    expect([backoffMs(1, () => 0), backoffMs(1, () => 1)]).toEqual([1500, 2500])
  })

  it.each<[string, Answering]>([
    ['answers 500', refusing],
    [
      'answers with a redirect',
      (response) => {
        response.writeHead(302, { Location: 'http://127.0.0.1:1/' })
        response.end()
      },
    ],
    ['resets the connection', (response) => response.socket?.resetAndDestroy()],
    ['closes the connection', (response) => response.destroy()],
    ['speaks no HTTP', (response) => response.socket?.end('hello\r\n\r\n')],
  ])('arrives once its receiver no longer %s, in order and with the same id', async (_, failing) => {
    const { org, admin } = await anOrg()
    const service = await aService(org, admin, { settings: jobEvents })
    await notifications.untilDelivered(service)
    let isDown = true
    service.receiver.answering = (response, received, n) =>
      isDown ? failing(response, received, n) : response.end()
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{command: a}]'))
    await runJob(app, build, 'a')
    await passUntil(service, 'three attempts', () => service.events().length >= 3)
    expect(new Set(toldEvents(service))).toEqual(new Set(['job.scheduled']))
    isDown = false
    const began = service.events().length
    await passUntil(service, 'all of them', () => toldEvents(service).includes('build.finished'))
    await notifications.untilDelivered(service)
    expect(
      toldEvents(service)
        .slice(began)
        .filter((event, n, all) => all.indexOf(event) === n),
    ).toEqual(['job.scheduled', 'job.started', 'job.finished', 'build.finished'])
    const first = service.receiver.received.filter(({ body }) => String(body.event) === 'job.scheduled')
    expect(new Set(first.map(({ headers }) => headers['x-millrace-delivery'])).size).toBe(1)
    expect(new Set(first.map(({ raw }) => raw.toString())).size).toBe(1)
  })

  it('has a record of every attempt', async () => {
    const { org, admin } = await anOrg()
    const service = await aService(org, admin, { settings: { token: 'hush-hush-hush' } })
    await notifications.untilDelivered(service)
    service.receiver.answering = (response, _, n) => {
      response.writeHead(n < 2 ? 503 : 200, { 'X-Reason': 'busy' })
      response.end(n < 2 ? `come back\0${'x'.repeat(10_000)}` : 'thanks')
    }
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{command: a}]'))
    await runJob(app, build, 'a')
    await passUntil(service, 'it arrived', () => service.receiver.received.length === 3)
    await notifications.untilDelivered(service)
    const { list } = await app.request('GET', `${service.path}/deliveries`, { token: admin.token })
    expect(list).toMatchObject([
      { event: 'build.finished', state: 'delivered', attempts_count: 2 },
      { event: 'ping', state: 'delivered', attempts_count: 1 },
    ])
    const got = await app.request('GET', `${service.path}/deliveries/${list[0]?.id}`, { token: admin.token })
    expect(got.body.payload).toBe(service.receiver.received[2]?.raw.toString())
    expect(got.body.attempts).toMatchObject([
      {
        number: 1,
        started_at: expect.stringMatching(/Z$/),
        duration_ms: expect.any(Number),
        status: 503,
        error: 'The receiver answered 503.',
        exchanges: [
          {
            request: {
              method: 'POST',
              url: service.receiver.url,
              headers: { 'X-Buildkite-Token': 'XXXX', 'X-Millrace-Delivery': list[0]?.id },
              body_bytes: service.receiver.received[1]?.raw.length,
            },
            response: { status: 503, headers: { 'x-reason': 'busy' }, is_cut: true },
          },
        ],
      },
      { number: 2, status: 200, error: null, exchanges: [{ response: { body: 'thanks', is_cut: false } }] },
    ])
    expect(got.text).toContain('come back')
    expect(got.text).not.toContain('hush-hush')
  })

  it('is a dead letter after a day, and the next delivery of the queue is attempted', async () => {
    const { org, admin } = await anOrg()
    const service = await aService(org, admin, { settings: jobEvents, answering: refusing })
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{command: a}]'))
    await runJob(app, build, 'a')
    await passUntil(service, 'two attempts', () => service.events().length >= 2)
    pass(24 * hour)
    await passUntil(service, 'all are dead', async () => {
      const { list } = await app.request('GET', `${service.path}/deliveries?state=dead`, {
        token: admin.token,
      })
      return list.length === 4
    })
    const all = await notifications.untilDelivered(service)
    expect(all.map(({ state }) => state)).toEqual(['delivered', 'dead', 'dead', 'dead', 'dead'])
    expect(all[1]?.attempts).toBeGreaterThanOrEqual(2)
    expect(all[4]?.attempts).toBeGreaterThanOrEqual(1)
    expect([...new Set(toldEvents(service))]).toEqual(jobEvents.events)
  })

  it('is dead at once when the address is not allowed or the receiver answers 410', async () => {
    const { org, admin } = await anOrg()
    for (const [settings, answering] of [
      [{ url: 'http://169.254.169.254/latest/meta-data/' }, refusing],
      [
        {},
        ((response) => {
          response.statusCode = 410
          response.end()
        }) satisfies Answering,
      ],
    ] as const) {
      const service = await aService(org, admin, { settings, answering })
      expect(await notifications.untilDelivered(service)).toMatchObject([{ state: 'dead', attempts: 1 }])
    }
  })
})

describe('a service', () => {
  it('does not wait for another one whose receiver hangs', async () => {
    const { org, admin } = await anOrg()
    notifications.waitForAnswers()
    const hanging = await aService(org, admin, { settings: jobEvents, answering: () => {} })
    const healthy = await aService(org, admin, { settings: jobEvents })
    const pipeline = await aPipeline(app, org, 'steps: [{command: a}]')
    for (let n = 0; n < 12; n++) await runJob(app, await aBuild(app, org, pipeline), 'a')
    await eventually('all of the healthy one', async () => healthy.events().length === 48)
    expect(hanging.events().length).toBeLessThanOrEqual(12)
    await app.request('DELETE', hanging.path, { token: admin.token })
  })

  it('does not wait for many others whose receivers hang', async () => {
    const { org, admin } = await anOrg()
    notifications.waitForAnswers()
    const hanging: TestService[] = []
    for (let n = 0; n < 12; n++) {
      hanging.push(
        await aService(org, admin, { settings: { events: ['build.scheduled'] }, answering: () => {} }),
      )
    }
    const pipeline = await aPipeline(app, org, 'steps: [{command: a}]')
    for (let n = 0; n < 16; n++) await aBuild(app, org, pipeline)
    const waiting = () => hanging.flatMap(({ receiver }) => receiver.received).length
    await eventually('all slots are taken', async () => waiting() === 12 + 128)
    const healthy = await aService(org, admin, { settings: jobEvents })
    for (let n = 0; n < 3; n++) await runJob(app, await aBuild(app, org, pipeline), 'a')
    await eventually('all of the healthy one', async () => healthy.events().length === 12)
    expect(waiting()).toBe(12 + 128)
    for (const { path } of hanging) await app.request('DELETE', path, { token: admin.token })
  })

  it('that is disabled gets nothing, and only new events when it is enabled again', async () => {
    const { org, admin } = await anOrg()
    const service = await aService(org, admin, { settings: jobEvents, answering: refusing })
    await notifications.untilDelivered(service)
    const pipeline = await aPipeline(app, org, 'steps: [{command: a}]')
    await runJob(app, await aBuild(app, org, pipeline), 'a')
    await eventually('an attempt', async () => service.events().length > 0)
    const put = (verb: string) => app.request('PUT', `${service.path}/${verb}`, { token: admin.token })
    await put('disable')
    const all = await notifications.untilDelivered(service)
    expect(all.map(({ state }) => state)).toEqual(['delivered', ...all.slice(1).map(() => 'discarded')])
    // An attempt that was in flight has ended when its queue is gone.
    await passUntil(service, 'no ordered queue is left', async () => (await queuesOf(service)).length === 0)
    const attempts = service.events().length
    pass(hour)
    await runJob(app, await aBuild(app, org, pipeline), 'a')
    service.receiver.answering = null
    await put('enable')
    const last = await aBuild(app, org, pipeline)
    await runJob(app, last, 'a')
    await eventually('the last build', async () => toldEvents(service).includes('build.finished'))
    expect(
      new Set(
        service
          .events()
          .slice(attempts)
          .map(({ build }) => String(build.id)),
      ),
    ).toEqual(new Set([last.id]))
  })

  it('that is deleted during an attempt loses its deliveries', async () => {
    const { org, admin } = await anOrg()
    let letGo = () => {}
    const service = await aService(org, admin, {
      settings: jobEvents,
      answering: (response) => {
        letGo = () => void response.end()
      },
    })
    await eventually('a ping', async () => service.receiver.received.length === 1)
    expect((await app.request('DELETE', service.path, { token: admin.token })).status).toBe(204)
    letGo()
    const { rows } = await sql`select from notification_deliveries where service_id = ${service.id}`.execute(
      app.db,
    )
    expect(rows).toEqual([])
    await eventually('no ordered queue is left', async () => (await queuesOf(service)).length === 0)
  })

  it('is broken after 50 dead letters in a row, with an audit event; enabling clears it', async () => {
    const { org, admin } = await anOrg()
    const service = await aService(org, admin)
    await notifications.untilDelivered(service)
    const gone: Answering = (response) => {
      response.statusCode = 410
      response.end()
    }
    const test = () => app.request('POST', `${service.path}/test`, { token: admin.token })
    service.receiver.answering = gone
    const count = (deadLetters: number) =>
      app.db
        .updateTable('notification_services')
        .set({ dead_letters_in_a_row: deadLetters })
        .where('id', '=', service.id)
        .execute()
    await count(48)
    await test()
    await notifications.untilDelivered(service)
    const get = () => app.request('GET', service.path, { token: admin.token })
    expect((await get()).body.enabled).toBe(true)
    // A delivery that arrives resets the count.
    service.receiver.answering = null
    await test()
    await notifications.untilDelivered(service)
    service.receiver.answering = gone
    await test()
    await notifications.untilDelivered(service)
    expect((await get()).body.enabled).toBe(true)
    await count(49)
    await test()
    await eventually('it is broken', async () => (await get()).body.enabled === (false as never))
    expect((await get()).body.broken_reason).toMatch(/^50 deliveries in a row were given up\. .*410/)
    expect(await auditTrail(app, org, 'NOTIFICATION_SERVICE_BROKEN')).toMatchObject([
      { actor: null, subject: { uuid: service.id } },
    ])
    expect((await test()).status).toBe(422)
    service.receiver.answering = null
    const enabled = await app.request('PUT', `${service.path}/enable`, { token: admin.token })
    expect(enabled.body).toMatchObject({ enabled: true, broken_at: null, broken_reason: null })
    expect((await test()).status).toBe(201)
    expect((await notifications.untilDelivered(service)).at(-1)).toMatchObject({ state: 'delivered' })
  })
})

describe('POST …/deliveries/{id}/redeliver', () => {
  it('sends a dead letter again, with the same id and payload', async () => {
    const { org, admin } = await anOrg()
    const service = await aService(org, admin, {
      answering: (response) => {
        response.statusCode = 410
        response.end()
      },
    })
    const [dead] = await notifications.untilDelivered(service)
    service.receiver.answering = null
    const path = `${service.path}/deliveries/${dead?.id}`
    const answer = await app.request('POST', `${path}/redeliver`, { token: admin.token })
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { id: dead?.id, state: 'pending', attempts_count: 1 },
    ])
    await notifications.untilDelivered(service)
    const [first, second] = service.receiver.received
    expect(second?.headers['x-millrace-delivery']).toBe(first?.headers['x-millrace-delivery'])
    expect(second?.raw.equals(first?.raw ?? Buffer.alloc(0))).toBe(true)
    const got = await app.request('GET', path, { token: admin.token })
    expect(got.body).toMatchObject({ state: 'delivered', attempts_count: 2, next_attempt_at: null })
  })

  it('does not wait for the next attempt', async () => {
    const { org, admin } = await anOrg()
    // The clock stands still, so the next attempt never becomes due by itself.
    const usual = app.ctx.now
    const now = usual()
    app.ctx.now = () => now
    onTestFinished(() => {
      app.ctx.now = usual
    })
    const service = await aService(org, admin, {
      answering: (response, _, n) => {
        response.statusCode = n === 0 ? 500 : 200
        response.end()
      },
    })
    await eventually('one attempt', async () => service.receiver.received.length === 1)
    const [pending] = await eventually('it is recorded', async () => {
      const { list } = await app.request('GET', `${service.path}/deliveries`, { token: admin.token })
      return String(list[0]?.attempts_count) === '1' && list
    })
    expect(pending).toMatchObject({ state: 'pending', next_attempt_at: expect.any(String) })
    await app.request('POST', `${service.path}/deliveries/${pending?.id}/redeliver`, { token: admin.token })
    expect(await notifications.untilDelivered(service)).toMatchObject([{ state: 'delivered', attempts: 2 }])
  })

  it('answers 422 while the service is disabled, and 404 to deliveries of others', async () => {
    const { org, admin } = await anOrg()
    const [service, other] = [await aService(org, admin), await aService(org, admin)]
    const [own] = await notifications.untilDelivered(service)
    const [foreign] = await notifications.untilDelivered(other)
    const redeliver = (id: string | undefined) =>
      app.request('POST', `${service.path}/deliveries/${id}/redeliver`, { token: admin.token })
    expect((await redeliver(foreign?.id)).body).toEqual({ message: 'No delivery found' })
    await app.request('PUT', `${service.path}/disable`, { token: admin.token })
    expect((await redeliver(own?.id)).body).toEqual({
      message: 'The notification service is disabled; enable it first.',
    })
  })
})

describe('POST …/services/{uuid}/test', () => {
  it('answers 201 with a delivery that can be read', async () => {
    const { org, admin } = await anOrg()
    const service = await aService(org, admin, { provider: 'chat' })
    notifications.waitForAnswers()
    let answerAll = () => {}
    const mayAnswer = new Promise<void>((resolve) => (answerAll = resolve))
    service.receiver.answering = (response) => mayAnswer.then(() => response.end())
    const answer = await app.request('POST', `${service.path}/test`, { token: admin.token })
    expect([answer.status, answer.body]).toMatchObject([201, { event: 'ping', state: 'pending' }])
    answerAll()
    await notifications.untilDelivered(service)
    const path = `${service.path}/deliveries/${answer.body.id}`
    const got = await app.request('GET', path, { token: admin.token })
    expect(got.body).toMatchObject({ state: 'delivered', attempts: [{ status: 200 }] })
    expect(got.text).toContain(`${new URL(service.receiver.url).origin}/XXXX`)
    expect(got.text).not.toContain(service.receiver.url)
    expect(String(service.receiver.received[0]?.body.text)).toContain('Millrace can write here')
  })
})
