import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import {
  aMember,
  anOrganization,
  aToken,
  tokenId,
  unique,
  type TestOrganization,
} from '../../../../test/builders.ts'
import { createMember } from '../members/create.ts'
import { revokeInactiveTokens } from './revoke-inactive.ts'

const app = useApp()

/** Tokens unused for longer than `days` lose access to the organization; null: never. */
async function aStrictOrganization(days: number | null) {
  const org = await anOrganization(app)
  await app.db
    .updateTable('organizations')
    .set({ revoke_inactive_tokens_after_days: days })
    .where('id', '=', org.id)
    .execute()
  return org
}

async function aUserOf(orgs: TestOrganization[]) {
  const user = { email: `${unique('user')}@example.com`, name: 'Ada' }
  for (const { slug } of orgs) {
    const membership = { organizationSlug: slug, role: 'member', passwordHash: null } as const
    await createMember(app.db, { kind: 'system' }, { ...user, ...membership })
  }
  return user
}

async function anIdleToken(
  user: { email: string },
  idle: { days: number; organizations?: TestOrganization[]; neverUsed?: boolean },
) {
  const token = await aToken(app, user, { organizations: idle.organizations ?? [] })
  const id = await tokenId(app, token)
  const at = sql<string>`now() - make_interval(days => ${idle.days})`
  const longAgo = sql<string>`now() - interval '1000 days'`
  await app.db
    .updateTable('api_access_tokens')
    .set(idle.neverUsed ? { created_at: at } : { created_at: longAgo, last_used_at: at })
    .where('id', '=', id)
    .execute()
  return { id, token }
}

const stateOf = (id: string) =>
  app.db
    .selectFrom('api_access_tokens')
    .select(['organization_ids', 'revoked_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

const eventsOf = (org: TestOrganization, tokenId: string) =>
  app.db
    .selectFrom('audit_events')
    .select(['type', 'actor', 'context', 'data'])
    .where('organization_id', '=', org.id)
    .where(sql`subject ->> 'uuid'`, '=', tokenId)
    .where('type', '!=', 'API_ACCESS_TOKEN_CREATED')
    .execute()

describe('revokeInactiveTokens', () => {
  it('revokes a token that has been idle too long for its only organization', async () => {
    const org = await aStrictOrganization(30)
    const user = await aUserOf([org])
    const idle = await anIdleToken(user, { days: 31 })
    const unused = await anIdleToken(user, { days: 31, neverUsed: true, organizations: [org] })
    const fresh = await anIdleToken(user, { days: 29 })
    await revokeInactiveTokens(app.ctx)
    expect((await stateOf(idle.id)).revoked_at).not.toBeNull()
    expect((await stateOf(unused.id)).revoked_at).not.toBeNull()
    expect(await stateOf(fresh.id)).toEqual({ organization_ids: null, revoked_at: null })
    expect((await app.request('GET', org.path, { token: idle.token })).status).toBe(401)
    expect((await app.request('GET', org.path, { token: fresh.token })).status).toBe(200)
    expect(await eventsOf(org, idle.id)).toEqual([
      {
        type: 'API_ACCESS_TOKEN_DELETED',
        actor: null,
        context: null,
        data: { reason: 'inactive', last_used_at: expect.any(String) },
      },
    ])
  })

  it('takes away only the organizations that allow less idle time', async () => {
    const [strict, patient, open] = [
      await aStrictOrganization(30),
      await aStrictOrganization(365),
      await aStrictOrganization(null),
    ]
    const user = await aUserOf([strict, patient, open])
    const everywhere = await anIdleToken(user, { days: 60 })
    const named = await anIdleToken(user, { days: 60, organizations: [strict, open] })
    await revokeInactiveTokens(app.ctx)
    const left = await stateOf(everywhere.id)
    expect(left.revoked_at).toBeNull()
    expect(left.organization_ids?.toSorted()).toEqual([patient.id, open.id].toSorted())
    expect(await stateOf(named.id)).toEqual({ organization_ids: [open.id], revoked_at: null })
    expect((await app.request('GET', strict.path, { token: everywhere.token })).status).toBe(404)
    expect((await app.request('GET', open.path, { token: everywhere.token })).status).toBe(200)
    expect(await eventsOf(strict, everywhere.id)).toMatchObject([
      { type: 'API_ACCESS_TOKEN_ORGANIZATION_ACCESS_REVOKED' },
    ])
    expect(await eventsOf(open, everywhere.id)).toEqual([])
  })

  it('ignores organizations that the owner has left', async () => {
    const [strict, left] = [await aStrictOrganization(90), await aStrictOrganization(null)]
    const user = await aUserOf([strict, left])
    const idle = await anIdleToken(user, { days: 91, organizations: [strict, left] })
    await app.db.deleteFrom('organization_members').where('organization_id', '=', left.id).execute()
    await revokeInactiveTokens(app.ctx)
    expect((await stateOf(idle.id)).revoked_at).not.toBeNull()
  })

  it('changes no token when no organization limits idle time', async () => {
    const org = await anOrganization(app)
    const idle = await anIdleToken(await aMember(app, org), { days: 900 })
    await revokeInactiveTokens(app.ctx)
    expect(await stateOf(idle.id)).toEqual({ organization_ids: null, revoked_at: null })
  })

  it('changes each token once when two workers run at the same time', async () => {
    const org = await aStrictOrganization(30)
    const idle = await anIdleToken(await aUserOf([org]), { days: 31 })
    await Promise.all([revokeInactiveTokens(app.ctx), revokeInactiveTokens(app.ctx)])
    await revokeInactiveTokens(app.ctx)
    expect(await eventsOf(org, idle.id)).toHaveLength(1)
  })
})
