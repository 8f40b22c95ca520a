// Long, because it tests the whole contract of every endpoint: fields, refusals, access and simultaneous requests.
import { describe, expect, it } from 'vitest'
import { baseUrl, sortedStatuses, useApp } from '../../../../test/app.ts'
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
import { graphqlId, newId } from '../../../lib/ids.ts'

const app = useApp()

const unknownId = '01890000-0000-7000-8000-000000000000'

async function setUp() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org, { name: 'Grace Admin' })
  const member = await aMember(app, org, { name: 'Ada Member' })
  return { org, admin, member, path: `${org.path}/teams` }
}

describe('GET /v2/organizations/{org.slug}/teams', () => {
  it('lists teams oldest first, by page', async () => {
    const { org, admin, member, path } = await setUp()
    const made = [
      await aTeam(app, org, admin, { name: 'Zebra' }),
      await aTeam(app, org, admin, { name: 'Ape' }),
      await aTeam(app, org, admin, { name: 'Mole' }),
    ]
    const all = await app.request('GET', path, { token: member.token })
    expect(all.status).toBe(200)
    expect(all.list.map(({ id }) => id)).toEqual(made.map(({ id }) => id))
    const second = await app.request('GET', `${path}?page=2&per_page=2`, { token: member.token })
    expect(second.list.map(({ name }) => name)).toEqual(['Mole'])
    expect(second.headers.get('link')).toContain('rel="prev"')
  })

  it('takes user_id and lists the teams of that user', async () => {
    const { org, admin, member, path } = await setUp()
    const [hers] = [await aTeam(app, org, admin), await aTeam(app, org, admin)]
    await inTeam(app, hers, admin, member)
    const list = async (userId: string) =>
      (await app.request('GET', `${path}?user_id=${userId}`, { token: admin.token })).list.map(({ id }) => id)
    expect(await list(member.id)).toEqual([hers.id])
    expect(await list(admin.id)).toEqual([])
    expect(await list(unknownId)).toEqual([])
    expect(await list('')).toHaveLength(2)
  })

  it('refuses a user_id that is no UUID with 422', async () => {
    const { admin, path } = await setUp()
    const answer = await app.request('GET', `${path}?user_id=ada`, { token: admin.token })
    expect([answer.status, answer.body.message]).toEqual([
      422,
      'user_id must be the UUID of a user, which "ada" is not',
    ])
  })

  it('shows a secret team to its members and to administrators only', async () => {
    const { org, admin, member, path } = await setUp()
    const outsider = await aMember(app, org)
    const team = await aTeam(app, org, admin, { privacy: 'secret' })
    await inTeam(app, team, admin, member)
    const list = async (token: string, query = '') =>
      (await app.request('GET', path + query, { token })).list.map(({ id }) => id)
    expect(await list(admin.token)).toEqual([team.id])
    expect(await list(member.token)).toEqual([team.id])
    expect(await list(outsider.token)).toEqual([])
    expect(await list(outsider.token, `?user_id=${member.id}`)).toEqual([])
    expect((await app.request('GET', team.path, { token: admin.token })).status).toBe(200)
    expect((await app.request('GET', team.path, { token: member.token })).status).toBe(200)
    const hidden = await app.request('GET', team.path, { token: outsider.token })
    expect([hidden.status, hidden.body.message]).toEqual([404, 'No team found'])
  })

  it('needs read_teams and permission to view teams', async () => {
    const { org, admin, member, path } = await setUp()
    const team = await aTeam(app, org, admin)
    const token = await aToken(app, admin, { scopes: ['write_teams', 'read_organizations'] })
    await withoutFeature(app, org, 'members_view_teams')
    for (const url of [path, team.path]) {
      const unscoped = await app.request('GET', url, { token })
      expect(unscoped.body.message).toBe("Your access token doesn't have the read_teams scope")
      expect((await app.request('GET', url, { token: member.token })).status).toBe(403)
      expect((await app.request('GET', url, { token: admin.token })).status).toBe(200)
    }
  })
})

describe('GET /v2/organizations/{org.slug}/teams/{team.uuid}', () => {
  it('answers with every field', async () => {
    const { org, admin } = await setUp()
    const team = await aTeam(app, org, admin, {
      name: 'Mobile Apps',
      description: 'iOS',
      privacy: 'secret',
      is_default_team: true,
      default_member_role: 'maintainer',
      members_can_create_pipelines: true,
      members_can_create_suites: true,
      members_can_create_registries: true,
      members_can_destroy_registries: true,
      members_can_destroy_packages: true,
    })
    const answer = await app.request('GET', team.path, { token: admin.token })
    expect(answer.body).toEqual({
      id: team.id,
      graphql_id: graphqlId('Team', team.id),
      name: 'Mobile Apps',
      slug: 'mobile-apps',
      description: 'iOS',
      privacy: 'secret',
      default: true,
      is_default_team: true,
      default_member_role: 'maintainer',
      members_can_create_pipelines: true,
      members_can_create_suites: true,
      members_can_create_registries: true,
      members_can_destroy_registries: true,
      members_can_destroy_packages: true,
      created_at: expect.any(String),
      created_by: {
        id: admin.id,
        graphql_id: graphqlId('User', admin.id),
        name: 'Grace Admin',
        email: admin.email,
        avatar_url: `${baseUrl}/avatars/${admin.id}`,
        created_at: expect.any(String),
      },
    })
  })

  it('answers 404 for an unknown team, one of another organization and a malformed id', async () => {
    const { admin, path } = await setUp()
    const other = await setUp()
    const theirs = await aTeam(app, other.org, other.admin)
    for (const id of [unknownId, theirs.id, theirs.slug]) {
      const answer = await app.request('GET', `${path}/${id}`, { token: admin.token })
      expect([answer.status, answer.body.message]).toEqual([404, 'No team found'])
    }
  })
})

describe('POST /v2/organizations/{org.slug}/teams', () => {
  it('answers 201 with the team; only the name is required', async () => {
    const { org, admin, path } = await setUp()
    const answer = await app.request('POST', path, { token: admin.token, body: { name: 'Night & Day!' } })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      name: 'Night & Day!',
      slug: 'night-day',
      description: '',
      privacy: 'visible',
      default: false,
      default_member_role: 'member',
      members_can_create_pipelines: false,
      members_can_create_suites: false,
      members_can_create_registries: false,
      members_can_destroy_registries: false,
      members_can_destroy_packages: false,
      created_by: { id: admin.id },
    })
    expect(await auditTrail(app, org, 'TEAM_CREATED')).toMatchObject([
      {
        actor: { uuid: admin.id },
        subject: { type: 'Team', uuid: answer.body.id, name: 'Night & Day!' },
        data: { name: 'Night & Day!', slug: 'night-day', privacy: 'visible' },
      },
    ])
  })

  it('refuses a name that gives the slug of another team with 422; other organizations do not count', async () => {
    const { org, admin, path } = await setUp()
    await aTeam(app, org, admin, { name: 'Mobile Apps' })
    const answer = await app.request('POST', path, { token: admin.token, body: { name: 'mobile-apps' } })
    expect([answer.status, answer.body.message]).toEqual([
      422,
      'Validation failed: there is already a team with the slug "mobile-apps"',
    ])
    const other = await setUp()
    await aTeam(app, other.org, other.admin, { name: 'Mobile Apps' })
  })

  it.each([
    ['no name', {}, 'name is required'],
    ['an empty name', { name: '' }, 'name must contain a letter or a digit'],
    ['a name that gives no slug', { name: '🚀 !' }, 'name must contain a letter or a digit'],
    ['a name that is too long', { name: 'x'.repeat(256) }, 'name must have at most 255 characters'],
    ['a privacy that does not exist', { privacy: 'open' }, 'privacy must be "visible" or "secret"'],
    [
      'a role that does not exist',
      { default_member_role: 'admin' },
      'default_member_role must be "member" or "maintainer"',
    ],
    ['a flag that is no boolean', { is_default_team: 'yes' }, 'is_default_team must be a boolean'],
    [
      'a right that is no boolean',
      { members_can_destroy_packages: 1 },
      'members_can_destroy_packages must be a boolean',
    ],
    ['a description of another type', { description: 7 }, 'description must be a string or null'],
  ])('refuses %s with 422', async (what, fields, reason) => {
    const { admin, path } = await setUp()
    const body = what === 'no name' ? {} : { name: 'Fine', ...fields }
    const answer = await app.request('POST', path, { token: admin.token, body })
    expect([answer.status, answer.body.message]).toEqual([422, `Validation failed: ${reason}`])
  })

  it('is for administrators with write_teams', async () => {
    const { admin, member, path } = await setUp()
    const body = { name: 'Mobile' }
    const byMember = await app.request('POST', path, { token: member.token, body })
    expect([byMember.status, byMember.body.message]).toEqual([403, 'Forbidden'])
    const token = await aToken(app, admin, { scopes: ['read_teams'] })
    expect((await app.request('POST', path, { token, body })).body.message).toBe(
      "Your access token doesn't have the write_teams scope",
    )
  })

  it('makes at most 250 teams, also when several are made at the same moment', async () => {
    const { org, admin, path } = await setUp()
    const rows = Array.from({ length: 247 }, (_, index) => ({
      id: newId(),
      organization_id: org.id,
      name: `t${index}`,
      slug: `t${index}`,
    }))
    await app.db.insertInto('teams').values(rows).execute()
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    const answers = await Promise.all(
      names.map((name) => app.request('POST', path, { token: admin.token, body: { name } })),
    )
    expect(sortedStatuses(answers)).toEqual([201, 201, 201, 422, 422, 422, 422, 422])
    expect(answers.find(({ status }) => status === 422)?.body.message).toBe(
      'Validation failed: an organization has at most 250 teams',
    )
  })

  it('creates one team per name when several requests arrive at once', async () => {
    const { admin, path } = await setUp()
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        app.request('POST', path, { token: admin.token, body: { name: 'Same' } }),
      ),
    )
    expect(sortedStatuses(answers)).toEqual([201, 422, 422, 422, 422, 422])
  })

  it('makes new members of the organization join a default team, in the role it gives', async () => {
    const { org, admin } = await setUp()
    const team = await aTeam(app, org, admin, { is_default_team: true, default_member_role: 'maintainer' })
    await aTeam(app, org, admin)
    const late = await aNewcomer(app, org)
    const list = await app.request('GET', `${org.path}/teams?user_id=${late.id}`, { token: admin.token })
    expect(list.list.map(({ id }) => id)).toEqual([team.id])
    const place = await app.request('GET', `${team.path}/members/${late.id}`, { token: admin.token })
    expect(place.body.role).toBe('maintainer')
  })
})

describe('PATCH /v2/organizations/{org.slug}/teams/{team.uuid}', () => {
  it('changes what is given and leaves the rest; a new name makes a new slug', async () => {
    const { org, admin } = await setUp()
    const team = await aTeam(app, org, admin, { name: 'Mobile', description: 'Apps', privacy: 'secret' })
    const answer = await app.request('PATCH', team.path, {
      token: admin.token,
      body: { name: 'Desktop Apps', is_default_team: true },
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      name: 'Desktop Apps',
      slug: 'desktop-apps',
      description: 'Apps',
      privacy: 'secret',
      default: true,
    })
    const cleared = await app.request('PUT', team.path, {
      token: admin.token,
      body: { description: null, slug: 'mine', members_can_create_suites: true },
    })
    expect(cleared.body).toMatchObject({
      slug: 'desktop-apps',
      description: '',
      members_can_create_suites: true,
    })
    expect((await auditTrail(app, org, 'TEAM_UPDATED')).map(({ data }) => data)).toEqual([
      {
        name: 'Desktop Apps',
        slug: 'desktop-apps',
        is_default_team: true,
        previous: { name: 'Mobile', slug: 'mobile', is_default_team: false },
      },
      {
        description: '',
        members_can_create_suites: true,
        previous: { description: 'Apps', members_can_create_suites: false },
      },
    ])
  })

  it('changes nothing when nothing is given', async () => {
    const { org, admin } = await setUp()
    const team = await aTeam(app, org, admin)
    const before = await app.request('GET', team.path, { token: admin.token })
    const answer = await app.request('PATCH', team.path, { token: admin.token, body: {} })
    expect(answer.body).toEqual(before.body)
  })

  it('answers 422 to invalid fields and to a taken name', async () => {
    const { org, admin } = await setUp()
    const team = await aTeam(app, org, admin)
    const taken = await aTeam(app, org, admin, { name: 'Taken' })
    for (const body of [{ name: '' }, { privacy: null }, { default_member_role: 'x' }, { name: 'TAKEN' }]) {
      const answer = await app.request('PATCH', team.path, { token: admin.token, body })
      expect([answer.status, answer.body.message]).toEqual([
        422,
        expect.stringMatching(/^Validation failed: /),
      ])
    }
    const itself = await app.request('PATCH', taken.path, { token: admin.token, body: { name: 'TAKEN' } })
    expect(itself.body).toMatchObject({ name: 'TAKEN', slug: 'taken' })
  })

  it('lets only administrators set what the members may do', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const maintainer = await aMember(app, org)
    const team = await aTeam(app, org, admin)
    await inTeam(app, team, admin, maintainer, 'maintainer')
    for (const body of [{ members_can_create_pipelines: true }, { is_default_team: true }]) {
      expect((await app.request('PATCH', team.path, { token: maintainer.token, body })).status).toBe(403)
      expect((await app.request('PATCH', team.path, { token: admin.token, body })).status).toBe(200)
    }
  })

  it('is for administrators and the maintainers of the team, with write_teams', async () => {
    const { org, admin, member } = await setUp()
    const [maintainer, outsider] = [await aMember(app, org), await aMember(app, org)]
    const team = await aTeam(app, org, admin)
    await inTeam(app, team, admin, member)
    await inTeam(app, team, admin, maintainer, 'maintainer')
    const body = { description: 'new' }
    for (const { token } of [member, outsider]) {
      const answer = await app.request('PATCH', team.path, { token, body })
      expect([answer.status, answer.body.message]).toEqual([403, 'Forbidden'])
    }
    expect((await app.request('PATCH', team.path, { token: maintainer.token, body })).status).toBe(200)
    const another = await aTeam(app, org, admin)
    expect((await app.request('PATCH', another.path, { token: maintainer.token, body })).status).toBe(403)
    const token = await aToken(app, maintainer, { scopes: ['read_teams'] })
    expect((await app.request('PATCH', team.path, { token, body })).status).toBe(403)
  })

  it('answers 404 for no team, one of another organization, and a secret one to outsiders', async () => {
    const { org, admin, member, path } = await setUp()
    const other = await setUp()
    const theirs = await aTeam(app, other.org, other.admin)
    const secret = await aTeam(app, org, admin, { privacy: 'secret' })
    for (const method of ['PATCH', 'DELETE']) {
      for (const id of [unknownId, theirs.id]) {
        for (const { token } of [admin, member]) {
          const answer = await app.request(method, `${path}/${id}`, { token, body: {} })
          expect([answer.status, answer.body.message]).toEqual([404, 'No team found'])
        }
      }
      const hidden = await app.request(method, secret.path, { token: member.token, body: {} })
      expect([hidden.status, hidden.body.message]).toEqual([404, 'No team found'])
    }
  })
})

describe('DELETE /v2/organizations/{org.slug}/teams/{team.uuid}', () => {
  it('answers 204 with no body, and deletes its memberships and maintainer rows', async () => {
    const { org, admin, member } = await setUp()
    const team = await aTeam(app, org, admin)
    await inTeam(app, team, admin, member)
    const cluster = await aCluster(app, org, admin, { maintainers: [{ team: team.id }] })
    const answer = await app.request('DELETE', team.path, { token: admin.token })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect((await app.request('GET', team.path, { token: admin.token })).status).toBe(404)
    expect((await app.request('DELETE', team.path, { token: admin.token })).status).toBe(404)
    const maintainers = await app.request('GET', `${cluster.path}/maintainers`, { token: admin.token })
    expect(maintainers.body).toEqual([])
    expect(
      (await app.request('GET', `${org.path}/members/${member.id}`, { token: admin.token })).status,
    ).toBe(200)
    expect(await auditTrail(app, org, 'TEAM_DELETED')).toMatchObject([
      { actor: { uuid: admin.id }, subject: { type: 'Team', uuid: team.id, name: team.name }, data: {} },
    ])
  })

  it('is for administrators and the maintainers of the team, with write_teams', async () => {
    const { org, admin, member } = await setUp()
    const maintainer = await aMember(app, org)
    const team = await aTeam(app, org, admin)
    await inTeam(app, team, admin, member)
    await inTeam(app, team, admin, maintainer, 'maintainer')
    expect((await app.request('DELETE', team.path, { token: member.token })).status).toBe(403)
    const token = await aToken(app, maintainer, { scopes: ['read_teams'] })
    expect((await app.request('DELETE', team.path, { token })).status).toBe(403)
    expect((await app.request('DELETE', team.path, { token: maintainer.token })).status).toBe(204)
  })

  it('deletes once when several requests arrive at once', async () => {
    const { org, admin } = await setUp()
    const team = await aTeam(app, org, admin)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => app.request('DELETE', team.path, { token: admin.token })),
    )
    expect(sortedStatuses(answers)).toEqual([204, 404, 404, 404, 404])
    expect(await auditTrail(app, org, 'TEAM_DELETED')).toHaveLength(1)
  })
})

describe('POST /v2/organizations/{org.slug}/teams/enable', () => {
  it('answers 204 and makes the team Everyone, with all members, when there is no team', async () => {
    const { org, admin, member, path } = await setUp()
    const answer = await app.request('POST', `${path}/enable`, { token: admin.token })
    expect([answer.status, answer.text]).toEqual([204, ''])
    const [everyone] = (await app.request('GET', path, { token: member.token })).list
    expect(everyone).toMatchObject({ name: 'Everyone', slug: 'everyone', default: true, privacy: 'visible' })
    const late = await aNewcomer(app, org)
    const places = await app.request('GET', `${path}/${everyone?.id}/members`, { token: admin.token })
    expect(places.list.map(({ user_id, role }) => [user_id, role])).toEqual([
      [admin.id, 'member'],
      [member.id, 'member'],
      [late.id, 'member'],
    ])
  })

  it('does nothing the second time, also when both come at the same moment', async () => {
    const { org, admin, path } = await setUp()
    const enable = () => app.request('POST', `${path}/enable`, { token: admin.token })
    const answers = await Promise.all([enable(), enable(), enable(), enable()])
    answers.push(await enable())
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204])
    expect((await app.request('GET', path, { token: admin.token })).list).toHaveLength(1)
    expect(await auditTrail(app, org, 'ORGANIZATION_TEAMS_ENABLED')).toMatchObject([
      { actor: { uuid: admin.id }, subject: { type: 'Organization', uuid: org.id }, data: {} },
    ])
    expect(await auditTrail(app, org, 'TEAM_CREATED')).toHaveLength(1)
  })

  it('makes no team where there is one', async () => {
    const { org, admin, path } = await setUp()
    const team = await aTeam(app, org, admin)
    expect((await app.request('POST', `${path}/enable`, { token: admin.token })).status).toBe(204)
    const list = await app.request('GET', path, { token: admin.token })
    expect(list.list.map(({ id }) => id)).toEqual([team.id])
  })

  it('is for administrators with write_teams', async () => {
    const { admin, member, path } = await setUp()
    expect((await app.request('POST', `${path}/enable`, { token: member.token })).status).toBe(403)
    const token = await aToken(app, admin, { scopes: ['read_teams'] })
    expect((await app.request('POST', `${path}/enable`, { token })).status).toBe(403)
    expect((await app.request('GET', path, { token: admin.token })).list).toEqual([])
  })
})
