import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aNewcomer,
  auditTrail,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { createAccessToken } from '../access-token/create.ts'

const app = useApp()

async function aProgram(user: TestUser, organizations: readonly TestOrganization[] = []) {
  return createAccessToken(
    app.db,
    { kind: 'operator', command: 'test' },
    {
      email: user.email,
      scopes: ['read_builds', 'read_organizations'],
      organizationSlugs: organizations.map(({ slug }) => slug),
      description: 'Assistant',
      program: 'Assistant',
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
      allowedIpAddresses: null,
    },
  )
}

async function aWorld() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const member = await aMember(app, org)
  const path = `${org.path}/connected_programs`
  return { org, admin, member, path }
}

describe('GET /v2/organizations/{org}/connected_programs', () => {
  it('lists the programs of all members that reach the organization, and no tokens made by hand', async () => {
    const { org, admin, member, path } = await aWorld()
    const other = await anOrganization(app)
    await aNewcomer(app, other, { email: member.email })
    await aProgram(member, [other])
    const everywhere = await aProgram(member)
    const here = await aProgram(admin, [org])
    const { status, list } = await app.request('GET', path, { token: admin.token })
    expect([status, list]).toEqual([
      200,
      [
        expect.objectContaining({ id: here.id, reaches_others: false }),
        {
          id: everywhere.id,
          program: 'Assistant',
          user: { id: member.id, name: expect.any(String), email: member.email },
          scopes: ['read_builds', 'read_organizations'],
          reaches_others: true,
          created_at: expect.any(String),
          expires_at: expect.any(String),
          last_used_at: null,
        },
      ],
    ])
  })

  it('is for administrators', async () => {
    const { member, path } = await aWorld()
    expect((await app.request('GET', path, { token: member.token })).status).toBe(403)
  })
})

describe('DELETE /v2/organizations/{org}/connected_programs/{access_token}', () => {
  it('revokes a program that reaches no other organization', async () => {
    const { org, admin, member, path } = await aWorld()
    const { id, token } = await aProgram(member)
    expect((await app.request('GET', org.path, { token })).status).toBe(200)
    expect((await app.request('DELETE', `${path}/${id}`, { token: admin.token })).status).toBe(204)
    expect((await app.request('GET', org.path, { token })).status).toBe(401)
    expect((await app.request('DELETE', `${path}/${id}`, { token: admin.token })).status).toBe(404)
    expect(await auditTrail(app, org, 'API_ACCESS_TOKEN_DELETED')).toMatchObject([
      { subject: { uuid: id, name: 'Assistant' }, data: { program: 'Assistant', user_id: member.id } },
    ])
  })

  it('leaves the program the other organizations of the member', async () => {
    const { org, admin, member, path } = await aWorld()
    const other = await anOrganization(app)
    await aNewcomer(app, other, { email: member.email })
    const { id, token } = await aProgram(member)
    expect((await app.request('DELETE', `${path}/${id}`, { token: admin.token })).status).toBe(204)
    expect((await app.request('GET', other.path, { token })).status).toBe(200)
    expect((await app.request('GET', org.path, { token })).status).toBe(404)
    expect((await app.request('GET', path, { token: admin.token })).list).toEqual([])
    expect(await auditTrail(app, org, 'API_ACCESS_TOKEN_ORGANIZATION_ACCESS_REVOKED')).toMatchObject([
      { subject: { uuid: id } },
    ])
    expect(await auditTrail(app, other, 'API_ACCESS_TOKEN_ORGANIZATION_ACCESS_REVOKED')).toEqual([])
  })

  it('finds no program of people outside, and no token made by hand', async () => {
    const { admin, path, org } = await aWorld()
    const stranger = await aMember(app, await anOrganization(app))
    const byHand = await app.request('GET', '/v2/access-token', { token: admin.token })
    for (const id of [(await aProgram(stranger)).id, String(byHand.body['uuid'])]) {
      expect((await app.request('DELETE', `${path}/${id}`, { token: admin.token })).status).toBe(404)
    }
    expect((await app.request('GET', org.path, { token: admin.token })).status).toBe(200)
  })
})
