import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { baseUrl, useApp, type TestAnswer } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aToken,
  tokenId,
  withFeature,
  withoutFeature,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { recordAudit } from '../../../audit/record.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { graphqlId, newId } from '../../../lib/ids.ts'

const app = useApp()

const anEvent = (org: TestOrganization) =>
  inTransaction(app.db, (trx) =>
    recordAudit(
      trx,
      { kind: 'system' },
      {
        organizationId: org.id,
        type: 'ORGANIZATION_UPDATED',
        subject: { type: 'Organization', uuid: org.id, name: org.name },
      },
    ),
  )

/** Many events, ten to each millisecond. */
const manyEvents = (org: TestOrganization, count: number) =>
  sql`insert into audit_events (id, organization_id, type, occurred_at, subject)
    select gen_random_uuid(), ${org.id}, 'ORGANIZATION_UPDATED', now() - (n / 10) * interval '1 ms',
      ${JSON.stringify({ type: 'Organization', uuid: org.id, name: org.name })}::jsonb
    from generate_series(1, ${count}::int) n`.execute(app.db)

const uuids = (answer: TestAnswer) => answer.list.map(({ uuid }) => String(uuid))

describe('GET /v2/organizations/{org.slug}/audit_events', () => {
  let org: TestOrganization
  let admin: TestUser
  beforeEach(async () => {
    org = await anOrganization(app)
    admin = await anAdmin(app, org, { name: 'Ada' })
  })
  const list = (query = '', token = admin.token) =>
    app.request('GET', `${org.path}/audit_events${query}`, { token })
  const follow = (link: unknown) =>
    app.request('GET', String(link).slice(baseUrl.length), { token: admin.token })

  it('shows what a caller did, from where and with which token', async () => {
    const answer = await app.request('POST', `${org.path}/clusters`, {
      token: admin.token,
      body: { name: 'Tools', emoji: ':wrench:' },
      headers: { 'User-Agent': 'curl/8' },
    })
    const [newest] = (await list('?per_page=1')).list
    expect(newest).toEqual({
      uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      graphql_id: graphqlId('AuditEvent', String(newest.uuid)),
      type: 'ClusterCreatedEvent',
      occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      actor: { type: 'User', uuid: admin.id, name: 'Ada' },
      subject: { type: 'Cluster', uuid: answer.body.id, name: 'Tools' },
      context: {
        type: 'APIContext',
        request_ip: '127.0.0.1',
        request_user_agent: 'curl/8',
        api_access_token_uuid: await tokenId(app, admin.token),
      },
      data: { name: 'Tools', description: '', emoji: ':wrench:', color: null, hosted: false },
      url: `${baseUrl}${org.path}/audit_events/${newest.uuid}`,
    })
  })

  it('shows events of the operator and of the installation without an actor', async () => {
    const other = await anOrganization(app)
    const { token } = await anAdmin(app, other)
    await anEvent(other)
    const { list: events } = await app.request('GET', `${other.path}/audit_events`, { token })
    expect(events[0]).toMatchObject({
      type: 'OrganizationUpdatedEvent',
      actor: null,
      context: null,
      data: {},
    })
    expect(events.at(-1)).toMatchObject({
      type: 'OrganizationCreatedEvent',
      actor: null,
      subject: { type: 'Organization', uuid: other.id, name: other.name },
      context: { type: 'CommandLineContext', command: 'test' },
      data: { slug: other.slug, name: other.name },
    })
  })

  it('lists newest first and only what happened in the organization', async () => {
    await aCluster(app, org, admin)
    const { list: events } = await list('?per_page=100')
    const times = events.map(({ occurred_at: at }) => String(at))
    expect(times).toEqual(times.toSorted().toReversed())
    const { rows } = await sql<{ id: string }>`
      select id from audit_events where organization_id = ${org.id}`.execute(app.db)
    expect(events.map(({ uuid }) => String(uuid)).sort()).toEqual(rows.map(({ id }) => id).sort())
  })

  it('has only a self link when everything is on the first page', async () => {
    const small = await anOrganization(app)
    const { token } = await anAdmin(app, small)
    const answer = await app.request('GET', `${small.path}/audit_events`, { token })
    const self = `${baseUrl}${small.path}/audit_events?per_page=30`
    expect(answer.body.links).toEqual({ self })
    expect(answer.headers.get('link')).toBe(`<${self}>; rel="self"`)
  })

  it('pages through 500 events while others arrive, without a duplicate or a gap, and back again', async () => {
    await manyEvents(org, 500)
    const { rows } = await sql<{ id: string }>`
      select id from audit_events where organization_id = ${org.id}
      order by occurred_at desc, id desc`.execute(app.db)
    const expected = rows.map(({ id }) => id)

    let page = await list('?per_page=40')
    const pages = [page]
    while (page.body.links.next !== undefined) {
      await Promise.all([anEvent(org), anEvent(org), anEvent(org)])
      page = await follow(page.body.links.next)
      pages.push(page)
    }
    expect(pages.flatMap(uuids)).toEqual(expected)

    for (const earlier of pages.slice(0, -1).toReversed()) {
      page = await follow(page.body.links.prev)
      expect(uuids(page)).toEqual(uuids(earlier))
    }
    const arrived = await follow(page.body.links.prev)
    expect(arrived.list).toHaveLength((pages.length - 1) * 3)
    expect(arrived.body.links).not.toHaveProperty('prev')
    expect(uuids(await follow(arrived.body.links.next))).toEqual(uuids(pages[0]))
  })

  it('repeats its links in the Link header, with per_page and the caller’s own query', async () => {
    await manyEvents(org, 10)
    const second = await follow((await list('?per_page=2&note=a,b')).body.links.next)
    const { self, first, prev, next } = second.body.links
    expect(second.headers.get('link')).toBe(
      `<${self}>; rel="self", <${first}>; rel="first", <${prev}>; rel="prev", <${next}>; rel="next"`,
    )
    expect(first).toBe(`${baseUrl}${org.path}/audit_events?note=a%2Cb&per_page=2`)
    expect(String(next)).toMatch(/\?after=[\w-]+&note=a%2Cb&per_page=2$/)
    expect(String(prev)).toMatch(/\?before=[\w-]+&note=a%2Cb&per_page=2$/)
    expect(String(self)).toMatch(/\?after=[\w-]+&note=a%2Cb&per_page=2$/)
  })

  it('shows 30 events unless asked for another number up to 100', async () => {
    await manyEvents(org, 100)
    expect((await list()).list).toHaveLength(30)
    expect((await list('?per_page=')).list).toHaveLength(30)
    expect((await list('?per_page=1')).list).toHaveLength(1)
    expect((await list('?per_page=100')).list).toHaveLength(100)
  })

  it.each(['0', '101', '-1', '1.5', 'many', '1e9'])('answers 400 to per_page=%s', async (perPage) => {
    const answer = await list(`?per_page=${perPage}`)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toBe('`per_page` must be a whole number from 1 to 100.')
  })

  it('answers 400 to both cursors, even when both are good', async () => {
    await manyEvents(org, 2)
    const [, cursor] = /after=([\w-]+)/.exec(String((await list('?per_page=1')).body.links.next)) ?? []
    expect((await list(`?after=${cursor}`)).status).toBe(200)
    const answer = await list(`?after=${cursor}&before=${cursor}`)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toBe('Give `after` or `before`, not both.')
  })

  it.each(['x', 'AAAA', '{"occurred_at":"2026-01-01"}', '\0', '🛠', 'a'.repeat(5000)])(
    'answers 400 to the made-up cursor %.40s',
    async (cursor) => {
      const written = encodeURIComponent(cursor)
      expect((await list(`?after=${written}`)).status).toBe(400)
      expect((await list(`?before=${written}`)).status).toBe(400)
    },
  )

  it('answers 400 to the cursor of another organization', async () => {
    const other = await anOrganization(app)
    const { token } = await anAdmin(app, other)
    const there = await app.request('GET', `${other.path}/audit_events?per_page=1`, { token })
    const [, cursor] = /after=([\w-]+)/.exec(String(there.body.links.next)) ?? []
    const answer = await list(`?after=${cursor}`)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toMatch(/^The cursor is invalid/)
  })

  it('answers 403 to members who are not administrators, and to tokens without the scope', async () => {
    const member = await aMember(app, org)
    expect((await list('', member.token)).body).toEqual({ message: 'Forbidden' })
    const narrow = await aToken(app, admin, { scopes: ['read_clusters'] })
    const answer = await list('', narrow)
    expect(answer.status).toBe(403)
    expect(answer.body).toEqual({ message: "Your access token doesn't have the read_audit_events scope" })
  })

  it('answers 403 while the organization has no audit log, and shows all of it once it has', async () => {
    const other = await anOrganization(app)
    const { token } = await anAdmin(app, other)
    await withoutFeature(app, other, 'audit_log')
    const refused = await app.request('GET', `${other.path}/audit_events`, { token })
    expect(refused.status).toBe(403)
    expect(refused.body.message).toMatch(/^Your plan doesn't include audit logging/)
    await withFeature(app, other, 'audit_log')
    const shown = await app.request('GET', `${other.path}/audit_events`, { token })
    expect(shown.list.map(({ data }) => data)).toContainEqual({ audit_log: false })
  })

  it('answers 404 to those outside the organization', async () => {
    const stranger = await anAdmin(app, await anOrganization(app))
    const answer = await list('', stranger.token)
    expect(answer.status).toBe(404)
    expect(answer.body).toEqual({ message: 'No organization found' })
  })
})

describe('filters of audit events', () => {
  it('choose by type, actor, subject, time and name', async () => {
    const org = await anOrganization(app)
    const [ada, bob] = [await anAdmin(app, org, { name: 'Ada' }), await anAdmin(app, org, { name: 'Bob' })]
    const make = (name: string, { token }: TestUser) =>
      app.request('POST', `${org.path}/clusters`, { token, body: { name } })
    const first = await make('Tools', ada)
    await make('Machines', bob)
    const names = async (query: string) => {
      const answer = await app.request('GET', `${org.path}/audit_events?${query}`, { token: ada.token })
      expect(answer.status).toBe(200)
      return answer.list
        .filter(({ type }) => String(type) === 'ClusterCreatedEvent')
        .map(({ subject }) => String(subject?.['name']))
    }
    expect(await names('type=ClusterCreatedEvent')).toEqual(['Machines', 'Tools'])
    expect(await names('type=TeamCreatedEvent')).toEqual([])
    expect(await names('type=Nothing')).toEqual([])
    expect(await names(`actor=${bob.id}`)).toEqual(['Machines'])
    expect(await names(`subject=${first.body.id}`)).toEqual(['Tools'])
    expect(await names('q=TOOL')).toEqual(['Tools'])
    expect(await names('q=%25')).toEqual([])
    expect(await names('from=2100-01-01T00:00:00Z')).toEqual([])
    expect(await names('to=2100-01-01T00:00:00Z')).toEqual(['Machines', 'Tools'])
    const csv = await app.request('GET', `${org.path}/audit_events.csv?q=Tools`, { token: ada.token })
    expect([csv.status, csv.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    expect(csv.text.match(/ClusterCreatedEvent/g)).toHaveLength(1)
  })
})

describe('GET /v2/organizations/{org.slug}/audit_events/{uuid}', () => {
  it('answers with the same event as the list', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const [event] = (await app.request('GET', `${org.path}/audit_events`, { token })).list
    const answer = await app.request('GET', String(event.url).slice(baseUrl.length), { token })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual(event)
  })

  it('answers 404 when the UUID is unknown, malformed, or of another organization', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const other = await anOrganization(app)
    const { rows } = await sql<{ id: string }>`
      select id from audit_events where organization_id = ${other.id}`.execute(app.db)
    for (const id of [newId(), 'nothing', rows[0].id]) {
      const answer = await app.request('GET', `${org.path}/audit_events/${id}`, { token })
      expect(answer.status).toBe(404)
      expect(answer.body).toEqual({ message: 'No audit event found' })
    }
  })

  it('answers 403 to members, to tokens without the scope, and while there is no audit log', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const [event] = (await app.request('GET', `${org.path}/audit_events`, { token: admin.token })).list
    const get = async (token: string) =>
      (await app.request('GET', `${org.path}/audit_events/${event.uuid}`, { token })).status
    expect(await get((await aMember(app, org)).token)).toBe(403)
    expect(await get(await aToken(app, admin, { scopes: ['read_organizations'] }))).toBe(403)
    await withoutFeature(app, org, 'audit_log')
    expect(await get(admin.token)).toBe(403)
  })
})

describe('the audit log in the database', () => {
  it.each([
    "update audit_events set type = 'X'",
    'delete from audit_events',
    'truncate audit_events',
    'truncate organizations cascade',
  ])('refuses: %s', async (statement) => {
    await anOrganization(app)
    await expect(sql.raw(statement).execute(app.db)).rejects.toThrow('audit_events is append-only')
  })
})
