import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { eventually, startApp, useApp } from '../../test/app.ts'
import { aBuild } from '../../test/runs.ts'
import { aSession } from '../../test/sessions.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aToken,
  tokenId,
  unique,
  type TestOrganization,
  type TestUser,
} from '../../test/builders.ts'
import type { Caller } from '../auth/caller.ts'
import { fingerprint, once, onceOutside, type KeyedRequest } from './idempotency.ts'

const app = useApp()

let org: TestOrganization
let admin: TestUser
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
})

const create = (key: string, body: object, token = admin.token) =>
  app.request('POST', `${org.path}/clusters`, { token, body, headers: { 'Idempotency-Key': key } })

const countClusters = async () =>
  (await app.db.selectFrom('clusters').select('id').where('organization_id', '=', org.id).execute()).length

describe('Idempotency-Key', () => {
  it('repeats the first answer, and runs the request once', async () => {
    const before = await countClusters()
    const key = unique('key')
    const first = await create(key, { name: 'Once' })
    const second = await create(key, { name: 'Once' })
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toEqual(first.body)
    expect([first, second].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true'])
    expect(await countClusters()).toBe(before + 1)
  })

  it('stores a refusal too, even when the request would be accepted later', async () => {
    const key = unique('key')
    const first = await create(key, { name: '' })
    const second = await create(key, { name: '' })
    expect([first.status, second.status]).toEqual([422, 422])
    expect(second.body).toEqual(first.body)
  })

  it('answers 422 to the same key with another body, another path or another method', async () => {
    const key = unique('key')
    const headers = { 'Idempotency-Key': key }
    const cluster = await aCluster(app, org, admin)
    expect((await create(key, { name: 'One' })).status).toBe(201)
    const others = [
      await create(key, { name: 'Two' }),
      await app.request('POST', `${cluster.path}/queues`, {
        token: admin.token,
        body: { key: 'q' },
        headers,
      }),
      await app.request('PUT', cluster.path, { token: admin.token, body: { name: 'One' }, headers }),
    ]
    expect(others.map(({ status }) => status)).toEqual([422, 422, 422])
    expect(others[0]?.body.message).toMatch(/^This Idempotency-Key was used with another request/)
  })

  it('answers 409 while the first request is in flight, and runs the request once', async () => {
    const before = await countClusters()
    const key = unique('key')
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(key, { name: 'Busy' })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]))
    expect(await countClusters()).toBe(before + 1)
  })

  it('belongs to one user: another user may use the same key', async () => {
    const other = await anAdmin(app, org)
    const key = unique('key')
    const [mine, theirs] = [await create(key, { name: 'A' }), await create(key, { name: 'A' }, other.token)]
    expect([mine.status, theirs.status]).toEqual([201, 201])
    expect(mine.body.id).not.toEqual(theirs.body.id)
  })

  it('belongs to one token: others of the same person, and their sessions, never get its answer', async () => {
    const key = unique('key')
    const headers = { 'Idempotency-Key': key }
    const body = { description: 'A program', scopes: ['read_user'] }
    const make = (sent: { token?: string; headers: Record<string, string> }) =>
      app.request('POST', '/v2/user/access-tokens', { ...sent, body })
    const first = await make({ token: admin.token, headers })
    expect(first.status).toBe(201)
    const accessTokenId = await tokenId(app, admin.token)
    const others = [
      await make({ token: await aToken(app, admin, { scopes: ['write_user', 'read_user'] }), headers }),
      await make({ headers: { ...(await aSession(app, admin)), ...headers } }),
      await make({
        headers: { ...(await aSession(app, admin, { how: 'token', accessTokenId })), ...headers },
      }),
    ]
    expect(others.map((other) => other.status)).toEqual([201, 201, 201])
    const made = [first, ...others].map((answer) => answer.body.token)
    expect(new Set(made).size).toBe(4)
    expect((await make({ token: admin.token, headers })).body).toEqual(first.body)
  })

  it('is refused where the previous release has stored an answer, and there too', async () => {
    const key = unique('key')
    const old = { user_id: admin.id, key, fingerprint: Buffer.alloc(16), status: 201, headers: '{}' }
    await app.db.insertInto('idempotency_keys').values(old).execute()
    expect((await create(key, { name: 'Made before' })).status).toBe(422)
    const next = unique('key')
    await create(next, { name: 'Made now' })
    const { fingerprint } = await app.db
      .selectFrom('idempotency_keys')
      .select('fingerprint')
      .where('user_id', '=', admin.id)
      .where('key', '=', next)
      .executeTakeFirstOrThrow()
    expect(fingerprint).toHaveLength(0)
  })

  it('does not give a member access', async () => {
    const member = await aMember(app, org)
    expect((await create(unique('key'), { name: 'A' }, member.token)).status).toBe(403)
  })

  it('expires after 24 hours', async () => {
    const key = unique('key')
    const first = await create(key, { name: 'Daily' })
    await sql`update idempotency_keys set created_at = now() - interval '25 hours' where key like ${`%${key}`}`.execute(
      app.db,
    )
    const second = await create(key, { name: 'Daily' })
    expect([second.status, second.body.id === first.body.id]).toEqual([201, false])
  })

  it('is shared by all servers on one database', async () => {
    const other = await startApp({}, app.database)
    const key = unique('key')
    const first = await create(key, { name: 'Shared' })
    const second = await other.request('POST', `${org.path}/clusters`, {
      token: admin.token,
      body: { name: 'Shared' },
      headers: { 'Idempotency-Key': key },
    })
    await other.close()
    expect(second.body).toEqual(first.body)
  })

  it('works for endpoints that call other systems', async () => {
    const cluster = await aCluster(app, org, admin)
    const rename = () =>
      app.request('PUT', cluster.path, {
        token: admin.token,
        body: { name: 'Renamed' },
        headers: { 'Idempotency-Key': cluster.id },
      })
    const [first, second] = [await rename(), await rename()]
    expect([first.status, second.body]).toEqual([200, first.body])
    const events = await app.db
      .selectFrom('audit_events')
      .select('id')
      .where('type', '=', 'CLUSTER_UPDATED')
      .where(sql`subject ->> 'uuid'`, '=', cluster.id)
      .execute()
    expect(events).toHaveLength(1)
  })

  describe('of an endpoint that calls another system', () => {
    const aRequest = async (): Promise<KeyedRequest> => {
      const caller = { user: { id: admin.id }, session: null, token: { id: await tokenId(app, admin.token) } }
      return { key: unique('key'), caller: caller as Caller, fingerprint: fingerprint('POST', '/', null) }
    }
    const answer = { status: 200, body: { id: 1 } }

    it('holds no connection meanwhile, and answers 409 until the other system has answered', async () => {
      const requests = await Promise.all(Array.from({ length: 30 }, aRequest))
      let resolve: (value: typeof answer) => void = () => {}
      const answered = new Promise<typeof answer>((done) => {
        resolve = done
      })
      let begun = 0
      const work = () => {
        begun += 1
        return answered
      }
      const running = requests.map((request) => onceOutside(app.ctx, request, work))
      await eventually('more of them are under way than there are connections', async () => begun === 30)
      const { direct } = app.database
      expect(direct.options.max).toBeLessThan(30)
      // The server's own listeners hold a few.
      await eventually('connections are free', async () => direct.totalCount - direct.idleCount < 10)
      const [request] = requests
      if (request === undefined) throw new Error('No request')
      await expect(onceOutside(app.ctx, request, work)).rejects.toMatchObject({ status: 409 })
      await expect(once(app.ctx, request, work)).rejects.toMatchObject({ status: 409 })
      resolve(answer)
      await Promise.all(running)
      expect(begun).toBe(30)
      expect(await onceOutside(app.ctx, request, work)).toMatchObject({
        headers: { 'Idempotency-Replayed': 'true' },
      })
    })

    it('may be repeated at once when it failed, and a minute after its server died', async () => {
      const request = await aRequest()
      const fail = () => Promise.reject(new Error('No answer'))
      await expect(onceOutside(app.ctx, request, fail)).rejects.toThrow('No answer')
      void onceOutside(app.ctx, request, () => new Promise(() => {}))
      const work = () => Promise.resolve(answer)
      await eventually('it is under way, and its time passes', async () => {
        const { numAffectedRows } = await sql`
          update idempotency_keys set held_until = now()
          where key like ${`%${request.key}`} and held_until > now()`.execute(app.db)
        return numAffectedRows === 1n
      })
      expect(await onceOutside(app.ctx, request, work)).toEqual(answer)
    })
  })

  it('appends to an annotation once, even if the server died before it answered', async () => {
    const pipeline = await aPipeline(app, org, 'steps: []')
    const { number } = await aBuild(app, org, pipeline)
    const annotations = `${pipeline.path}/builds/${number}/annotations`
    const key = unique('key')
    const append = () =>
      app.request('POST', annotations, {
        token: admin.token,
        body: { context: 'log', body: 'once', append: true },
        headers: { 'Idempotency-Key': key },
      })
    const first = await append()
    const { numAffectedRows } = await sql`
      update idempotency_keys set status = 0, headers = '{}', body = null, held_until = now()
      where key like ${`%\n${key}`}`.execute(app.db)
    expect(numAffectedRows).toBe(1n)
    const second = await append()
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body])
    const { list } = await app.request('GET', annotations, { token: admin.token })
    expect(list.map(({ body_html }) => body_html)).toEqual(['<p>once</p>\n'])
  })

  it.each(['', 'x'.repeat(256), 'ümlaut'])('answers 400 to an invalid key: %.10s', async (key) => {
    const headers = { 'Idempotency-Key': Buffer.from(key).toString('latin1') }
    const answer = await app.request('POST', `${org.path}/clusters`, {
      token: admin.token,
      body: { name: 'A' },
      headers,
    })
    expect([answer.status, answer.body.message]).toEqual([
      400,
      'Idempotency-Key must be 1 to 255 printable ASCII characters.',
    ])
  })

  it('stores no secret in plain text', async () => {
    const cluster = await aCluster(app, org, admin)
    const key = unique('key')
    const answer = await app.request('POST', `${cluster.path}/tokens`, {
      token: admin.token,
      body: { description: 'secret' },
      headers: { 'Idempotency-Key': key },
    })
    const { rows } = await sql<{
      row: string
    }>`select k::text as row from idempotency_keys k where key like ${`%${key}`}`.execute(app.db)
    expect(String(answer.body.token)).toMatch(/^mrct_/)
    expect(rows).toHaveLength(2)
    expect(JSON.stringify(rows)).not.toContain(String(answer.body.token))
  })
})
