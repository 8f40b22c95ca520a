// Notifications from end to end: a worker's loops, services that point to real receivers, and a clock that a test moves.
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, onTestFinished } from 'vitest'
import { outboundClient } from '../src/lib/outbound.ts'
import type { Notifications } from '../src/notifications/start.ts'
import { startNotifications } from '../src/worker.ts'
import { eventually, useOwnApp, type Json, type TestApp } from './app.ts'
import { anAdmin, anOrganization, type TestOrganization, type TestUser } from './builders.ts'
import { aReceiver, type Answering, type Receiver } from './remote-hosts/receiver.ts'

export interface TestService {
  id: string
  path: string
  body: Json
  receiver: Receiver
  /** The bodies that the receiver got, without pings. */
  events(): Json[]
}

interface TestNotifications {
  app: TestApp
  anOrg(): Promise<{ org: TestOrganization; admin: TestUser }>
  /** A service whose URL is a receiver of its own. */
  aService(
    org: TestOrganization,
    admin: TestUser,
    given?: { provider?: string; settings?: object; answering?: Answering; [field: string]: unknown },
  ): Promise<TestService>
  /** Requests without a response hang until the end of the test. */
  waitForAnswers(): void
  /** Moves the server's clock forward. */
  pass(ms: number): void
  /** Moves the clock to the service's next attempt until the condition holds. */
  passUntil(service: { id: string }, what: string, holds: () => boolean | Promise<boolean>): Promise<void>
  /** Waits until nothing is pending. Returns the service's deliveries, oldest first. */
  untilDelivered(service: { id: string }): Promise<Array<{ id: string; state: string; attempts: number }>>
}

/** One app and one worker for all the tests of a file. */
export function useNotifications(env: Record<string, string> = {}): TestNotifications {
  const app = useOwnApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8', ...env } })
  let aheadMs = 0
  let notifications: Notifications
  const receivers: Receiver[] = []
  beforeAll(() => {
    app.ctx.now = () => new Date(Date.now() + aheadMs)
    notifications = startNotifications(app.ctx)
  })
  afterAll(() => notifications.stop())
  afterEach(async () => {
    for (const receiver of receivers.splice(0)) await receiver.close()
  })
  const pass = (ms: number) => {
    aheadMs += ms
    notifications.wake()
  }
  const deliveriesOf = (id: string) =>
    app.db
      .selectFrom('notification_deliveries')
      .select(['id', 'state', 'attempts'])
      .where('service_id', '=', id)
      .orderBy('seq')
      .execute()
  return {
    app,
    async anOrg() {
      const org = await anOrganization(app)
      return { org, admin: await anAdmin(app, org) }
    },
    async aService(org, admin, { settings, answering, ...given } = {}) {
      const receiver = await aReceiver(answering)
      receivers.push(receiver)
      const body = { provider: 'webhook', settings: { url: receiver.url, ...settings }, ...given }
      const answer = await app.request('POST', `${org.path}/services`, { token: admin.token, body })
      if (answer.status !== 201) throw new Error(`Could not make a service: ${answer.text}`)
      return {
        id: String(answer.body.id),
        path: `${org.path}/services/${answer.body.id}`,
        body: answer.body,
        receiver,
        events: () =>
          receiver.received
            .filter(({ headers }) => headers['x-buildkite-event'] !== 'ping')
            .map((received) => received.body),
      }
    },
    waitForAnswers() {
      const usual = app.ctx.outbound
      const patient = outboundClient({ allow: '127.0.0.0/8', timeoutMs: 600_000 })
      app.ctx.outbound = patient
      onTestFinished(() => {
        app.ctx.outbound = usual
        return patient.close()
      })
    },
    pass,
    async passUntil({ id }, what, holds) {
      await eventually(what, async () => {
        if (await holds()) return true
        const { rows } = await sql<{ due_at: string }>`
            select due_at from notification_queues where owner_id = ${id} and leased_until is null
            order by due_at limit 1`.execute(app.db)
        const waitMs = Date.parse(rows[0]?.due_at ?? '') - app.ctx.now().getTime()
        if (waitMs > 0) pass(waitMs)
        return false
      })
    },
    untilDelivered: ({ id }) =>
      eventually('nothing is pending', async () => {
        const all = await deliveriesOf(id)
        return all.every(({ state }) => state !== 'pending') && all
      }),
  }
}
