import { describe, expect, it } from 'vitest'
import { baseUrl, useApp, type Json, type TestApp } from '../../../test/app.ts'
import { aBrowser, type Browser } from '../../../test/browser.ts'
import { aMember, anAdmin, anOrganization, aToken, type TestUser } from '../../../test/builders.ts'
import { aSession } from '../../../test/sessions.ts'
import { sql } from 'kysely'
import { hashToken } from '../../lib/ids.ts'
import { decideDevice } from './devices.ts'

const app: TestApp = useApp()
const grantType = 'urn:ietf:params:oauth:grant-type:device_code'

async function post(path: string, fields: Record<string, string>): Promise<{ status: number; body: Json }> {
  const response = await fetch(app.address + path, { method: 'POST', body: new URLSearchParams(fields) })
  expect(response.headers.get('cache-control')).toBe('no-store')
  return { status: response.status, body: (await response.json()) as Json }
}

async function aClient(): Promise<string> {
  const { status, body } = await app.request('POST', '/-/oauth/register', {
    body: { client_name: 'Robot', grant_types: [grantType] },
  })
  expect(status).toBe(201)
  return String(body['client_id'])
}

interface Device {
  clientId: string
  deviceCode: string
  userCode: string
}

async function aDevice(scope = 'read_builds read_organizations', clientId?: string): Promise<Device> {
  const client = clientId ?? (await aClient())
  const { status, body } = await post('/-/oauth/device_authorization', { client_id: client, scope })
  expect(status).toBe(200)
  return {
    clientId: client,
    deviceCode: String(body['device_code']),
    userCode: String(body['user_code']),
  }
}

const poll = ({ clientId, deviceCode }: Device, changes: Record<string, string> = {}) =>
  post('/-/oauth/token', {
    grant_type: grantType,
    client_id: clientId,
    device_code: deviceCode,
    ...changes,
  })

/** As if the program had waited for its interval. */
const waited = ({ deviceCode }: Device) =>
  sql`update oauth_devices set polled_at = null where device_hash = ${hashToken(deviceCode)}`.execute(app.db)

async function signedIn(user: TestUser): Promise<Browser> {
  const browser = aBrowser(app)
  browser.use(await aSession(app, user))
  return browser
}

async function enter(browser: Browser, code: string) {
  expect((await browser.get('/-/device')).status).toBe(200)
  return browser.submit('/-/device', { user_code: code })
}

async function decide(browser: Browser, { userCode }: Device, fields: Record<string, string>) {
  expect((await enter(browser, userCode)).status).toBe(200)
  return browser.submit('/-/device', fields)
}

const aPerson = async () => anAdmin(app, await anOrganization(app))

describe('POST /-/oauth/device_authorization', () => {
  it('gives a code for the program, and a short one for the person', async () => {
    const clientId = await aClient()
    const { body } = await post('/-/oauth/device_authorization', {
      client_id: clientId,
      scope: 'read_builds',
    })
    const code = String(body['user_code'])
    expect(body).toEqual({
      device_code: expect.stringMatching(/^mrod_\w{40}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${baseUrl}/-/device`,
      verification_uri_complete: `${baseUrl}/-/device?user_code=${code}`,
      expires_in: 600,
      interval: 5,
    })
    const row = await app.db
      .selectFrom('oauth_devices')
      .selectAll()
      .where('device_hash', '=', hashToken(String(body['device_code'])))
      .executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain(code.replace('-', ''))
    expect(row.user_code_hash.equals(hashToken(code.replace('-', '')))).toBe(false)
  })

  it('is named by the metadata, and is where programs made for Buildkite look for it', async () => {
    const { body } = await app.request('GET', '/.well-known/oauth-authorization-server')
    expect(body).toMatchObject({
      device_authorization_endpoint: `${baseUrl}/-/oauth/device_authorization`,
      grant_types_supported: expect.arrayContaining([grantType]),
    })
    const asked = { client_id: '5214b230f06b48938ab5', scope: 'read_builds read_portals' }
    const { status, body: given } = await post('/oauth/device_authorization', asked)
    expect(status).toBe(200)
    const polled = await post('/oauth/token', {
      grant_type: grantType,
      client_id: asked.client_id,
      device_code: String(given['device_code']),
    })
    expect(polled).toMatchObject({ status: 400, body: { error: 'authorization_pending' } })
  })

  it('refuses clients that it has not registered, and programs that name no scope', async () => {
    expect(
      await post('/-/oauth/device_authorization', { client_id: 'x.y', scope: 'read_builds' }),
    ).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    for (const scope of ['', 'openid', 'write_user'])
      expect(
        await post('/-/oauth/device_authorization', { client_id: await aClient(), scope }),
      ).toMatchObject({ status: 400, body: { error: 'invalid_scope' } })
  })
})

describe('GET /-/device', () => {
  it('asks a person to sign in first, and comes back', async () => {
    const page = '/-/device?user_code=BCDF-GHJK'
    const { status, location } = await aBrowser(app).get(page)
    expect([status, location]).toEqual([303, `/sign-in?next=${encodeURIComponent(page)}`])
  })

  it('fills in the code of the link, but decides nothing', async () => {
    const device = await aDevice()
    const { text } = await (await signedIn(await aPerson())).get(`/-/device?user_code=${device.userCode}`)
    expect(text).toContain(`value="${device.userCode}"`)
    expect(text).not.toContain('Allow')
    expect((await poll(device)).body).toMatchObject({ error: 'authorization_pending' })
  })

  it('shows whatever a link contains as text', async () => {
    const { text } = await (await signedIn(await aPerson())).get('/-/device?user_code="><script>x')
    expect(text).not.toContain('<script>x')
  })

  it('is not for a session whose token may not create tokens', async () => {
    const browser = aBrowser(app)
    await browser.signIn(await aToken(app, await aPerson(), { scopes: ['read_builds'] }))
    expect((await browser.get('/-/device')).status).toBe(403)
  })
})

describe('POST /-/device', () => {
  it('shows who asks, for what, with which code, and gives a token once', async () => {
    const org = await anOrganization(app)
    const person = await anAdmin(app, org)
    const device = await aDevice()
    const browser = await signedIn(person)
    const typed = ` ${device.userCode.toLowerCase().replace('-', ' ')}`
    const { text } = await enter(browser, typed)
    expect(text).toContain('Allow Robot?')
    expect(text).toContain(device.userCode)
    expect(text).toContain('127.0.0.1')
    expect(text).toContain('<strong>See:</strong> builds, organizations.')
    expect((await poll(device)).body).toMatchObject({ error: 'authorization_pending' })
    const { text: after } = await browser.submit('/-/device', { choice: 'allow' })
    expect(after).toContain('Robot is connected')
    const { status, body } = await poll(device)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      access_token: expect.stringMatching(/^mrt_\w{40}$/),
      token_type: 'Bearer',
      scope: 'read_builds read_organizations',
    })
    const token = String(body['access_token'])
    expect((await app.request('GET', `${org.path}/builds`, { token })).status).toBe(200)
    expect((await poll(device)).body).toMatchObject({ error: 'invalid_grant' })
    expect((await enter(browser, device.userCode)).status).toBe(422)
  })

  it('tells the program that the person denies', async () => {
    const device = await aDevice()
    const { text } = await decide(await signedIn(await aPerson()), device, { choice: 'deny' })
    expect(text).toContain('gets nothing')
    expect((await poll(device)).body).toMatchObject({ error: 'access_denied' })
    expect((await poll(device)).body).toMatchObject({ error: 'invalid_grant' })
  })

  it('accepts only the form of the page', async () => {
    const device = await aDevice()
    const browser = await signedIn(await aPerson())
    const fields = { user_code: device.userCode, choice: 'allow' }
    const made = await browser.post('/-/device', fields, { Origin: baseUrl })
    expect(made.status).toBe(403)
    await browser.get('/-/device')
    const foreign = await browser.submit('/-/device', fields, {
      Origin: 'https://evil.example',
      'Sec-Fetch-Site': 'cross-site',
    })
    expect(foreign.status).toBe(403)
    expect((await poll(device)).body).toMatchObject({ error: 'authorization_pending' })
  })

  it('stops a person who guesses codes, also before a right one', async () => {
    const browser = await signedIn(await aPerson())
    const device = await aDevice()
    for (let guess = 0; guess < 10; guess++) expect((await enter(browser, 'BCDF-GHJK')).status).toBe(422)
    expect((await enter(browser, device.userCode)).status).toBe(429)
    expect((await decide(await signedIn(await aPerson()), device, { choice: 'deny' })).status).toBe(200)
  })

  it('gives a program of another organization no more than the person who entered its code has', async () => {
    const [one, two] = [await anOrganization(app), await anOrganization(app)]
    const thief = await aMember(app, two)
    const device = await aDevice()
    const browser = await signedIn(thief)
    const refused = await decide(browser, device, { choice: 'allow', organization: one.slug })
    expect(refused.status).toBe(422)
    expect((await poll(device)).body).toMatchObject({ error: 'authorization_pending' })
    await decide(browser, device, { choice: 'allow' })
    await waited(device)
    const token = String((await poll(device)).body['access_token'])
    expect((await app.request('GET', `${one.path}/builds`, { token })).status).toBe(404)
    expect((await app.request('GET', `${two.path}/builds`, { token })).status).toBe(200)
  })

  it('counts the first of two decisions', async () => {
    const [first, second] = [await aPerson(), await aPerson()]
    const device = await aDevice()
    const [one, two] = [await signedIn(first), await signedIn(second)]
    await enter(one, device.userCode)
    await enter(two, device.userCode)
    expect((await one.submit('/-/device', { choice: 'deny' })).status).toBe(200)
    expect((await two.submit('/-/device', { choice: 'allow' })).status).toBe(422)
    const hash = { device_hash: hashToken(device.deviceCode) }
    expect(await decideDevice(app.db, hash, { userId: second.id, tokenRequest: null })).toBe(false)
    expect((await poll(device)).body).toMatchObject({ error: 'access_denied' })
  })
})

describe('POST /-/oauth/token with the code of a device', () => {
  it('asks a program that polls too fast to slow down', async () => {
    const device = await aDevice()
    expect((await poll(device)).body).toMatchObject({ error: 'authorization_pending' })
    expect((await poll(device)).body).toMatchObject({ error: 'slow_down' })
    await waited(device)
    expect((await poll(device)).body).toMatchObject({ error: 'authorization_pending' })
  })

  it('is only for the client that asked', async () => {
    const device = await aDevice()
    await decide(await signedIn(await aPerson()), device, { choice: 'allow' })
    const { body } = await app.request('POST', '/-/oauth/register', {
      body: { client_name: 'Other', grant_types: [grantType] },
    })
    const other = await poll(device, { client_id: String(body['client_id']) })
    expect(other.body).toMatchObject({ error: 'invalid_grant' })
    expect((await poll(device)).status).toBe(200)
  })

  it('says that a code has expired, also when somebody has allowed it', async () => {
    const person = await aPerson()
    for (const isAllowed of [false, true]) {
      const device = await aDevice()
      const browser = await signedIn(person)
      if (isAllowed) await decide(browser, device, { choice: 'allow' })
      await sql`
        update oauth_devices set expires_at = ${app.ctx.now().toISOString()}
        where device_hash = ${hashToken(device.deviceCode)}`.execute(app.db)
      expect((await poll(device)).body).toMatchObject({ error: 'expired_token' })
    }
  })

  it('takes no decision after the end', async () => {
    const device = await aDevice()
    await sql`
      update oauth_devices set expires_at = ${app.ctx.now().toISOString()}
      where device_hash = ${hashToken(device.deviceCode)}`.execute(app.db)
    expect((await enter(await signedIn(await aPerson()), device.userCode)).status).toBe(422)
  })

  it('gives one token, when it is asked many times at once', async () => {
    const device = await aDevice()
    await decide(await signedIn(await aPerson()), device, { choice: 'allow' })
    const answers = await Promise.all(Array.from({ length: 8 }, () => poll(device)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  it('gives nothing for an organization that the person has left meanwhile', async () => {
    const [one, two] = [await anOrganization(app), await anOrganization(app)]
    const person = await aMember(app, one)
    await app.db
      .insertInto('organization_members')
      .values({ organization_id: two.id, user_id: person.id, role: 'member' })
      .execute()
    const device = await aDevice()
    await decide(await signedIn(person), device, { choice: 'allow', organization: one.slug })
    await app.db
      .deleteFrom('organization_members')
      .where('organization_id', '=', one.id)
      .where('user_id', '=', person.id)
      .execute()
    expect((await poll(device)).body).toMatchObject({ error: 'invalid_grant' })
  })
})
