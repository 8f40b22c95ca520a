import { describe, expect, it } from 'vitest'
import { sortedStatuses, useApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aTeam,
  auditTrail,
  aToken,
  inTeam,
} from '../../../../test/builders.ts'

const app = useApp()

async function aTenant() {
  const org = await anOrganization(app)
  return { org, admin: await anAdmin(app, org), path: `${org.path}/suites` }
}

const create = ({ path, admin }: Awaited<ReturnType<typeof aTenant>>, body: object) =>
  app.request('POST', path, { token: admin.token, body })

describe('POST /v2/organizations/:org/suites', () => {
  it('creates a suite, and shows its token', async () => {
    const tenant = await aTenant()
    const { status, body } = await create(tenant, { name: 'Browser Tests', default_branch: 'main' })
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        graphql_id: expect.any(String),
        slug: 'browser-tests',
        name: 'Browser Tests',
        organization_id: tenant.org.id,
        url: `${app.ctx.config.url}${tenant.path}/browser-tests`,
        web_url: `${app.ctx.config.url}/organizations/${tenant.org.slug}/analytics/suites/browser-tests`,
        default_branch: 'main',
        emoji: null,
        color: null,
        application_name: null,
        oidc_policy: null,
        flaky_on_same_commit: true,
        flaky_transitions: 4,
        flaky_window: 20,
        flaky_clear_days: 7,
        flaky_clear_executions: 100,
        quarantine_rule: null,
        quarantine_days: 14,
        created_at: expect.any(String),
        created_by: expect.objectContaining({ id: tenant.admin.id }),
        api_token: expect.stringMatching(/^mrst_\w{40}$/),
      },
    ])
    const { api_token, ...shown } = body
    expect(
      (await app.request('GET', `${tenant.path}/browser-tests`, { token: tenant.admin.token })).body,
    ).toEqual(shown)
    expect(await auditTrail(app, tenant.org, 'SUITE_CREATED')).toMatchObject([
      { subject: { type: 'Suite', name: 'Browser Tests' }, data: { slug: 'browser-tests' } },
    ])
    expect(JSON.stringify(await app.db.selectFrom('audit_events').selectAll().execute())).not.toContain(
      api_token,
    )
  })

  it('gives a name to one of two concurrent requests', async () => {
    const tenant = await aTenant()
    const answers = await Promise.all([create(tenant, { name: 'unit' }), create(tenant, { name: 'Unit' })])
    expect(sortedStatuses(answers)).toEqual([201, 422])
    expect((await create(await aTenant(), { name: 'unit' })).status).toBe(201)
  })

  it.each([{}, { name: '' }, { name: '???' }, { name: 1 }])('refuses %j', async (body) => {
    expect((await create(await aTenant(), body)).status).toBe(422)
  })

  it('gives the suite to teams, and refuses teams of other organizations', async () => {
    const [tenant, other] = [await aTenant(), await aTenant()]
    const team = await aTeam(app, tenant.org, tenant.admin)
    const { body } = await create(tenant, { name: 'unit', team_ids: [team.id] })
    const given = await app.request('GET', `${team.path}/suites`, { token: tenant.admin.token })
    expect(given.list).toMatchObject([{ suite_id: body.id, access_level: ['read', 'edit'] }])
    const foreign = await aTeam(app, other.org, other.admin)
    expect(await create(tenant, { name: 'second', team_ids: [foreign.id] })).toMatchObject({
      status: 422,
      body: { message: 'Validation failed: team_ids has what is no team of this organization' },
    })
    expect(await create(tenant, { name: 'third', oidc_policy: 'iss: x' })).toMatchObject({
      status: 422,
      body: { message: 'oidc_policy must be empty: results are sent with the token of the suite.' },
    })
  })

  it('requires an administrator and the scope', async () => {
    const tenant = await aTenant()
    const member = await aMember(app, tenant.org)
    const narrow = await aToken(app, tenant.admin, { scopes: ['read_suites'] })
    for (const token of [member.token, narrow]) {
      expect((await app.request('POST', tenant.path, { token, body: { name: 'x' } })).status).toBe(403)
    }
  })
})

describe('GET /v2/organizations/:org/suites', () => {
  it('lists suites oldest first, to any member', async () => {
    const tenant = await aTenant()
    for (const name of ['b', 'a']) await create(tenant, { name })
    const member = await aMember(app, tenant.org)
    const { list, text } = await app.request('GET', tenant.path, { token: member.token })
    expect(list.map(({ slug }) => slug)).toEqual(['b', 'a'])
    expect(text).not.toContain('mrst_')
  })
})

describe('GET /v2/organizations/:org/suites/:suite', () => {
  it('shows the token to those who manage the suite, with the scope to write', async () => {
    const tenant = await aTenant()
    const [team, other] = [
      await aTeam(app, tenant.org, tenant.admin),
      await aTeam(app, tenant.org, tenant.admin),
    ]
    const [manager, reader] = [await aMember(app, tenant.org), await aMember(app, tenant.org)]
    await inTeam(app, team, tenant.admin, manager)
    await inTeam(app, other, tenant.admin, reader)
    const { body } = await create(tenant, { name: 'unit', team_ids: [team.id] })
    const access = { suite_id: body.id, access_level: ['read'] }
    await app.request('POST', `${other.path}/suites`, { token: tenant.admin.token, body: access })
    const show = (token: string) => app.request('GET', `${tenant.path}/unit?show_api_token=true`, { token })
    for (const { token } of [tenant.admin, manager]) {
      expect((await show(token)).body).toMatchObject({ slug: 'unit', api_token: body.api_token })
    }
    const narrow = await aToken(app, tenant.admin, { scopes: ['read_suites'] })
    for (const token of [reader.token, narrow]) expect((await show(token)).status).toBe(403)
    await app.db
      .updateTable('test_suites')
      .set({ token_sealed: null })
      .where('id', '=', String(body.id))
      .execute()
    expect((await show(tenant.admin.token)).body.api_token).toBeNull()
  })

  it('is for the members of its teams, where teams grant access', async () => {
    const tenant = await aTenant()
    const team = await aTeam(app, tenant.org, tenant.admin)
    const [inside, outside] = [await aMember(app, tenant.org), await aMember(app, tenant.org)]
    await inTeam(app, team, tenant.admin, inside)
    await create(tenant, { name: 'ours', team_ids: [team.id] })
    await create(tenant, { name: 'all' })
    const slugs = async (token: string) =>
      (await app.request('GET', tenant.path, { token })).list.map(({ slug }) => slug)
    expect(await slugs(outside.token)).toEqual(['ours', 'all'])
    await app.request('POST', `${tenant.org.path}/teams/enable`, { token: tenant.admin.token })
    expect(await slugs(outside.token)).toEqual(['all'])
    expect(await slugs(inside.token)).toEqual(['ours', 'all'])
    expect((await app.request('GET', `${tenant.path}/ours`, { token: outside.token })).status).toBe(404)
  })
})

describe('PATCH /v2/organizations/:org/suites/:suite', () => {
  it('changes settings, and a new name makes a new slug', async () => {
    const tenant = await aTenant()
    const { body } = await create(tenant, { name: 'unit', color: '#FFE0F1' })
    const { api_token, ...made } = body
    const patch = (slug: string, change: object, token = tenant.admin.token) =>
      app.request('PATCH', `${tenant.path}/${slug}`, { token, body: change })
    const change = {
      name: 'Unit Tests',
      default_branch: 'trunk',
      emoji: ':rocket:',
      color: '',
      oidc_policy: null,
      flaky_transitions: null,
      quarantine_rule: 'muted',
    }
    const changed = await patch('unit', change)
    expect([changed.status, changed.body]).toEqual([
      200,
      {
        ...made,
        name: 'Unit Tests',
        slug: 'unit-tests',
        url: `${app.ctx.config.url}${tenant.path}/unit-tests`,
        web_url: `${app.ctx.config.url}/organizations/${tenant.org.slug}/analytics/suites/unit-tests`,
        flaky_transitions: null,
        quarantine_rule: 'muted',
        default_branch: 'trunk',
        emoji: ':rocket:',
        color: null,
      },
    ])
    expect(await auditTrail(app, tenant.org, 'SUITE_UPDATED')).toMatchObject([
      { subject: { name: 'Unit Tests' }, data: { slug: 'unit-tests', color: null } },
    ])
    await create(tenant, { name: 'other' })
    expect((await patch('other', { name: 'unit tests' })).status).toBe(422)
    expect((await patch('other', { name: 'x' }, (await aMember(app, tenant.org)).token)).status).toBe(403)
    expect(api_token).toMatch(/^mrst_/)
  })

  it('is for members of teams that manage the suite, and so is its deletion', async () => {
    const tenant = await aTenant()
    const team = await aTeam(app, tenant.org, tenant.admin)
    const [manager, member] = [await aMember(app, tenant.org), await aMember(app, tenant.org)]
    await inTeam(app, team, tenant.admin, manager)
    await create(tenant, { name: 'unit', team_ids: [team.id] })
    const ask = (method: string, token: string) =>
      app.request(method, `${tenant.path}/unit`, {
        token,
        body: method === 'PATCH' ? { emoji: null } : undefined,
      })
    expect((await ask('PATCH', manager.token)).status).toBe(200)
    expect((await ask('DELETE', member.token)).status).toBe(403)
    expect((await ask('DELETE', manager.token)).status).toBe(204)
  })
})

describe('POST /v2/organizations/:org/suites/:suite/rotate_token', () => {
  const rotate = ({ path }: Awaited<ReturnType<typeof aTenant>>, token: string) =>
    app.request('POST', `${path}/unit/rotate_token`, { token })

  it('gives a new token, and the earlier one is refused at once', async () => {
    const tenant = await aTenant()
    const { api_token: first, ...made } = (await create(tenant, { name: 'unit' })).body
    const upload = async (token: unknown) =>
      (
        await app.request('POST', '/v1/uploads', {
          headers: { Authorization: `Token token="${String(token)}"` },
          body: { format: 'json', run_env: { key: 'k' }, data: [] },
        })
      ).status
    const { status, body } = await rotate(tenant, tenant.admin.token)
    expect([status, body]).toEqual([200, { ...made, api_token: expect.stringMatching(/^mrst_\w{40}$/) }])
    expect([await upload(first), await upload(body.api_token)]).toEqual([401, 202])
    const shown = await app.request('GET', `${tenant.path}/unit?show_api_token=true`, {
      token: tenant.admin.token,
    })
    expect(shown.body.api_token).toBe(body.api_token)
    expect(await auditTrail(app, tenant.org, 'SUITE_API_TOKEN_REGENERATED')).toMatchObject([
      { subject: { type: 'Suite', name: 'unit' }, data: {} },
    ])
    expect(JSON.stringify(await app.db.selectFrom('audit_events').selectAll().execute())).not.toContain(
      String(body.api_token),
    )
  })

  it('leaves one token that works after two concurrent requests', async () => {
    const tenant = await aTenant()
    await create(tenant, { name: 'unit' })
    const answers = await Promise.all([
      rotate(tenant, tenant.admin.token),
      rotate(tenant, tenant.admin.token),
    ])
    const { body } = await app.request('GET', `${tenant.path}/unit?show_api_token=true`, {
      token: tenant.admin.token,
    })
    expect(answers.map((answer) => answer.body.api_token)).toContain(body.api_token)
  })

  it('is for those who manage the suite, with the scope', async () => {
    const [tenant, other] = [await aTenant(), await aTenant()]
    const team = await aTeam(app, tenant.org, tenant.admin)
    const [manager, member] = [await aMember(app, tenant.org), await aMember(app, tenant.org)]
    await inTeam(app, team, tenant.admin, manager)
    const { body } = await create(tenant, { name: 'unit', team_ids: [team.id] })
    const narrow = await aToken(app, tenant.admin, { scopes: ['read_suites'] })
    for (const token of [member.token, narrow]) expect((await rotate(tenant, token)).status).toBe(403)
    expect((await rotate(tenant, other.admin.token)).status).toBe(404)
    const shown = await app.request('GET', `${tenant.path}/unit?show_api_token=true`, {
      token: manager.token,
    })
    expect(shown.body.api_token).toBe(body.api_token)
    expect((await rotate(tenant, manager.token)).status).toBe(200)
  })
})

describe('DELETE /v2/organizations/:org/suites/:suite', () => {
  it('deletes the suite, and its token is no longer accepted', async () => {
    const tenant = await aTenant()
    const { body } = await create(tenant, { name: 'unit' })
    const upload = () =>
      app.request('POST', '/v1/uploads', {
        headers: { Authorization: `Token token="${body.api_token}"` },
        body: { format: 'json', run_env: { key: 'k' }, data: [] },
      })
    expect((await upload()).status).toBe(202)
    const remove = () => app.request('DELETE', `${tenant.path}/unit`, { token: tenant.admin.token })
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 404])
    expect((await upload()).status).toBe(401)
    expect(await auditTrail(app, tenant.org, 'SUITE_DELETED')).toMatchObject([{ subject: { name: 'unit' } }])
  })
})
