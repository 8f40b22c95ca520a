import { describe, expect, it } from 'vitest'
import { baseUrl, startApp, useApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aTeam,
  aToken,
  auditTrail,
  inTeam,
  type TestOrganization,
} from '../../../../test/builders.ts'
import { newId } from '../../../lib/ids.ts'
import { disableSso } from './update.ts'

const app = useApp()

const operator = { kind: 'operator', command: 'sso disable' } as const

async function anAdministered() {
  const org = await anOrganization(app)
  return { org, admin: await anAdmin(app, org) }
}

const get = (org: TestOrganization, { token }: { token: string }) =>
  app.request('GET', `${org.path}/sso`, { token })

const put = (org: TestOrganization, { token }: { token: string }, body: unknown) =>
  app.request('PUT', `${org.path}/sso`, { token, body })

const remove = (org: TestOrganization, { token }: { token: string }) =>
  app.request('DELETE', `${org.path}/sso`, { token })

const provider = { issuer: 'https://login.example.com', client_id: 'millrace', client_secret: 'very-secret' }

describe('GET /v2/organizations/{org.slug}/sso', () => {
  it('says before the set-up which redirect URI to register at the provider', async () => {
    const { org, admin } = await anAdministered()
    const answer = await get(org, admin)
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        url: `${baseUrl}${org.path}/sso`,
        enabled: false,
        issuer: null,
        client_id: null,
        scopes: ['openid', 'profile', 'email'],
        groups_claim: 'groups',
        group_teams: [],
        email_domains: [],
        provision: false,
        sso_required: false,
        redirect_uri: `${baseUrl}/-/sso/${org.slug}/callback`,
        sign_in_url: `${baseUrl}/-/sso/${org.slug}`,
        created_at: null,
        updated_at: null,
      },
    ])
  })

  it('answers 403 to members who are not administrators and to tokens without the scope', async () => {
    const { org, admin } = await anAdministered()
    expect((await get(org, await aMember(app, org))).status).toBe(403)
    const token = await aToken(app, admin, { scopes: ['write_organization_settings'] })
    expect((await get(org, { token })).status).toBe(403)
  })
})

describe('PUT /v2/organizations/{org.slug}/sso', () => {
  it('sets single sign-on up, shows the secret nowhere, and records the event', async () => {
    const { org, admin } = await anAdministered()
    const team = await aTeam(app, org, admin)
    const given = {
      scopes: ['email', 'groups'],
      groups_claim: 'roles',
      group_teams: [{ group: 'developers', team_id: team.id }],
      email_domains: ['Example.com', 'example.com'],
      provision: true,
      sso_required: true,
    }
    const answer = await put(org, admin, { ...provider, ...given })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      enabled: true,
      issuer: provider.issuer,
      client_id: 'millrace',
      ...given,
      scopes: ['openid', 'email', 'groups'],
      email_domains: ['example.com'],
    })
    expect((await get(org, admin)).body).toEqual(answer.body)
    expect(answer.text).not.toContain(provider.client_secret)
    const [event, ...others] = await auditTrail(app, org, 'SSO_PROVIDER_CREATED')
    expect(others).toEqual([])
    expect(event).toMatchObject({
      actor: { uuid: admin.id },
      subject: { type: 'SsoProvider', name: provider.issuer },
      data: { client_id: 'millrace', group_teams: given.group_teams, is_required: true },
    })
    expect(JSON.stringify(event)).not.toContain(provider.client_secret)
    const stored = await app.db
      .selectFrom('organization_sso')
      .selectAll()
      .where('organization_id', '=', org.id)
      .executeTakeFirstOrThrow()
    expect(stored.client_secret_sealed.toString('latin1')).not.toContain(provider.client_secret)
    expect(app.ctx.keys.open(stored.client_secret_sealed, stored.client_secret_key_id)).toBe(
      provider.client_secret,
    )
  })

  it('changes what is given, keeps the rest, and records each change', async () => {
    const { org, admin } = await anAdministered()
    await put(org, admin, { ...provider, email_domains: ['example.com'] })
    const answer = await put(org, admin, { provision: true, enabled: false })
    expect(answer.body).toMatchObject({
      issuer: provider.issuer,
      email_domains: ['example.com'],
      provision: true,
      enabled: false,
    })
    await put(org, admin, { client_secret: 'newer-secret', enabled: true })
    const updates = await auditTrail(app, org, 'SSO_PROVIDER_UPDATED')
    expect(updates.map(({ data }) => data)).toEqual([
      { provision: true, previous: { provision: false } },
      { client_secret_changed: true },
    ])
    expect(await auditTrail(app, org, 'SSO_PROVIDER_DISABLED')).toHaveLength(1)
    expect(await auditTrail(app, org, 'SSO_PROVIDER_ENABLED')).toHaveLength(1)
  })

  it.each([
    ['issuer is required', { client_id: 'a', client_secret: 'b' }],
    ['client_id is required', { issuer: provider.issuer, client_secret: 'b' }],
    ['client_secret is required', { issuer: provider.issuer, client_id: 'a' }],
    ['issuer must be a URL', { ...provider, issuer: 'login.example.com' }],
    ['issuer must be a URL', { ...provider, issuer: 'https://login.example.com?tenant=1' }],
    ['issuer must be a URL', { ...provider, issuer: 'https://me:secret@login.example.com' }],
    ['issuer must be a URL', { ...provider, issuer: 'file:///etc/passwd' }],
    ['email_domains[0] must be the domain', { ...provider, email_domains: ['@example.com'] }],
    ['group_teams[0].team_id must be the UUID', { ...provider, group_teams: [{ group: 'a', team_id: 'b' }] }],
  ])('answers 422: %s', async (reason, body) => {
    const { org, admin } = await anAdministered()
    const answer = await put(org, admin, body)
    expect([answer.status, String(answer.body.message)]).toEqual([422, expect.stringContaining(reason)])
    expect((await get(org, admin)).body.issuer).toBeNull()
  })

  it('refuses teams of other organizations and teams that do not exist', async () => {
    const [ours, theirs] = [await anAdministered(), await anAdministered()]
    const foreign = await aTeam(app, theirs.org, theirs.admin)
    for (const id of [foreign.id, newId()]) {
      const group_teams = [{ group: 'developers', team_id: id }]
      expect((await put(ours.org, ours.admin, { ...provider, group_teams })).status).toBe(422)
    }
  })

  it('does not send the stored secret to another issuer', async () => {
    const { org, admin } = await anAdministered()
    await put(org, admin, provider)
    const answer = await put(org, admin, { issuer: 'https://evil.example.com' })
    expect([answer.status, answer.body.message]).toEqual([
      422,
      'Validation failed: client_secret is required when issuer changes',
    ])
  })

  it('refuses an issuer without TLS where the server itself has TLS', async () => {
    const secure = await startApp({ env: { MILLRACE_URL: 'https://ci.example.com' } }, app.database)
    try {
      const { org, admin } = await anAdministered()
      const body = { ...provider, issuer: 'http://login.example.com' }
      const answer = await secure.request('PUT', `${org.path}/sso`, { token: admin.token, body })
      expect(answer.status).toBe(422)
    } finally {
      await secure.close()
    }
  })

  it('loses the mapping of a team that is deleted', async () => {
    const { org, admin } = await anAdministered()
    const team = await aTeam(app, org, admin)
    await put(org, admin, { ...provider, group_teams: [{ group: 'a', team_id: team.id }] })
    await app.request('DELETE', team.path, { token: admin.token })
    expect((await get(org, admin)).body.group_teams).toEqual([])
  })

  it('answers 403 to members who are not administrators and to tokens without the scope', async () => {
    const { org, admin } = await anAdministered()
    expect((await put(org, await aMember(app, org), provider)).status).toBe(403)
    const token = await aToken(app, admin, { scopes: ['read_organization_settings'] })
    expect((await put(org, { token }, provider)).status).toBe(403)
  })
})

describe('DELETE /v2/organizations/{org.slug}/sso', () => {
  it('deletes the settings, keeps the team memberships that groups gave, and records the event', async () => {
    const { org, admin } = await anAdministered()
    const [team, member] = [await aTeam(app, org, admin), await aMember(app, org)]
    await put(org, admin, provider)
    await inTeam(app, team, admin, member)
    await app.db.updateTable('team_members').set({ source: 'sso' }).where('user_id', '=', member.id).execute()
    expect((await remove(org, admin)).status).toBe(204)
    expect((await get(org, admin)).body.issuer).toBeNull()
    const rows = await app.db
      .selectFrom('team_members')
      .select('source')
      .where('user_id', '=', member.id)
      .execute()
    expect(rows).toEqual([{ source: 'manual' }])
    expect(await auditTrail(app, org, 'SSO_PROVIDER_DELETED')).toHaveLength(1)
    expect((await remove(org, admin)).status).toBe(404)
  })

  it('answers 403 to members who are not administrators', async () => {
    const { org, admin } = await anAdministered()
    await put(org, admin, provider)
    expect((await remove(org, await aMember(app, org))).status).toBe(403)
  })
})

describe('millrace sso disable', () => {
  it('disables single sign-on, once, and records the event', async () => {
    const { org, admin } = await anAdministered()
    await put(org, admin, { ...provider, sso_required: true })
    for (const _ of [1, 2]) await disableSso(app.db, operator, org.slug)
    expect((await get(org, admin)).body).toMatchObject({ enabled: false, sso_required: true })
    expect(await auditTrail(app, org, 'SSO_PROVIDER_DISABLED')).toMatchObject([{ actor: null }])
  })

  it('refuses an unknown organization and one without single sign-on', async () => {
    const { org } = await anAdministered()
    for (const slug of ['nowhere', org.slug]) {
      await expect(disableSso(app.db, operator, slug)).rejects.toThrow(/no organization|no single/)
    }
  })
})
