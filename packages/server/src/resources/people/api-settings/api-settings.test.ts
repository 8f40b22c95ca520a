import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aToken,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { flushTokenCaches } from '../../../auth/access-watch.ts'
import { updateAllowedRanges } from './update.ts'

const app = useApp({ env: { MILLRACE_TRUSTED_PROXIES: '127.0.0.1' } })

async function anAdministered() {
  const org = await anOrganization(app)
  return { org, admin: await anAdmin(app, org) }
}

const get = (org: TestOrganization, { token }: { token: string }) =>
  app.request('GET', `${org.path}/api-settings`, { token })

const patch = (org: TestOrganization, { token }: { token: string }, body: unknown, from = '192.0.2.7') =>
  app.request('PATCH', `${org.path}/api-settings`, { token, body, headers: { 'X-Forwarded-For': from } })

const auditedData = async (org: TestOrganization, admin: TestUser) =>
  (await app.request('GET', `${org.path}/audit_events`, { token: admin.token })).list
    .filter(({ type }) => String(type) === 'OrganizationSecuritySettingsUpdatedEvent')
    .map(({ data }) => data)

describe('GET /v2/organizations/{org.slug}/api-settings', () => {
  it('answers with every field', async () => {
    const { org, admin } = await anAdministered()
    const answer = await get(org, admin)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      url: `${baseUrl}${org.path}/api-settings`,
      allowed_ip_addresses: null,
      revoke_inactive_tokens_after_days: null,
      restrict_user_api_token_creation: false,
      features: { api_ip_allow_list: true, inactive_api_token_revocation: true },
    })
  })

  it('answers 403 to members who are not administrators and to tokens without the scope', async () => {
    const { org, admin } = await anAdministered()
    expect((await get(org, await aMember(app, org))).body).toEqual({ message: 'Forbidden' })
    const token = await aToken(app, admin, { scopes: ['write_organization_settings'] })
    const answer = await get(org, { token })
    expect(answer.status).toBe(403)
    expect(answer.body.message).toBe("Your access token doesn't have the read_organization_settings scope")
  })
})

describe('PATCH /v2/organizations/{org.slug}/api-settings', () => {
  it('changes what is given, keeps the rest, and records the change', async () => {
    const { org, admin } = await anAdministered()
    const first = await patch(org, admin, { revoke_inactive_tokens_after_days: 90 })
    expect(first.status).toBe(200)
    const second = await patch(org, admin, {
      restrict_user_api_token_creation: true,
      unknown: 'ignored',
      features: { api_ip_allow_list: false },
    })
    expect(second.body).toEqual({
      ...first.body,
      revoke_inactive_tokens_after_days: 90,
      restrict_user_api_token_creation: true,
    })
    expect((await get(org, admin)).body).toEqual(second.body)
    expect(await auditedData(org, admin)).toEqual([
      { restrict_user_api_token_creation: true, previous: { restrict_user_api_token_creation: false } },
      { revoke_inactive_tokens_after_days: 90, previous: { revoke_inactive_tokens_after_days: null } },
    ])
  })

  it('is reached by PUT as well', async () => {
    const { org, admin } = await anAdministered()
    const answer = await app.request('PUT', `${org.path}/api-settings`, {
      token: admin.token,
      body: { revoke_inactive_tokens_after_days: 365 },
    })
    expect(answer.body.revoke_inactive_tokens_after_days).toBe(365)
  })

  it('records nothing when nothing changes', async () => {
    const { org, admin } = await anAdministered()
    expect((await patch(org, admin, {})).status).toBe(200)
    expect((await patch(org, admin, { allowed_ip_addresses: ' ' })).status).toBe(200)
    expect(await auditedData(org, admin)).toEqual([])
  })

  it("refuses ranges that lack the caller's own address, unless forced (abuse case H5)", async () => {
    const { org, admin } = await anAdministered()
    for (const force of [undefined, false]) {
      const answer = await patch(org, admin, { allowed_ip_addresses: '10.0.0.0/8', force }, '192.0.2.1')
      expect([answer.status, answer.body]).toEqual([
        422,
        {
          message:
            'Validation failed: allowed_ip_addresses lacks your own address 192.0.2.1, so you would be locked out; ' +
            'send "force": true to do it all the same',
        },
      ])
    }
    expect((await get(org, admin)).body.allowed_ip_addresses).toBeNull()
    const own = await patch(org, admin, { allowed_ip_addresses: '192.0.2.1' }, '192.0.2.1')
    expect(own.status).toBe(200)
  })

  it('lets the operator change the ranges without an allowed address', async () => {
    const { org, admin } = await anAdministered()
    await patch(org, admin, { allowed_ip_addresses: '10.0.0.0/8', force: true })
    expect((await get(org, admin)).status).toBe(403)
    const operator = { kind: 'operator', command: 'org set' } as const
    expect(await updateAllowedRanges(app.db, operator, org.slug, '10.0.0.0/8  127.0.0.1')).toBe(
      '10.0.0.0/8 127.0.0.1',
    )
    await flushTokenCaches(app.db)
    expect((await get(org, admin)).status).toBe(200)
    expect(await updateAllowedRanges(app.db, operator, org.slug, null)).toBeNull()
    await expect(updateAllowedRanges(app.db, operator, org.slug, 'localhost')).rejects.toThrow('"localhost"')
    await expect(updateAllowedRanges(app.db, operator, 'nobody', null)).rejects.toThrow(
      'no organization "nobody"',
    )
  })

  it('allows addresses from the next request on, and locks the caller out where forced', async () => {
    const { org, admin } = await anAdministered()
    const answer = await patch(org, admin, {
      allowed_ip_addresses: ' 192.0.2.0/24\n2001:db8::/32 ',
      force: true,
    })
    expect(answer.body.allowed_ip_addresses).toBe('192.0.2.0/24 2001:db8::/32')
    for (const [from, status] of [
      ['192.0.2.1', 200],
      ['2001:db8::1', 200],
      ['192.0.3.1', 403],
      ['2001:db9::1', 403],
    ] as const) {
      expect((await patch(org, admin, {}, from)).status).toBe(status)
    }
    const outside = await get(org, admin)
    expect(outside.body).toEqual({ message: 'The organization does not allow API requests from 127.0.0.1' })

    const lockedOut = await patch(org, admin, { allowed_ip_addresses: '198.51.100.1', force: true })
    expect(lockedOut.status).toBe(200)
    expect((await patch(org, admin, { allowed_ip_addresses: null })).status).toBe(403)
  })

  it.each([null, '', '   '])('removes the allow list with %j', async (cleared) => {
    const { org, admin } = await anAdministered()
    await patch(org, admin, { allowed_ip_addresses: '192.0.2.7', force: true })
    const answer = await patch(org, admin, { allowed_ip_addresses: cleared })
    expect(answer.body.allowed_ip_addresses).toBeNull()
    expect((await get(org, admin)).status).toBe(200)
  })

  it.each([
    [
      { allowed_ip_addresses: '10.0.0.0/8 10.0.0.0/33' },
      'allowed_ip_addresses has "10.0.0.0/33", which is not an address range such as 192.0.2.0/24',
    ],
    [
      { allowed_ip_addresses: 'localhost' },
      'allowed_ip_addresses has "localhost", which is not an address range such as 192.0.2.0/24',
    ],
    [{ allowed_ip_addresses: '10.0.0.1 '.repeat(101) }, 'allowed_ip_addresses must have at most 100 ranges'],
    [{ allowed_ip_addresses: 10 }, 'allowed_ip_addresses must be a string or null'],
    [
      { revoke_inactive_tokens_after_days: 31 },
      'revoke_inactive_tokens_after_days must be 30, 60, 90, 180, 365 or null',
    ],
    [
      { revoke_inactive_tokens_after_days: '30' },
      'revoke_inactive_tokens_after_days must be 30, 60, 90, 180, 365 or null',
    ],
    [{ restrict_user_api_token_creation: 'yes' }, 'restrict_user_api_token_creation must be a boolean'],
  ])('answers 422 to %j', async (body, reason) => {
    const { org, admin } = await anAdministered()
    const answer = await patch(org, admin, { restrict_user_api_token_creation: true, ...body })
    expect(answer.status).toBe(422)
    expect(answer.body).toEqual({ message: `Validation failed: ${reason}` })
    expect((await get(org, admin)).body.restrict_user_api_token_creation).toBe(false)
  })

  it('answers 403 to members who are not administrators and to tokens without the scope', async () => {
    const { org, admin } = await anAdministered()
    const body = { restrict_user_api_token_creation: true }
    expect((await patch(org, await aMember(app, org), body)).body).toEqual({ message: 'Forbidden' })
    const token = await aToken(app, admin, { scopes: ['read_organization_settings'] })
    const answer = await patch(org, { token }, body)
    expect(answer.status).toBe(403)
    expect(answer.body.message).toBe("Your access token doesn't have the write_organization_settings scope")
    expect((await get(org, admin)).body.restrict_user_api_token_creation).toBe(false)
  })

  it('keeps both of two changes made at once', async () => {
    const { org, admin } = await anAdministered()
    await Promise.all([
      patch(org, admin, { revoke_inactive_tokens_after_days: 60 }),
      patch(org, admin, { restrict_user_api_token_creation: true }),
      patch(org, admin, { allowed_ip_addresses: '0.0.0.0/0 ::/0' }),
    ])
    expect((await get(org, admin)).body).toMatchObject({
      allowed_ip_addresses: '0.0.0.0/0 ::/0',
      revoke_inactive_tokens_after_days: 60,
      restrict_user_api_token_creation: true,
    })
    expect(await auditedData(org, admin)).toHaveLength(3)
  })
})
