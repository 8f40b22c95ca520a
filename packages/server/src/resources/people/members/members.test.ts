import { describe, expect, it } from 'vitest'
import { sortedStatuses, untilBlocked, useApp } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  aNewcomer,
  aTeam,
  aToken,
  anAdmin,
  anOrganization,
  auditTrail,
  inTeam,
  withoutFeature,
} from '../../../../test/builders.ts'

const app = useApp()

const unknownId = '01890000-0000-7000-8000-000000000000'

async function setUp() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org, { name: 'Grace Admin' })
  const member = await aMember(app, org, { name: 'Ada Member' })
  const pathOf = (user: { id: string }) => `${org.path}/members/${user.id}`
  return { org, admin, member, pathOf }
}

describe('GET /v2/organizations/{org.slug}/members', () => {
  it('lists members oldest first, with the single-sign-on mode for administrators', async () => {
    const { org, admin, member } = await setUp()
    const answer = await app.request('GET', `${org.path}/members`, { token: admin.token })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual([
      { id: admin.id, name: 'Grace Admin', email: admin.email, role: 'admin', sso_mode: 'optional' },
      { id: member.id, name: 'Ada Member', email: member.email, role: 'member', sso_mode: 'optional' },
    ])
  })

  it('shows others only the single-sign-on mode of their own membership', async () => {
    const { org, admin, member } = await setUp()
    const answer = await app.request('GET', `${org.path}/members`, { token: member.token })
    expect(answer.body).toEqual([
      { id: admin.id, name: 'Grace Admin', email: admin.email, role: 'admin' },
      { id: member.id, name: 'Ada Member', email: member.email, role: 'member', sso_mode: 'optional' },
    ])
  })

  it('finds members by e-mail address, in any case, and by role', async () => {
    const { org, admin, member } = await setUp()
    const found = async (query: string) =>
      (await app.request('GET', `${org.path}/members?${query}`, { token: admin.token })).list.map(
        ({ id }) => id,
      )
    expect(await found(`email=${member.email.toUpperCase()}`)).toEqual([member.id])
    expect(await found('email=nobody@example.com')).toEqual([])
    expect(await found('role=admin')).toEqual([admin.id])
    expect(await found(`q=${member.email.slice(0, -4).toUpperCase()}`)).toEqual([member.id])
    expect(await found('q=%25')).toEqual([])
    expect(await found(`id=${member.id}&id=${org.id}`)).toEqual([member.id])
    const refused = await app.request('GET', `${org.path}/members?role=king`, { token: admin.token })
    expect(refused.status).toBe(400)
  })

  it('is paged by number', async () => {
    const { org, admin, member } = await setUp()
    const first = await app.request('GET', `${org.path}/members?per_page=1`, { token: admin.token })
    expect(first.list.map(({ id }) => id)).toEqual([admin.id])
    expect(first.headers.get('link')).toContain('page=2&per_page=1>; rel="next"')
    const second = await app.request('GET', `${org.path}/members?per_page=1&page=2`, { token: admin.token })
    expect(second.list.map(({ id }) => id)).toEqual([member.id])
    expect(second.headers.get('link')).not.toContain('rel="next"')
  })

  it('lists no members of another organization', async () => {
    const { org, admin } = await setUp()
    const other = await setUp()
    const answer = await app.request('GET', `${org.path}/members`, { token: admin.token })
    expect(answer.text).not.toContain(other.member.id)
  })

  it('needs read_organizations and permission to view teams', async () => {
    const { org, admin, member } = await setUp()
    const token = await aToken(app, admin, { scopes: ['write_organizations'] })
    const unscoped = await app.request('GET', `${org.path}/members`, { token })
    expect(unscoped.status).toBe(403)
    expect(unscoped.body.message).toBe("Your access token doesn't have the read_organizations scope")
    await withoutFeature(app, org, 'members_view_teams')
    for (const path of [`${org.path}/members`, `${org.path}/members/${member.id}`]) {
      expect((await app.request('GET', path, { token: member.token })).status).toBe(403)
      expect((await app.request('GET', path, { token: admin.token })).status).toBe(200)
    }
  })
})

describe('GET /v2/organizations/{org.slug}/members/{user.uuid}', () => {
  it('answers with the member, and the single-sign-on mode only to administrators and to oneself', async () => {
    const { admin, member, pathOf } = await setUp()
    const byAdmin = await app.request('GET', pathOf(member), { token: admin.token })
    expect(byAdmin.status).toBe(200)
    expect(byAdmin.body).toEqual({
      id: member.id,
      name: 'Ada Member',
      email: member.email,
      role: 'member',
      sso_mode: 'optional',
    })
    const byOneself = await app.request('GET', pathOf(member), { token: member.token })
    expect(byOneself.body.sso_mode).toBe('optional')
    const byAnother = await app.request('GET', pathOf(admin), { token: member.token })
    expect(byAnother.body).toEqual({
      id: admin.id,
      name: 'Grace Admin',
      email: admin.email,
      role: 'admin',
    })
  })

  it('answers 404 for an unknown id, members of another organization and a malformed id', async () => {
    const { admin, pathOf } = await setUp()
    const other = await setUp()
    for (const id of [unknownId, other.member.id, 'ada', admin.email]) {
      const answer = await app.request('GET', pathOf({ id }), { token: admin.token })
      expect([answer.status, answer.body.message]).toEqual([404, 'No member found'])
    }
  })
})

describe('PATCH /v2/organizations/{org.slug}/members/{user.uuid}', () => {
  it('changes the role, the single-sign-on mode, or both', async () => {
    const { org, admin, member, pathOf } = await setUp()
    const token = admin.token
    const promoted = await app.request('PATCH', pathOf(member), { token, body: { role: 'admin' } })
    expect(promoted.status).toBe(200)
    expect(promoted.body).toEqual({
      id: member.id,
      name: 'Ada Member',
      email: member.email,
      role: 'admin',
      sso_mode: 'optional',
    })
    const required = await app.request('PUT', pathOf(member), { token, body: { sso_mode: 'required' } })
    expect(required.body).toMatchObject({ role: 'admin', sso_mode: 'required' })
    const both = await app.request('PATCH', pathOf(member), {
      token,
      body: { role: 'member', sso_mode: 'optional' },
    })
    expect(both.body).toMatchObject({ role: 'member', sso_mode: 'optional' })
    const got = await app.request('GET', pathOf(member), { token })
    expect(got.body).toEqual(both.body)
    const trail = await auditTrail(app, org, 'ORGANIZATION_MEMBER_UPDATED')
    expect(trail.map(({ data }) => data)).toEqual([
      { role: 'admin', previous: { role: 'member' } },
      { sso_mode: 'required', previous: { sso_mode: 'optional' } },
      { role: 'member', sso_mode: 'optional', previous: { role: 'admin', sso_mode: 'required' } },
    ])
    expect(trail[0]).toMatchObject({
      actor: { type: 'User', uuid: admin.id },
      subject: { type: 'OrganizationMember', uuid: member.id, name: 'Ada Member' },
    })
  })

  it('takes effect at once on what the member may do', async () => {
    const { admin, member, pathOf } = await setUp()
    await app.request('PATCH', pathOf(member), { token: admin.token, body: { role: 'admin' } })
    const demotion = { token: member.token, body: { role: 'member' } }
    expect((await app.request('PATCH', pathOf(admin), demotion)).status).toBe(200)
    const undo = { token: admin.token, body: { role: 'member' } }
    expect((await app.request('PATCH', pathOf(member), undo)).status).toBe(403)
  })

  it.each([
    ['neither field', {}, 'Validation failed: role or sso_mode is required'],
    ['only unknown fields', { name: 'Eve' }, 'Validation failed: role or sso_mode is required'],
    ['an unknown role', { role: 'owner' }, 'Validation failed: role must be "admin" or "member"'],
    ['a null role', { role: null }, 'Validation failed: role must be "admin" or "member"'],
    [
      'an unknown single-sign-on mode',
      { role: 'admin', sso_mode: 'off' },
      'Validation failed: sso_mode must be "required" or "optional"',
    ],
    ['a role of another type', { role: true }, 'Validation failed: role must be "admin" or "member"'],
  ])('refuses %s with 422', async (_what, body, message) => {
    const { admin, member, pathOf } = await setUp()
    const answer = await app.request('PATCH', pathOf(member), { token: admin.token, body })
    expect([answer.status, answer.body.message]).toEqual([422, message])
    const got = await app.request('GET', pathOf(member), { token: admin.token })
    expect(got.body).toMatchObject({ role: 'member', sso_mode: 'optional' })
  })

  it('answers 403 for the caller’s own membership, with the id in any case', async () => {
    const { org, admin, pathOf } = await setUp()
    await anAdmin(app, org)
    for (const id of [admin.id, admin.id.toUpperCase()]) {
      for (const body of [{ role: 'member' }, { sso_mode: 'required' }, {}]) {
        const answer = await app.request('PATCH', pathOf({ id }), { token: admin.token, body })
        expect([answer.status, answer.body.message]).toEqual([403, 'You cannot update your own membership'])
      }
    }
  })

  it('answers 403 to callers who are not administrators and to tokens without write_organizations', async () => {
    const { org, admin, member, pathOf } = await setUp()
    const another = await aMember(app, org)
    const body = { role: 'admin' }
    const byMember = await app.request('PATCH', pathOf(another), { token: member.token, body })
    expect([byMember.status, byMember.body.message]).toEqual([403, 'Forbidden'])
    const onOneself = await app.request('PATCH', pathOf(member), { token: member.token, body })
    expect(onOneself.status).toBe(403)
    const token = await aToken(app, admin, { scopes: ['read_organizations'] })
    const unscoped = await app.request('PATCH', pathOf(member), { token, body })
    expect([unscoped.status, unscoped.body.message]).toEqual([
      403,
      "Your access token doesn't have the write_organizations scope",
    ])
  })

  it('answers 404 for unknown and foreign organizations, unknown users and members of others', async () => {
    const { org, admin, member, pathOf } = await setUp()
    const other = await setUp()
    const body = { role: 'admin' }
    for (const path of [`/v2/organizations/nowhere/members/${member.id}`, other.pathOf(other.member)]) {
      const answer = await app.request('PATCH', path, { token: admin.token, body })
      expect([answer.status, answer.body.message]).toEqual([404, 'No organization found'])
    }
    for (const id of [unknownId, other.member.id, 'x']) {
      const answer = await app.request('PATCH', pathOf({ id }), { token: admin.token, body })
      expect([answer.status, answer.body.message]).toEqual([404, 'No member found'])
    }
    expect(await auditTrail(app, org, 'ORGANIZATION_MEMBER_UPDATED')).toEqual([])
  })

  it('changes only the membership of this organization', async () => {
    const { admin, member, pathOf } = await setUp()
    const other = await setUp()
    await aNewcomer(app, other.org, { email: member.email })
    await app.request('PATCH', pathOf(member), { token: admin.token, body: { role: 'admin' } })
    const there = await app.request('GET', other.pathOf(member), { token: other.admin.token })
    expect(there.body.role).toBe('member')
  })
})

describe('DELETE /v2/organizations/{org.slug}/members/{user.uuid}', () => {
  it('answers 204 with no body, and the member is gone', async () => {
    const { org, admin, member, pathOf } = await setUp()
    const answer = await app.request('DELETE', pathOf(member), { token: admin.token })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect((await app.request('GET', pathOf(member), { token: admin.token })).status).toBe(404)
    expect((await app.request('DELETE', pathOf(member), { token: admin.token })).status).toBe(404)
    const trail = await auditTrail(app, org, 'ORGANIZATION_MEMBER_DELETED')
    expect(trail).toEqual([
      {
        actor: { type: 'User', uuid: admin.id, name: 'Grace Admin' },
        subject: { type: 'OrganizationMember', uuid: member.id, name: 'Ada Member' },
        data: {},
      },
    ])
  })

  it('deletes their team memberships and maintainer rows', async () => {
    const { org, admin, member, pathOf } = await setUp()
    const team = await aTeam(app, org, admin)
    await inTeam(app, team, admin, member)
    const cluster = await aCluster(app, org, admin, { maintainers: [{ user: member.id }] })
    await app.request('DELETE', pathOf(member), { token: admin.token })
    const teamMembers = await app.request('GET', `${team.path}/members`, { token: admin.token })
    expect(teamMembers.body).toEqual([])
    const maintainers = await app.request('GET', `${cluster.path}/maintainers`, { token: admin.token })
    expect(maintainers.body).toEqual([])
  })

  it('stops their tokens from reaching the organization at once, and no other', async () => {
    const { org, admin, member, pathOf } = await setUp()
    const other = await setUp()
    await aNewcomer(app, other.org, { email: member.email })
    expect((await app.request('GET', `${org.path}/members`, { token: member.token })).status).toBe(200)
    await app.request('DELETE', pathOf(member), { token: admin.token })
    const after = await app.request('GET', `${org.path}/members`, { token: member.token })
    expect([after.status, after.body.message]).toEqual([404, 'No organization found'])
    expect((await app.request('GET', `${other.org.path}/members`, { token: member.token })).status).toBe(200)
  })

  it('lets administrators remove themselves while there is another', async () => {
    const { org, admin, pathOf } = await setUp()
    await anAdmin(app, org)
    expect((await app.request('DELETE', pathOf(admin), { token: admin.token })).status).toBe(204)
    expect((await app.request('GET', `${org.path}/members`, { token: admin.token })).status).toBe(404)
  })

  it('refuses to remove the last administrator with 422', async () => {
    const { org, admin, pathOf } = await setUp()
    const answer = await app.request('DELETE', pathOf(admin), { token: admin.token })
    expect([answer.status, answer.body.message]).toEqual([
      422,
      'The last administrator of an organization cannot be removed',
    ])
    expect((await app.request('GET', pathOf(admin), { token: admin.token })).body.role).toBe('admin')
    expect(await auditTrail(app, org, 'ORGANIZATION_MEMBER_DELETED')).toEqual([])
  })

  it('answers 403 to callers who are not administrators and to tokens without write_organizations', async () => {
    const { org, admin, member, pathOf } = await setUp()
    const another = await aMember(app, org)
    const byMember = await app.request('DELETE', pathOf(another), { token: member.token })
    expect([byMember.status, byMember.body.message]).toEqual([403, 'Forbidden'])
    const token = await aToken(app, admin, { scopes: ['read_organizations'] })
    expect((await app.request('DELETE', pathOf(member), { token })).status).toBe(403)
    expect((await app.request('GET', pathOf(member), { token: admin.token })).status).toBe(200)
  })

  it('answers 404 for an unknown organization, unknown users and members of others', async () => {
    const { admin, member, pathOf } = await setUp()
    const other = await setUp()
    const nowhere = `/v2/organizations/nowhere/members/${member.id}`
    expect((await app.request('DELETE', nowhere, { token: admin.token })).status).toBe(404)
    for (const id of [unknownId, other.member.id, 'x']) {
      const answer = await app.request('DELETE', pathOf({ id }), { token: admin.token })
      expect([answer.status, answer.body.message]).toEqual([404, 'No member found'])
    }
    expect((await app.request('GET', other.pathOf(other.member), { token: other.admin.token })).status).toBe(
      200,
    )
  })
})

describe('An organization is never without an administrator', () => {
  const pairs = Array.from({ length: 15 }, (_, index) => index)

  async function race(act: (path: string, token: string) => Promise<{ status: number }>) {
    const outcomes = await Promise.all(
      pairs.map(async () => {
        const org = await anOrganization(app)
        const [one, two] = [await anAdmin(app, org), await anAdmin(app, org)]
        const answers = await Promise.all([
          act(`${org.path}/members/${two.id}`, one.token),
          act(`${org.path}/members/${one.id}`, two.token),
        ])
        const admins = await app.db
          .selectFrom('organization_members')
          .select('user_id')
          .where('organization_id', '=', org.id)
          .where('role', '=', 'admin')
          .execute()
        return { statuses: answers.map(({ status }) => status), admins: admins.length }
      }),
    )
    return outcomes
  }

  it('when two administrators demote each other at the same moment: one is refused', async () => {
    const outcomes = await race((path, token) =>
      app.request('PATCH', path, { token, body: { role: 'member' } }),
    )
    for (const { statuses, admins } of outcomes) {
      expect(admins).toBe(1)
      expect(statuses.filter((status) => status === 200)).toHaveLength(1)
      // Refused as the last one, or, when the other was quicker still, as no administrator any more.
      expect([422, 403]).toContain(statuses.find((status) => status !== 200))
    }
  })

  it('when two administrators remove each other at the same moment: one is refused', async () => {
    const outcomes = await race((path, token) => app.request('DELETE', path, { token }))
    for (const { statuses, admins } of outcomes) {
      expect(admins).toBe(1)
      expect(statuses.filter((status) => status === 204)).toHaveLength(1)
      expect([422, 404]).toContain(statuses.find((status) => status !== 204))
    }
  })

  it('when all of many administrators leave at the same moment: one stays', async () => {
    const org = await anOrganization(app)
    const admins = await Promise.all(pairs.map(() => anAdmin(app, org)))
    const answers = await Promise.all(
      admins.map(({ id, token }) => app.request('DELETE', `${org.path}/members/${id}`, { token })),
    )
    expect(sortedStatuses(answers)).toEqual([...pairs.slice(1).map(() => 204), 422])
  })

  it('refuses with 422 a demotion that was allowed when it was asked for', async () => {
    const { org, admin, pathOf } = await setUp()
    const second = await anAdmin(app, org)
    // The second administrator's request has passed its access check and waits for the organization.
    const late = await app.db.transaction().execute(async (trx) => {
      await trx.selectFrom('organizations').select('id').where('id', '=', org.id).forUpdate().execute()
      await trx
        .updateTable('organization_members')
        .set({ role: 'member' })
        .where('organization_id', '=', org.id)
        .where('user_id', '=', second.id)
        .execute()
      const waiting = app.request('PATCH', pathOf(admin), { token: second.token, body: { role: 'member' } })
      await untilBlocked(app)
      return { waiting }
    })
    const answer = await late.waiting
    expect([answer.status, answer.body.message]).toEqual([
      422,
      'The last administrator of an organization must stay one',
    ])
  })
})
