import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually, startApp, useOwnApp, type TestApp } from '../../test/app.ts'
import { aMember, anAdmin, anOrganization, aToken } from '../../test/builders.ts'
import { revokeAccessToken } from '../resources/people/access-token/revoke.ts'
import { flushTokenCaches } from './access-watch.ts'

const app = useOwnApp()
let second: TestApp
beforeAll(async () => {
  second = await startApp({}, app.database)
})
afterAll(async () => second.close())

const statusOn = async (server: TestApp, token: string, path = '/v2/access-token') =>
  (await server.request('GET', path, { token })).status

/** A change without a notification. */
const revokeSilently = (id: string) =>
  app.db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx)
    await trx
      .updateTable('api_access_tokens')
      .set({ revoked_at: new Date().toISOString() })
      .where('id', '=', id)
      .execute()
  })

async function aKnownToken() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const member = await aMember(app, org)
  const token = await aToken(app, member)
  const { body } = await second.request('GET', '/v2/access-token', { token })
  return { org, admin, member, token, id: String(body.uuid) }
}

describe('a server', () => {
  it('caches a token until it is notified of a change', async () => {
    // A server that hears late from its database asks it for every token.
    const token = await eventually('the cached token is valid', async () => {
      const known = await aKnownToken()
      await revokeSilently(known.id)
      return (await statusOn(second, known.token)) === 200 && known.token
    })
    await flushTokenCaches(app.db)
    expect(await statusOn(second, token)).toBe(401)
  })

  it('clears its cache when somebody changes the tables by hand', async () => {
    const { token, id } = await aKnownToken()
    await sql`update api_access_tokens set revoked_at = now() where id = ${id}`.execute(app.db)
    const refused = await eventually('is refused', async () => (await statusOn(second, token)) === 401)
    expect(refused).toBe(true)
  })

  it('queries every token while its listening connection is cut, and caches again afterwards', async () => {
    const { token, id } = await aKnownToken()
    await sql`
      select pg_terminate_backend(l.pid) from pg_locks l
      where locktype = 'advisory' and mode = 'ShareLock'
        and database = (select oid from pg_database where datname = current_database())`.execute(app.db)
    await revokeSilently(id)
    await eventually('asks', async () => (await statusOn(second, token)) === 401)
    expect(await statusOn(second, token)).toBe(401)
    await eventually('remembers again', async () => {
      const next = await aKnownToken()
      await revokeSilently(next.id)
      return (await statusOn(second, next.token)) === 200
    })
  })
})

describe('a change of access takes effect on every server before its response', () => {
  it('when a token revokes itself', async () => {
    for (let n = 0; n < 10; n++) {
      const { token } = await aKnownToken()
      expect((await app.request('DELETE', '/v2/access-token', { token })).status).toBe(204)
      expect(await statusOn(second, token)).toBe(401)
    }
  })

  it('when an operator revokes a token', async () => {
    const { token, id } = await aKnownToken()
    await revokeAccessToken(app.db, { kind: 'operator', command: 'token revoke' }, id)
    await flushTokenCaches(app.db)
    expect(await statusOn(second, token)).toBe(401)
  })

  it('when a member is removed', async () => {
    const { org, admin, member, token } = await aKnownToken()
    expect(await statusOn(second, token, org.path)).toBe(200)
    await app.request('DELETE', `${org.path}/members/${member.id}`, { token: admin.token })
    expect(await statusOn(second, token, org.path)).toBe(404)
  })

  it('when an administrator becomes a member, with an Idempotency-Key too', async () => {
    const { org, admin } = await aKnownToken()
    const other = await anAdmin(app, org)
    const path = `${org.path}/api-settings`
    expect(await statusOn(second, other.token, path)).toBe(200)
    const answer = await app.request('PUT', `${org.path}/members/${other.id}`, {
      token: admin.token,
      body: { role: 'member' },
      headers: { 'Idempotency-Key': 'demote' },
    })
    expect(answer.status).toBe(200)
    expect(await statusOn(second, other.token, path)).toBe(403)
  })

  it('when the organization narrows its addresses', async () => {
    const { org, admin, token } = await aKnownToken()
    expect(await statusOn(second, token, org.path)).toBe(200)
    const answer = await app.request('PATCH', `${org.path}/api-settings`, {
      token: admin.token,
      body: { allowed_ip_addresses: '192.0.2.0/24', force: true },
    })
    expect(answer.status).toBe(200)
    expect(await statusOn(second, token, org.path)).toBe(403)
  })

  it('when many change at once', async () => {
    const known = await Promise.all(Array.from({ length: 10 }, aKnownToken))
    await Promise.all(
      known.map(async ({ token }) => {
        await app.request('DELETE', '/v2/access-token', { token })
        expect(await statusOn(second, token)).toBe(401)
      }),
    )
  })

  it('and the connection of a server that does not release the lock is terminated', async () => {
    const deaf = await app.database.pool.connect()
    const { rows } = await deaf.query<{ pid: number }>(
      'select pg_backend_pid() as pid, pg_advisory_lock_shared(4872001131)',
    )
    await flushTokenCaches(app.db, 200)
    const isGone = await eventually('its connection is gone', async () => {
      const found = await sql`select from pg_stat_activity where pid = ${rows[0]?.pid}`.execute(app.db)
      return found.rows.length === 0
    })
    expect(isGone).toBe(true)
    deaf.release(true)
    await flushTokenCaches(app.db)
  })
})
