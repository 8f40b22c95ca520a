import { describe, expect, it } from 'vitest'
import { sortedStatuses, untilBlocked, useApp } from '../../../../test/app.ts'
import {
  aMember,
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

async function setUp(given: Record<string, unknown> = {}) {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const member = await aMember(app, org, { name: 'Ada Member' })
  const team = await aTeam(app, org, admin, given)
  const path = `${team.path}/members`
  return { org, admin, member, team, path, pathOf: (user: { id: string }) => `${path}/${user.id}` }
}

describe('GET /v2/organizations/{org.slug}/teams/{team.uuid}/members', () => {
  it('lists the members of the team oldest first, by page', async () => {
    const { org, admin, member, team, path } = await setUp()
    const second = await aMember(app, org, { name: 'Bob Second' })
    await inTeam(app, team, admin, second, 'maintainer')
    await inTeam(app, team, admin, member)
    const all = await app.request('GET', path, { token: member.token })
    expect(all.status).toBe(200)
    expect(all.body).toEqual([
      { user_id: second.id, user_name: 'Bob Second', role: 'maintainer', created_at: expect.any(String) },
      { user_id: member.id, user_name: 'Ada Member', role: 'member', created_at: expect.any(String) },
    ])
    const page = await app.request('GET', `${path}?per_page=1&page=2`, { token: member.token })
    expect(page.list.map(({ user_id }) => user_id)).toEqual([member.id])
    expect(page.headers.get('link')).toContain('rel="prev"')
  })

  it('answers 404 for no team, one of another organization, and a secret one to outsiders', async () => {
    const { org, admin, member, team, path, pathOf } = await setUp({ privacy: 'secret' })
    const other = await setUp()
    for (const id of [unknownId, other.team.id, 'x']) {
      for (const rest of ['members', `members/${member.id}`]) {
        const answer = await app.request('GET', `${org.path}/teams/${id}/${rest}`, { token: admin.token })
        expect([answer.status, answer.body.message]).toEqual([404, 'No team found'])
      }
    }
    for (const url of [path, pathOf(admin)]) {
      const answer = await app.request('GET', url, { token: member.token })
      expect([answer.status, answer.body.message]).toEqual([404, 'No team found'])
    }
    await inTeam(app, team, admin, member)
    expect((await app.request('GET', path, { token: member.token })).list).toHaveLength(1)
  })

  it('needs read_teams and permission to view teams', async () => {
    const { org, admin, member, team, path, pathOf } = await setUp()
    await inTeam(app, team, admin, member)
    const token = await aToken(app, admin, { scopes: ['write_teams'] })
    await withoutFeature(app, org, 'members_view_teams')
    for (const url of [path, pathOf(member)]) {
      expect((await app.request('GET', url, { token })).status).toBe(403)
      expect((await app.request('GET', url, { token: member.token })).status).toBe(403)
      expect((await app.request('GET', url, { token: admin.token })).status).toBe(200)
    }
  })
})

describe('GET /v2/organizations/{org.slug}/teams/{team.uuid}/members/{user.uuid}', () => {
  it('answers with the member of the team', async () => {
    const { admin, member, team, pathOf } = await setUp()
    await inTeam(app, team, admin, member)
    const answer = await app.request('GET', pathOf(member), { token: member.token })
    expect(answer.body).toEqual({
      user_id: member.id,
      user_name: 'Ada Member',
      role: 'member',
      created_at: expect.any(String),
    })
  })

  it('answers 404 for users who are not in the team', async () => {
    const { admin, pathOf } = await setUp()
    for (const id of [admin.id, unknownId, 'x']) {
      const answer = await app.request('GET', pathOf({ id }), { token: admin.token })
      expect([answer.status, answer.body.message]).toEqual([404, 'No team member found'])
    }
  })
})

describe('POST /v2/organizations/{org.slug}/teams/{team.uuid}/members', () => {
  it('answers 201 with the member of the team', async () => {
    const { org, admin, member, team, path } = await setUp()
    const answer = await app.request('POST', path, {
      token: admin.token,
      body: { user_id: member.id, role: 'maintainer' },
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      user_id: member.id,
      user_name: 'Ada Member',
      role: 'maintainer',
      created_at: expect.any(String),
    })
    expect(await auditTrail(app, org, 'TEAM_MEMBER_CREATED')).toMatchObject([
      {
        actor: { uuid: admin.id },
        subject: { type: 'TeamMember', uuid: member.id, name: 'Ada Member' },
        data: { team_id: team.id, role: 'maintainer' },
      },
    ])
  })

  it('gives the role that the team gives when none is named', async () => {
    const { admin, member, path } = await setUp({ default_member_role: 'maintainer' })
    const body = { user_id: member.id.toUpperCase() }
    const answer = await app.request('POST', path, { token: admin.token, body })
    expect(answer.body).toMatchObject({ user_id: member.id, role: 'maintainer' })
  })

  it.each([
    ['an unknown user', { user_id: unknownId }, 'user_id must be the UUID of a member of the organization'],
    ['what is no UUID', { user_id: 'ada' }, 'user_id must be the UUID of a member of the organization'],
    ['no user', { role: 'member' }, 'user_id is required'],
    ['an unknown role', { user_id: unknownId, role: 'admin' }, 'role must be "member" or "maintainer"'],
  ])('refuses %s with 422', async (_what, body, reason) => {
    const { admin, path } = await setUp()
    const answer = await app.request('POST', path, { token: admin.token, body })
    expect([answer.status, answer.body.message]).toEqual([422, `Validation failed: ${reason}`])
  })

  it('refuses users of another organization with 422', async () => {
    const { org, admin, path } = await setUp()
    const other = await setUp()
    const body = { user_id: other.member.id }
    const answer = await app.request('POST', path, { token: admin.token, body })
    expect(answer.status).toBe(422)
    expect(await auditTrail(app, org, 'TEAM_MEMBER_CREATED')).toEqual([])
  })

  it('answers 422 for a user who is in the team already, also when two requests arrive at once', async () => {
    const { org, admin, member, path, pathOf } = await setUp()
    const add = (role: string) =>
      app.request('POST', path, { token: admin.token, body: { user_id: member.id, role } })
    const answers = await Promise.all(Array.from({ length: 6 }, () => add('member')))
    expect(sortedStatuses(answers)).toEqual([201, 422, 422, 422, 422, 422])
    const again = await add('maintainer')
    expect([again.status, again.body.message]).toEqual([
      422,
      'Validation failed: this user is in the team already',
    ])
    expect((await app.request('GET', pathOf(member), { token: admin.token })).body.role).toBe('member')
    expect(await auditTrail(app, org, 'TEAM_MEMBER_CREATED')).toHaveLength(1)
  })

  it('is for administrators and the maintainers of the team, with write_teams', async () => {
    const { org, admin, member, team, path } = await setUp()
    const maintainer = await aMember(app, org)
    await inTeam(app, team, admin, maintainer, 'maintainer')
    await inTeam(app, team, admin, member)
    const late = await aMember(app, org)
    const body = { user_id: late.id }
    const byMember = await app.request('POST', path, { token: member.token, body })
    expect([byMember.status, byMember.body.message]).toEqual([403, 'Forbidden'])
    const byLate = await app.request('POST', path, { token: late.token, body })
    expect(byLate.status).toBe(403)
    const token = await aToken(app, maintainer, { scopes: ['read_teams'] })
    expect((await app.request('POST', path, { token, body })).status).toBe(403)
    expect((await app.request('POST', path, { token: maintainer.token, body })).status).toBe(201)
  })

  it('answers 404 for no team, and for one of another organization', async () => {
    const { org, admin, member } = await setUp()
    const other = await setUp()
    for (const id of [unknownId, other.team.id]) {
      const url = `${org.path}/teams/${id}/members`
      const answer = await app.request('POST', url, { token: admin.token, body: { user_id: member.id } })
      expect([answer.status, answer.body.message]).toEqual([404, 'No team found'])
    }
  })

  it('answers 422 when the user is removed from the organization at the same moment', async () => {
    const { org, admin, member, path } = await setUp()
    const late = await app.db.transaction().execute(async (trx) => {
      await trx
        .deleteFrom('organization_members')
        .where('organization_id', '=', org.id)
        .where('user_id', '=', member.id)
        .execute()
      const waiting = app.request('POST', path, { token: admin.token, body: { user_id: member.id } })
      await untilBlocked(app)
      return { waiting }
    })
    expect((await late.waiting).status).toBe(422)
  })

  it('answers 404 when the team is deleted at the same moment', async () => {
    const { admin, member, team, path } = await setUp()
    const late = await app.db.transaction().execute(async (trx) => {
      await trx.deleteFrom('teams').where('id', '=', team.id).execute()
      const waiting = app.request('POST', path, { token: admin.token, body: { user_id: member.id } })
      await untilBlocked(app)
      return { waiting }
    })
    expect((await late.waiting).status).toBe(404)
  })
})

describe('PATCH /v2/organizations/{org.slug}/teams/{team.uuid}/members/{user.uuid}', () => {
  it('changes the role, and with it what the member may do', async () => {
    const { org, admin, member, team, pathOf } = await setUp()
    await inTeam(app, team, admin, member)
    const answer = await app.request('PATCH', pathOf(member), {
      token: admin.token,
      body: { role: 'maintainer' },
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ user_id: member.id, role: 'maintainer' })
    const back = await app.request('PUT', pathOf(member), { token: member.token, body: { role: 'member' } })
    expect(back.body.role).toBe('member')
    expect(
      (await app.request('PUT', pathOf(member), { token: member.token, body: { role: 'member' } })).status,
    ).toBe(403)
    expect(await auditTrail(app, org, 'TEAM_MEMBER_UPDATED')).toMatchObject([
      { actor: { uuid: admin.id }, data: { team_id: team.id, role: 'maintainer' } },
      { actor: { uuid: member.id }, data: { team_id: team.id, role: 'member' } },
    ])
  })

  it('refuses a missing or unknown role with 422', async () => {
    const { admin, member, team, pathOf } = await setUp()
    await inTeam(app, team, admin, member)
    for (const [body, reason] of [
      [{}, 'role is required'],
      [{ role: 'admin' }, 'role must be "member" or "maintainer"'],
    ] as const) {
      const answer = await app.request('PATCH', pathOf(member), { token: admin.token, body })
      expect([answer.status, answer.body.message]).toEqual([422, `Validation failed: ${reason}`])
    }
  })

  it('answers 404 for users who are not in the team, and 403 to callers who may not manage it', async () => {
    const { admin, member, team, pathOf } = await setUp()
    const body = { role: 'maintainer' }
    const absent = await app.request('PATCH', pathOf(member), { token: admin.token, body })
    expect([absent.status, absent.body.message]).toEqual([404, 'No team member found'])
    await inTeam(app, team, admin, member)
    const byMember = await app.request('PATCH', pathOf(member), { token: member.token, body })
    expect([byMember.status, byMember.body.message]).toEqual([403, 'Forbidden'])
    const token = await aToken(app, admin, { scopes: ['read_teams'] })
    expect((await app.request('PATCH', pathOf(member), { token, body })).status).toBe(403)
  })

  it('reaches no team of another organization', async () => {
    const { org, admin } = await setUp()
    const other = await setUp()
    await inTeam(app, other.team, other.admin, other.member)
    const url = `${org.path}/teams/${other.team.id}/members/${other.member.id}`
    expect(
      (await app.request('PATCH', url, { token: admin.token, body: { role: 'maintainer' } })).status,
    ).toBe(404)
    expect((await app.request('DELETE', url, { token: admin.token })).status).toBe(404)
    const got = await app.request('GET', other.pathOf(other.member), { token: other.admin.token })
    expect(got.body.role).toBe('member')
  })
})

describe('DELETE /v2/organizations/{org.slug}/teams/{team.uuid}/members/{user.uuid}', () => {
  it('answers 204 with no body; the user stays in the organization', async () => {
    const { org, admin, member, team, pathOf } = await setUp()
    await inTeam(app, team, admin, member)
    const answer = await app.request('DELETE', pathOf(member), { token: admin.token })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect((await app.request('GET', pathOf(member), { token: admin.token })).status).toBe(404)
    expect(
      (await app.request('GET', `${org.path}/members/${member.id}`, { token: admin.token })).status,
    ).toBe(200)
    expect(await auditTrail(app, org, 'TEAM_MEMBER_DELETED')).toMatchObject([
      {
        actor: { uuid: admin.id },
        subject: { type: 'TeamMember', uuid: member.id, name: 'Ada Member' },
        data: { team_id: team.id },
      },
    ])
  })

  it('answers 404 for users who are not in the team, and 403 to callers who may not manage it', async () => {
    const { admin, member, team, pathOf } = await setUp()
    const absent = await app.request('DELETE', pathOf(member), { token: admin.token })
    expect([absent.status, absent.body.message]).toEqual([404, 'No team member found'])
    await inTeam(app, team, admin, member)
    expect((await app.request('DELETE', pathOf(member), { token: member.token })).status).toBe(403)
    const token = await aToken(app, admin, { scopes: ['read_teams'] })
    expect((await app.request('DELETE', pathOf(member), { token })).status).toBe(403)
  })

  it('deletes once when several requests arrive at once', async () => {
    const { org, admin, member, team, pathOf } = await setUp()
    await inTeam(app, team, admin, member)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => app.request('DELETE', pathOf(member), { token: admin.token })),
    )
    expect(sortedStatuses(answers)).toEqual([204, 404, 404, 404, 404])
    expect(await auditTrail(app, org, 'TEAM_MEMBER_DELETED')).toHaveLength(1)
  })
})
