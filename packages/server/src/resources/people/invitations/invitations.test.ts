// Long, because it tests the whole contract of every endpoint: fields, refusals, access and simultaneous requests.
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { baseUrl, sortedStatuses, useApp } from '../../../../test/app.ts'
import {
  aMember,
  aTeam,
  aNewcomer,
  aToken,
  anAdmin,
  anOrganization,
  auditTrail,
  unique,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { graphqlId } from '../../../lib/ids.ts'
import * as invitations from './queries.ts'

const app = useApp()

const unknownId = '01890000-0000-7000-8000-000000000000'
const address = () => `${unique('guest')}@example.com`

async function setUp() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org, { name: 'Grace Admin' })
  return { org, admin, path: `${org.path}/invitations` }
}

async function invited(org: TestOrganization, admin: TestUser, body: Record<string, unknown> = {}) {
  const answer = await app.request('POST', `${org.path}/invitations`, {
    token: admin.token,
    body: { emails: [address()], ...body },
  })
  const [invitation] = answer.list
  if (invitation === undefined) throw new Error(`Could not invite: ${answer.text}`)
  return {
    id: String(invitation.id),
    email: String(invitation.email),
    path: `${org.path}/invitations/${invitation.id}`,
  }
}

const runOut = (id: string) =>
  app.db
    .updateTable('organization_invitations')
    .set({ expires_at: sql<string>`now() - interval '1 minute'` })
    .where('id', '=', id)
    .execute()

const storedState = async (id: string) =>
  (
    await app.db
      .selectFrom('organization_invitations')
      .select('state')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).state

describe('POST /v2/organizations/{org.slug}/invitations', () => {
  it('answers 201 with an array of invitations, in the order of the addresses', async () => {
    const { org, admin, path } = await setUp()
    const team = await aTeam(app, org, admin, { name: 'Mobile Apps' })
    const emails = [address(), address()]
    const answer = await app.request('POST', path, {
      token: admin.token,
      body: { emails, role: 'admin', sso_mode: 'optional', teams: [{ id: team.id, role: 'maintainer' }] },
    })
    expect(answer.status).toBe(201)
    const id = String(answer.list[0]?.id)
    expect(answer.list[0]).toEqual({
      id,
      graphql_id: graphqlId('OrganizationInvitation', id),
      url: `${baseUrl}${path}/${id}`,
      accept_url: expect.stringMatching(/^http:\/\/millrace\.test\/-\/invitations\/mriv_\w{40}$/),
      email: emails[0],
      state: 'pending',
      role: 'admin',
      sso_mode: 'optional',
      teams: [{ id: team.id, graphql_id: graphqlId('Team', team.id), slug: 'mobile-apps' }],
      created_at: expect.any(String),
      created_by: { id: admin.id, name: 'Grace Admin', email: admin.email },
      accepted_at: null,
      accepted_by: null,
      revoked_at: null,
      revoked_by: null,
      expired_at: null,
    })
    expect(answer.list.map(({ email }) => email)).toEqual(emails)
    expect(await auditTrail(app, org, 'ORGANIZATION_INVITATION_CREATED')).toMatchObject(
      emails.map((email) => ({
        actor: { uuid: admin.id },
        subject: { type: 'OrganizationInvitation', name: email },
        data: { email, role: 'admin', sso_mode: 'optional', teams: [{ id: team.id, role: 'maintainer' }] },
      })),
    )
  })

  it('defaults to a member with single sign-on required and no team', async () => {
    const { admin, path } = await setUp()
    const answer = await app.request('POST', path, { token: admin.token, body: { emails: [address()] } })
    expect(answer.list[0]).toMatchObject({ role: 'member', sso_mode: 'required', teams: [] })
  })

  it('holds for seven days', async () => {
    const { org, admin } = await setUp()
    const { id } = await invited(org, admin)
    const row = await app.db
      .selectFrom('organization_invitations')
      .select(sql<boolean>`expires_at = created_at + interval '7 days'`.as('isAWeek'))
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row.isAWeek).toBe(true)
  })

  it('invites a repeated address once, compared without case', async () => {
    const { admin, path } = await setUp()
    const email = address()
    const emails = [email, email.toUpperCase(), email]
    const answer = await app.request('POST', path, { token: admin.token, body: { emails } })
    expect(answer.list.map((invitation) => invitation.email)).toEqual([email])
  })

  it.each([
    ['no addresses', {}, 'emails is required'],
    ['an empty list', { emails: [] }, 'emails must not be empty'],
    ['a single text', { emails: 'ada@example.com' }, 'emails must be an array'],
    ['an address of another type', { emails: [7] }, 'emails[0] must be a string'],
    ['a name', { emails: ['ada'] }, '"ada" is not an e-mail address'],
    ['an address with a name', { emails: ['Ada <a@b.c>'] }, '"Ada <a@b.c>" is not an e-mail address'],
    ['two addresses in one', { emails: ['a@b.c,d@e.f'] }, '"a@b.c,d@e.f" is not an e-mail address'],
    ['a second line', { emails: ['a@b.c\nBcc: d@e.f'] }, '"a@b.c\nBcc: d@e.f" is not an e-mail address'],
    ['no host', { emails: ['ada@'] }, '"ada@" is not an e-mail address'],
    ['an empty label', { emails: ['ada@b..c'] }, '"ada@b..c" is not an e-mail address'],
    ['an unknown role', { emails: ['a@b.c'], role: 'owner' }, 'role must be "admin" or "member"'],
    [
      'an unknown single-sign-on mode',
      { emails: ['a@b.c'], sso_mode: 'off' },
      'sso_mode must be "required" or "optional"',
    ],
    [
      'no such team',
      { emails: ['a@b.c'], teams: [{ id: unknownId }] },
      'teams[0] is no team of this organization',
    ],
    ['a team by name', { emails: ['a@b.c'], teams: [{ id: 'x' }] }, 'teams[0].id must be the UUID of a team'],
    ['a team without id', { emails: ['a@b.c'], teams: [{}] }, 'teams[0].id is required'],
    [
      'a team twice',
      { emails: ['a@b.c'], teams: [{ id: unknownId }, { id: unknownId, role: 'maintainer' }] },
      'teams[1] names a team for the second time',
    ],
    [
      'an unknown role in a team',
      { emails: ['a@b.c'], teams: [{ id: unknownId, role: 'admin' }] },
      'teams[0].role must be "member" or "maintainer"',
    ],
  ])('refuses %s with 422', async (_what, body, reason) => {
    const { admin, path } = await setUp()
    const answer = await app.request('POST', path, { token: admin.token, body })
    expect([answer.status, answer.body.message]).toEqual([422, `Validation failed: ${reason}`])
  })

  it('refuses a team of another organization with 422', async () => {
    const { admin, path } = await setUp()
    const other = await setUp()
    const team = await aTeam(app, other.org, other.admin)
    const body = { emails: [address()], teams: [{ id: team.id }] }
    expect((await app.request('POST', path, { token: admin.token, body })).status).toBe(422)
  })

  it('refuses members and those invited already with 422, naming the address, and creates no invitation', async () => {
    const { org, admin, path } = await setUp()
    const member = await aMember(app, org)
    const first = await invited(org, admin)
    for (const [email, reason] of [
      [member.email.toUpperCase(), 'is already a member'],
      [first.email.toUpperCase(), 'is already invited'],
    ]) {
      const body = { emails: [address(), email] }
      const answer = await app.request('POST', path, { token: admin.token, body })
      expect([answer.status, answer.body.message]).toEqual([422, `Validation failed: ${email} ${reason}`])
    }
    const invalid = { emails: [address(), 'nonsense'] }
    expect((await app.request('POST', path, { token: admin.token, body: invalid })).status).toBe(422)
    const list = await app.request('GET', path, { token: admin.token })
    expect(list.list.map(({ id }) => id)).toEqual([first.id])
    expect(await auditTrail(app, org, 'ORGANIZATION_INVITATION_CREATED')).toHaveLength(1)
  })

  it('invites members of another organization', async () => {
    const { org, admin } = await setUp()
    const other = await setUp()
    const member = await aMember(app, other.org)
    expect((await invited(org, admin, { emails: [member.email] })).email).toBe(member.email)
  })

  it('has at most 20 pending; revoked and expired ones do not count', async () => {
    const { org, admin, path } = await setUp()
    const emails = Array.from({ length: 20 }, address)
    const full = await app.request('POST', path, { token: admin.token, body: { emails } })
    expect(full.list).toHaveLength(20)
    const refused = await app.request('POST', path, { token: admin.token, body: { emails: [address()] } })
    expect([refused.status, refused.body.message]).toEqual([
      422,
      'Validation failed: at most 20 invitations can be pending, and 20 are already',
    ])
    await app.request('DELETE', `${path}/${full.list[0]?.id}`, { token: admin.token })
    await runOut(String(full.list[1]?.id))
    await invited(org, admin, { emails: [address(), address()] })
    expect(
      (await app.request('POST', path, { token: admin.token, body: { emails: [address()] } })).status,
    ).toBe(422)
  })

  it('allows at most 20 pending when many requests arrive at once', async () => {
    const { admin, path } = await setUp()
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        app.request('POST', path, {
          token: admin.token,
          body: { emails: [address(), address(), address()] },
        }),
      ),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(6)
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(6)
    expect((await app.request('GET', path, { token: admin.token })).list).toHaveLength(18)
  })

  it('invites an address once when several requests arrive at once', async () => {
    const { admin, path } = await setUp()
    const body = { emails: [address()] }
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => app.request('POST', path, { token: admin.token, body })),
    )
    expect(sortedStatuses(answers)).toEqual([201, 422, 422, 422, 422, 422])
  })

  it('leaves no pending invitation for a user who becomes a member at the same time', async () => {
    const { org, admin, path } = await setUp()
    const emails = Array.from({ length: 8 }, address)
    await Promise.all(
      emails.flatMap((email) => [
        app.request('POST', path, { token: admin.token, body: { emails: [email] } }),
        aNewcomer(app, org, { email }),
      ]),
    )
    expect((await app.request('GET', path, { token: admin.token })).list).toEqual([])
  })

  it('invites again after an invitation was revoked or has expired', async () => {
    const { org, admin } = await setUp()
    const first = await invited(org, admin)
    await app.request('DELETE', first.path, { token: admin.token })
    const second = await invited(org, admin, { emails: [first.email] })
    await runOut(second.id)
    const third = await invited(org, admin, { emails: [first.email] })
    expect(third.email).toBe(first.email)
    expect(await storedState(second.id)).toBe('expired')
  })

  it('is for administrators with write_organization_invitations', async () => {
    const { org, admin, path } = await setUp()
    const member = await aMember(app, org)
    const body = { emails: [address()] }
    const byMember = await app.request('POST', path, { token: member.token, body })
    expect([byMember.status, byMember.body.message]).toEqual([403, 'Forbidden'])
    const token = await aToken(app, admin, {
      scopes: ['write_organizations', 'read_organization_invitations'],
    })
    expect((await app.request('POST', path, { token, body })).body.message).toBe(
      "Your access token doesn't have the write_organization_invitations scope",
    )
  })
})

describe('GET /v2/organizations/{org.slug}/invitations', () => {
  it('lists pending invitations only, newest first', async () => {
    const { org, admin, path } = await setUp()
    const [first, revoked, expired, accepted, last] = [
      await invited(org, admin),
      await invited(org, admin),
      await invited(org, admin),
      await invited(org, admin),
      await invited(org, admin),
    ]
    await app.request('DELETE', revoked.path, { token: admin.token })
    await runOut(expired.id)
    await aNewcomer(app, org, { email: accepted.email })
    const answer = await app.request('GET', path, { token: admin.token })
    expect(answer.status).toBe(200)
    expect(answer.list.map(({ id }) => id)).toEqual([last.id, first.id])
    expect(Object.keys(answer.body.links ?? {})).toEqual(['self'])
  })

  it('is paged by cursor, forward and back, with the links in the body and in the header', async () => {
    const { org, admin, path } = await setUp()
    await invited(org, admin, { emails: Array.from({ length: 3 }, address) })
    await invited(org, admin, { emails: Array.from({ length: 2 }, address) })
    const follow = (link: unknown) =>
      app.request('GET', String(link).slice(baseUrl.length), { token: admin.token })
    const ids = (answer: { list: Array<{ id?: unknown }> }) => answer.list.map(({ id }) => id)
    const all = ids(await app.request('GET', path, { token: admin.token }))
    expect(all).toHaveLength(5)
    const first = await app.request('GET', `${path}?per_page=2`, { token: admin.token })
    expect(ids(first)).toEqual(all.slice(0, 2))
    expect(first.headers.get('link')).toContain(`<${first.body.links?.next}>; rel="next"`)
    const second = await follow(first.body.links?.next)
    expect(ids(second)).toEqual(all.slice(2, 4))
    const third = await follow(second.body.links?.next)
    expect(ids(third)).toEqual(all.slice(4))
    expect(third.body.links?.next).toBeUndefined()
    expect(ids(await follow(third.body.links?.prev))).toEqual(all.slice(2, 4))
    expect(ids(await follow(third.body.links?.first))).toEqual(all.slice(0, 2))
  })

  it('refuses both cursors, a made-up one, one of another organization and a bad per_page with 400', async () => {
    const { org, admin, path } = await setUp()
    await invited(org, admin, { emails: [address(), address()] })
    const other = await setUp()
    const first = await app.request('GET', `${path}?per_page=1`, { token: admin.token })
    const cursor = new URL(String(first.body.links?.next)).searchParams.get('after')
    const queries = [
      `after=${cursor}&before=${cursor}`,
      'after=made-up',
      'per_page=0',
      'per_page=101',
      'per_page=x',
    ]
    for (const query of queries) {
      expect((await app.request('GET', `${path}?${query}`, { token: admin.token })).status).toBe(400)
    }
    const carried = await app.request('GET', `${other.path}?after=${cursor}`, { token: other.admin.token })
    expect(carried.status).toBe(400)
  })

  it('is for administrators with read_organization_invitations, as is a single one', async () => {
    const { org, admin, path } = await setUp()
    const member = await aMember(app, org)
    const invitation = await invited(org, admin)
    const token = await aToken(app, admin, { scopes: ['write_organization_invitations'] })
    for (const url of [path, invitation.path]) {
      expect((await app.request('GET', url, { token: member.token })).status).toBe(403)
      expect((await app.request('GET', url, { token })).body.message).toBe(
        "Your access token doesn't have the read_organization_invitations scope",
      )
    }
  })
})

describe('GET /v2/organizations/{org.slug}/invitations/{uuid}', () => {
  it('answers with an invitation in any state', async () => {
    const { org, admin } = await setUp()
    const get = async (path: string) => (await app.request('GET', path, { token: admin.token })).body
    const [pending, revoked, accepted] = [
      await invited(org, admin),
      await invited(org, admin),
      await invited(org, admin),
    ]
    expect(await get(pending.path)).toMatchObject({ id: pending.id, state: 'pending' })
    await app.request('DELETE', revoked.path, { token: admin.token })
    expect(await get(revoked.path)).toMatchObject({
      state: 'revoked',
      revoked_at: expect.any(String),
      revoked_by: { id: admin.id, name: 'Grace Admin', email: admin.email },
    })
    const member = await aNewcomer(app, org, { email: accepted.email, name: 'Ada Guest' })
    expect(await get(accepted.path)).toMatchObject({
      state: 'accepted',
      accepted_at: expect.any(String),
      accepted_by: { id: member.id, name: 'Ada Guest', email: accepted.email },
      revoked_at: null,
    })
  })

  it('shows it as expired once its time is past, before and after the background task', async () => {
    const { org, admin } = await setUp()
    const invitation = await invited(org, admin)
    await runOut(invitation.id)
    const before = await app.request('GET', invitation.path, { token: admin.token })
    expect(before.body).toMatchObject({ state: 'expired', expired_at: expect.any(String) })
    expect(await storedState(invitation.id)).toBe('pending')
    await invitations.expireOverdue(app.ctx)
    expect(await storedState(invitation.id)).toBe('expired')
    const after = await app.request('GET', invitation.path, { token: admin.token })
    expect(after.body).toEqual(before.body)
  })

  it('leaves out teams that have been deleted', async () => {
    const { org, admin } = await setUp()
    const [gone, kept] = [await aTeam(app, org, admin), await aTeam(app, org, admin)]
    const invitation = await invited(org, admin, { teams: [{ id: gone.id }, { id: kept.id }] })
    await app.request('DELETE', gone.path, { token: admin.token })
    const answer = await app.request('GET', invitation.path, { token: admin.token })
    expect(answer.body.teams).toEqual([
      { id: kept.id, graphql_id: graphqlId('Team', kept.id), slug: kept.slug },
    ])
  })

  it('answers 404 for an unknown id, for another organization and for a malformed id', async () => {
    const { admin, path } = await setUp()
    const other = await setUp()
    const theirs = await invited(other.org, other.admin)
    for (const id of [unknownId, theirs.id, 'x']) {
      for (const method of ['GET', 'DELETE']) {
        const answer = await app.request(method, `${path}/${id}`, { token: admin.token })
        expect([answer.status, answer.body.message]).toEqual([404, 'No invitation found'])
      }
    }
    expect(await storedState(theirs.id)).toBe('pending')
  })
})

describe('POST /v2/organizations/{org.slug}/invitations/{uuid}/resend', () => {
  it('answers with a new link, and the old one ends', async () => {
    const { org, admin } = await setUp()
    const first = await app.request('POST', `${org.path}/invitations`, {
      token: admin.token,
      body: { emails: [address()] },
    })
    const { id, email, accept_url: old } = first.list[0] ?? {}
    const answer = await app.request('POST', `${org.path}/invitations/${id}/resend`, { token: admin.token })
    expect([answer.status, answer.body.state]).toEqual([200, 'pending'])
    const codeOf = (url: unknown) => String(url).split('/').at(-1) ?? ''
    expect(await invitations.findByCode(app.db, codeOf(old))).toBeUndefined()
    expect(await invitations.findByCode(app.db, codeOf(answer.body.accept_url))).toMatchObject({ id, email })
    expect(await auditTrail(app, org, 'ORGANIZATION_INVITATION_RESENT')).toMatchObject([
      { actor: { uuid: admin.id }, subject: { type: 'OrganizationInvitation', uuid: id, name: email } },
    ])
  })

  it('answers 422 when the invitation is no longer pending', async () => {
    const { org, admin } = await setUp()
    const invitation = await invited(org, admin)
    await runOut(invitation.id)
    const answer = await app.request('POST', `${invitation.path}/resend`, { token: admin.token })
    expect([answer.status, answer.body.message]).toEqual([
      422,
      'Only a pending invitation can be sent again; this one is expired',
    ])
  })

  it('is for administrators', async () => {
    const { org, admin } = await setUp()
    const member = await aMember(app, org)
    const invitation = await invited(org, admin)
    const answer = await app.request('POST', `${invitation.path}/resend`, { token: member.token })
    expect(answer.status).toBe(403)
  })
})

describe('DELETE /v2/organizations/{org.slug}/invitations/{uuid}', () => {
  it('answers 204 with no body, and the invitation is revoked', async () => {
    const { org, admin } = await setUp()
    const invitation = await invited(org, admin)
    const answer = await app.request('DELETE', invitation.path, { token: admin.token })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(await storedState(invitation.id)).toBe('revoked')
    expect(await auditTrail(app, org, 'ORGANIZATION_INVITATION_REVOKED')).toMatchObject([
      {
        actor: { uuid: admin.id },
        subject: { type: 'OrganizationInvitation', uuid: invitation.id, name: invitation.email },
        data: {},
      },
    ])
  })

  it('answers 422 when the invitation is no longer pending', async () => {
    const { org, admin } = await setUp()
    const [revoked, expired, accepted] = [
      await invited(org, admin),
      await invited(org, admin),
      await invited(org, admin),
    ]
    await app.request('DELETE', revoked.path, { token: admin.token })
    await runOut(expired.id)
    await aNewcomer(app, org, { email: accepted.email })
    for (const [{ path }, state] of [
      [revoked, 'revoked'],
      [expired, 'expired'],
      [accepted, 'accepted'],
    ] as const) {
      const answer = await app.request('DELETE', path, { token: admin.token })
      expect([answer.status, answer.body.message]).toEqual([
        422,
        `Only a pending invitation can be revoked; this one is ${state}`,
      ])
    }
  })

  it('revokes once when several requests arrive at once', async () => {
    const { org, admin } = await setUp()
    const invitation = await invited(org, admin)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => app.request('DELETE', invitation.path, { token: admin.token })),
    )
    expect(sortedStatuses(answers)).toEqual([204, 422, 422, 422, 422])
    expect(await auditTrail(app, org, 'ORGANIZATION_INVITATION_REVOKED')).toHaveLength(1)
  })

  it('is for administrators with write_organization_invitations', async () => {
    const { org, admin } = await setUp()
    const member = await aMember(app, org)
    const invitation = await invited(org, admin)
    expect((await app.request('DELETE', invitation.path, { token: member.token })).status).toBe(403)
    const token = await aToken(app, admin, { scopes: ['read_organization_invitations'] })
    expect((await app.request('DELETE', invitation.path, { token })).status).toBe(403)
    expect(await storedState(invitation.id)).toBe('pending')
  })
})

describe('createMember for an invited user', () => {
  it('accepts the invitation, joins its teams and takes its single-sign-on mode', async () => {
    const { org, admin } = await setUp()
    const isDefault = { is_default_team: true }
    const [named, both, byDefault] = [
      await aTeam(app, org, admin),
      await aTeam(app, org, admin, isDefault),
      await aTeam(app, org, admin, isDefault),
    ]
    const invitation = await invited(org, admin, {
      teams: [{ id: named.id }, { id: both.id.toUpperCase(), role: 'maintainer' }],
    })
    const member = await aNewcomer(app, org, { email: invitation.email.toUpperCase() })
    expect(await storedState(invitation.id)).toBe('accepted')
    const roleIn = async (team: { path: string }) =>
      (await app.request('GET', `${team.path}/members/${member.id}`, { token: admin.token })).body.role
    expect([await roleIn(named), await roleIn(both), await roleIn(byDefault)]).toEqual([
      'member',
      'maintainer',
      'member',
    ])
    const got = await app.request('GET', `${org.path}/members/${member.id}`, { token: admin.token })
    expect(got.body.sso_mode).toBe('required')
    expect(await auditTrail(app, org, 'ORGANIZATION_INVITATION_ACCEPTED')).toMatchObject([
      {
        subject: { type: 'OrganizationInvitation', uuid: invitation.id, name: invitation.email },
        data: { accepted_by: member.id },
      },
    ])
  })

  it('joins no team that has been deleted', async () => {
    const { org, admin } = await setUp()
    const [gone, kept] = [await aTeam(app, org, admin), await aTeam(app, org, admin)]
    const invitation = await invited(org, admin, { teams: [{ id: gone.id }, { id: kept.id }] })
    await app.request('DELETE', gone.path, { token: admin.token })
    const member = await aNewcomer(app, org, { email: invitation.email })
    const teams = await app.request('GET', `${org.path}/teams?user_id=${member.id}`, { token: admin.token })
    expect(teams.list.map(({ id }) => id)).toEqual([kept.id])
  })

  it('accepts neither an expired invitation nor one of another organization', async () => {
    const { org, admin } = await setUp()
    const other = await setUp()
    const team = await aTeam(app, org, admin)
    const expired = await invited(org, admin, { teams: [{ id: team.id }] })
    const elsewhere = await invited(other.org, other.admin, { emails: [expired.email] })
    await runOut(expired.id)
    const member = await aNewcomer(app, org, { email: expired.email })
    expect(await storedState(expired.id)).toBe('pending')
    expect(await storedState(elsewhere.id)).toBe('pending')
    const place = await app.request('GET', `${team.path}/members/${member.id}`, { token: admin.token })
    expect(place.status).toBe(404)
  })
})

describe('invitations.expireOverdue', () => {
  it('marks overdue invitations of all organizations as expired, once, and changes no others', async () => {
    const [one, two] = [await setUp(), await setUp()]
    const [past, other, fresh, revoked] = [
      await invited(one.org, one.admin),
      await invited(two.org, two.admin),
      await invited(one.org, one.admin),
      await invited(one.org, one.admin),
    ]
    await app.request('DELETE', revoked.path, { token: one.admin.token })
    await invitations.expireOverdue(app.ctx)
    for (const { id } of [past, other, revoked]) await runOut(id)
    expect(await invitations.expireOverdue(app.ctx)).toBe(2)
    expect(await invitations.expireOverdue(app.ctx)).toBe(0)
    const states = await Promise.all([past, other, fresh, revoked].map(({ id }) => storedState(id)))
    expect(states).toEqual(['expired', 'expired', 'pending', 'revoked'])
  })
})
