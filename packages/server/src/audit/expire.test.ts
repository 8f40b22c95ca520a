import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { baseUrl, useOwnApp } from '../../test/app.ts'
import { anAdmin, anOrganization, withFeature } from '../../test/builders.ts'
import { firstUuidAt, listPartitions, makePartitions } from '../db/partitions.ts'
import { handlers } from '../worker.ts'

const app = useOwnApp({ env: { MILLRACE_AUDIT_DAYS: '100' } })

const dayMs = 24 * 60 * 60 * 1000

describe('audit events', () => {
  it('of several months are listed and found, and go by the month after their time', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    await withFeature(app, org, 'audit_log')
    const first = (await listPartitions(app.db)).find(({ table }) => table === 'audit_events')
    const border = first?.endsAt ?? new Date()
    for (const days of [0, 31, 62])
      await makePartitions(app.db, new Date(border.getTime() + days * dayMs), app.ctx.log)
    // The last millisecond of a month, the first of the next, and one a month later.
    const times = [-1, 0, 31 * dayMs].map((ms) => new Date(border.getTime() + ms))
    const ids = times.map(firstUuidAt)
    await sql`
      insert into audit_events (id, organization_id, type, occurred_at, subject)
      select e.id, ${org.id}, 'ORGANIZATION_UPDATED', e.at,
        ${JSON.stringify({ type: 'Organization', uuid: org.id, name: org.name })}::jsonb
      from unnest(${ids}::uuid[], ${times.map((time) => time.toISOString())}::timestamptz[]) as e (id, at)`.execute(
      app.db,
    )

    const get = (path: string) => app.request('GET', path, { token: admin.token })
    const shown: string[] = []
    for (let path = `${org.path}/audit_events?per_page=1`; shown.length < 3;) {
      const { list, body } = await get(path)
      shown.push(String(list[0]?.uuid))
      path = String(body.links?.next).slice(baseUrl.length)
    }
    expect(shown).toEqual(ids.toReversed())
    for (const id of ids) expect((await get(`${org.path}/audit_events/${id}`)).status).toBe(200)

    const left = async () => {
      const { rows } = await sql<{ id: string }>`
        select id from audit_events where id = any (${ids}::uuid[]) order by id`.execute(app.db)
      return rows.map(({ id }) => id)
    }
    const expireAt = (days: number) =>
      handlers.expire_audit_events({ ...app.ctx, now: () => new Date(border.getTime() + days * dayMs) }, {})
    await expireAt(99)
    expect(await left()).toEqual(ids)
    await expireAt(100)
    expect(await left()).toEqual(ids.slice(1))
    expect((await get(`${org.path}/audit_events/${ids[0]}`)).status).toBe(404)
  })
})
