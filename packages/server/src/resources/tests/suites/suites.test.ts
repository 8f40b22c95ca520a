import { describe, expect, it } from 'vitest'
import { sortedStatuses, useApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, auditTrail, aToken } from '../../../../test/builders.ts'

const app = useApp()

async function aTenant() {
  const org = await anOrganization(app)
  return { org, admin: await anAdmin(app, org), path: `${org.path}/suites` }
}

const create = ({ path, admin }: Awaited<ReturnType<typeof aTenant>>, body: object) =>
  app.request('POST', path, { token: admin.token, body })

describe('POST /v2/organizations/:org/suites', () => {
  it('creates a suite, and shows its token only once', async () => {
    const tenant = await aTenant()
    const { status, body } = await create(tenant, { name: 'Browser Tests', default_branch: 'main' })
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        graphql_id: expect.any(String),
        slug: 'browser-tests',
        name: 'Browser Tests',
        url: `${app.ctx.config.url}${tenant.path}/browser-tests`,
        default_branch: 'main',
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
