import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { eventually, type TestApp } from '../../../test/app.ts'
import { useNotifications } from '../../../test/notifications.ts'
import type { Answering } from '../../../test/remote-hosts/receiver.ts'
import { listPartitions, makePartitions } from '../../db/partitions.ts'
import { handlers } from '../../worker.ts'

const dayMs = 24 * 60 * 60 * 1000
const gone: Answering = (response) => {
  response.statusCode = 410
  response.end()
}

/** As if a partition had ended that many days ago. */
async function expireAfter({ ctx }: TestApp, { endsAt }: { endsAt: Date }, days: number): Promise<void> {
  const now = () => new Date(endsAt.getTime() + days * dayMs)
  await handlers.expire_deliveries({ ...ctx, now }, {})
}

const partitionsOfMessages = async ({ db }: TestApp) =>
  (await listPartitions(db)).filter(({ table }) => table === 'notification_messages')

describe('messages and attempts', () => {
  const notifications = useNotifications()
  const { app, anOrg, aService } = notifications

  const rowsOf = async (table: string, column: string, ids: readonly string[]) => {
    const { rows } = await sql<{ partition: string }>`
      select distinct tableoid::regclass::text as partition from ${sql.table(table)}
      where ${sql.ref(column)} = any (${ids}::uuid[])`.execute(app.db)
    return rows.map(({ partition }) => partition)
  }

  it('are dropped by the week; those of dead letters stay, and can be delivered again', async () => {
    // That of today's messages. At most 21 days are left of it.
    const [first] = await partitionsOfMessages(app)
    if (first === undefined) throw new Error('There is no partition.')
    const expire = (days: number) => expireAfter(app, first, days)
    const { org, admin } = await anOrg()
    const healthy = await aService(org, admin)
    const failing = await aService(org, admin, { answering: gone })
    const [arrived] = await notifications.untilDelivered(healthy)
    const [dead] = await notifications.untilDelivered(failing)
    expect([arrived?.state, dead?.state]).toEqual(['delivered', 'dead'])
    const ids = [arrived?.id ?? '', dead?.id ?? '']
    const { rows } = await sql<{ message_id: string }>`
      select message_id from notification_deliveries where id = any (${ids}::uuid[]) order by state desc`.execute(
      app.db,
    )
    const messages = rows.map(({ message_id }) => message_id)

    await expire(6)
    expect(await rowsOf('notification_messages', 'id', messages)).toEqual(['notification_messages_first'])
    expect(await rowsOf('notification_attempts', 'delivery_id', ids)).toEqual(['notification_attempts_first'])

    await expire(7)
    expect(await rowsOf('notification_messages', 'id', messages.slice(0, 1))).toEqual([])
    expect(await rowsOf('notification_attempts', 'delivery_id', ids.slice(0, 1))).toEqual([])
    expect(await rowsOf('notification_messages', 'id', messages.slice(1))).toEqual([
      'notification_messages_default',
    ])
    expect(await rowsOf('notification_attempts', 'delivery_id', ids.slice(1))).toEqual([
      'notification_attempts_default',
    ])

    const path = `${failing.path}/deliveries/${dead?.id}`
    const shown = await app.request('GET', path, { token: admin.token })
    expect(shown).toMatchObject({ status: 200, body: { state: 'dead', attempts: [{ number: 1 }] } })
    failing.receiver.answering = null
    expect((await app.request('POST', `${path}/redeliver`, { token: admin.token })).status).toBe(200)
    await eventually('it arrives', async () => failing.receiver.received.length === 2)
    const [delivered] = await notifications.untilDelivered(failing)
    expect(delivered).toMatchObject({ id: dead?.id, state: 'delivered', attempts: 2 })

    await expire(60)
    expect(await rowsOf('notification_messages', 'id', messages)).toEqual([])
    expect(await rowsOf('notification_attempts', 'delivery_id', ids)).toEqual([])
  })
})

describe('messages of a week with very many dead letters', () => {
  const notifications = useNotifications()
  const { app, anOrg, aService } = notifications

  it('stay as a whole until the dead letters go', async () => {
    await makePartitions(app.db, app.ctx.now(), app.ctx.log)
    const last = (await partitionsOfMessages(app)).at(-1)
    if (last === undefined) throw new Error('There is no partition.')
    const { org, admin } = await anOrg()
    const service = await aService(org, admin)
    await notifications.untilDelivered(service)
    await sql`
      insert into notification_deliveries (id, organization_id, message_id, service_id, owner_id, ordered_queue, state, give_up_at,
        created_at, finished_at)
      select gen_random_uuid(), ${org.id}, ${last.from}, ${service.id}, ${service.id}, 'x', 'dead', now(), now(),
        ${last.endsAt.toISOString()}
      from generate_series(1, 2001)`.execute(app.db)
    const isThere = async () => (await listPartitions(app.db)).some(({ name }) => name === last.name)
    await expireAfter(app, last, 8)
    expect(await isThere()).toBe(true)
    await expireAfter(app, last, 60)
    expect(await isThere()).toBe(false)
  })
})
