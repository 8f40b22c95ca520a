import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { baseUrl, useApp, type Json } from '../../../test/app.ts'
import { aBrowser, type Browser } from '../../../test/browser.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aToken,
  auditTrail,
  type TestUser,
} from '../../../test/builders.ts'
import { aSession } from '../../../test/sessions.ts'
import { hashToken } from '../../lib/ids.ts'

const app = useApp()
const callback = 'http://127.0.0.1/callback'

interface Program {
  client_id: string
  verifier: string
  /** The path of the page that asks the person. */
  page(changes?: Record<string, string | null>): string
}

async function aProgram(metadata: Record<string, unknown> = {}): Promise<Program> {
  const { status, body } = await app.request('POST', '/-/oauth/register', {
    body: { client_name: 'Robot', redirect_uris: [callback], ...metadata },
  })
  expect(status).toBe(201)
  const verifier = randomBytes(32).toString('base64url')
  const client_id = String(body['client_id'])
  return {
    client_id,
    verifier,
    page(changes = {}) {
      const query = {
        response_type: 'code',
        client_id,
        redirect_uri: 'http://127.0.0.1:5000/callback',
        scope: 'read_builds write_builds',
        state: `"s" & 't'`,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        ...changes,
      }
      const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== null)
      return `/-/oauth/authorize?${new URLSearchParams(given)}`
    },
  }
}

async function signedIn(user: TestUser): Promise<Browser> {
  const browser = aBrowser(app)
  browser.use(await aSession(app, user))
  return browser
}

const aPerson = async () => anAdmin(app, await anOrganization(app))

async function decide(browser: Browser, page: string, fields: Record<string, string>): Promise<URL> {
  expect((await browser.get(page)).status).toBe(200)
  const { status, location } = await browser.submit('/-/oauth/authorize', fields)
  expect([status, location]).toEqual([303, expect.stringMatching(/^[a-z]+:/)])
  return new URL(String(location))
}

async function codeFor(program: Program, user: TestUser, page = program.page()): Promise<string> {
  const to = await decide(await signedIn(user), page, { choice: 'allow' })
  return to.searchParams.get('code') ?? ''
}

async function exchange(
  program: Program,
  changes: Record<string, string>,
): Promise<{ status: number; body: Json }> {
  const form = {
    grant_type: 'authorization_code',
    client_id: program.client_id,
    redirect_uri: 'http://127.0.0.1:5000/callback',
    code_verifier: program.verifier,
    ...changes,
  }
  const response = await fetch(`${app.address}/-/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  return { status: response.status, body: (await response.json()) as Json }
}

describe('GET /.well-known/oauth-authorization-server', () => {
  it('says where programs register, ask and exchange', async () => {
    const { status, body } = await app.request('GET', '/.well-known/oauth-authorization-server')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      issuer: baseUrl,
      authorization_endpoint: `${baseUrl}/-/oauth/authorize`,
      token_endpoint: `${baseUrl}/-/oauth/token`,
      registration_endpoint: `${baseUrl}/-/oauth/register`,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    })
  })
})

describe('POST /-/oauth/register', () => {
  const register = (body: Record<string, unknown>) => app.request('POST', '/-/oauth/register', { body })

  it.each([
    'https://app.example/cb?x=1',
    'http://localhost:33418/',
    'http://[::1]/cb',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'com.example.app:/oauth',
  ])('accepts %s', async (uri) => {
    const { status, body } = await register({ redirect_uris: [uri], grant_types: ['refresh_token'] })
    expect(status).toBe(201)
    expect(body).toMatchObject({ redirect_uris: [uri], token_endpoint_auth_method: 'none' })
    expect(body).toMatchObject({
      grant_types: ['authorization_code', 'refresh_token'],
      client_name: 'A program without a name',
    })
  })

  it('shows a name without characters that change how it looks', async () => {
    const { body } = await register({ redirect_uris: [callback], client_name: ' a\u202eb\n ' })
    expect(body['client_name']).toBe('a b')
  })

  it.each([
    'http://app.example/cb',
    'http://127.0.0.1.evil.example/',
    'https://app.example/#part',
    'https://user@app.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://app.example/ü',
    'https://app.example/\r\nX: y',
    'callback',
  ])('refuses %s', async (uri) => {
    const { status, body } = await register({ redirect_uris: ['https://app.example/', uri] })
    expect([status, body['error']]).toEqual([400, 'invalid_redirect_uri'])
    expect(body['error_description']).toBe(body.message)
  })

  it.each([
    {},
    { redirect_uris: [] },
    { redirect_uris: 'x' },
    { redirect_uris: ['https://a.example/'], client_name: 'x'.repeat(201) },
  ])('refuses %j', async (given) => {
    const { status, body } = await register(given)
    expect([status, body['error']]).toEqual([400, 'invalid_client_metadata'])
  })
})

describe('GET /-/oauth/authorize', () => {
  it('asks a person to sign in first, and comes back', async () => {
    const page = (await aProgram()).page()
    const { status, location } = await aBrowser(app).get(page)
    expect([status, location]).toEqual([303, `/sign-in?next=${encodeURIComponent(page)}`])
  })

  it('is found by programs made for Buildkite, which do not register', async () => {
    const page = (await aProgram()).page({ client_id: '5214b230f06b48938ab5', organization: 'acme' })
    const browser = await signedIn(await aPerson())
    const { status, location } = await browser.get(page.replace('/-/oauth', '/oauth'))
    expect([status, location?.split('?')[0]]).toEqual([303, '/-/oauth/authorize'])
    const { text } = await browser.get(String(location))
    expect(text).toContain('Allow bk?')
  })

  it('shows who asks, for what, as whom, and where the answer goes', async () => {
    const person = await aPerson()
    const program = await aProgram({ client_name: '<b>Robot</b>' })
    const { text, headers } = await (await signedIn(person)).get(program.page())
    expect(text).toContain('Allow &#60;b&#62;Robot&#60;/b&#62;?')
    expect(text).toContain(person.email)
    expect(text).toContain('a program on your machine')
    expect(text).toContain('<strong>See:</strong> builds.')
    expect(text).toContain('<strong>Change:</strong> builds.')
    expect(headers.get('content-security-policy')).toContain("form-action 'self' http://127.0.0.1:5000;")
    expect(headers.get('x-frame-options')).toBe('DENY')
  })

  it.each([
    ['an unknown client', { client_id: 'x.y' }, 'not registered here'],
    ['no client', { client_id: null }, 'not registered here'],
    ['an address of others', { redirect_uri: 'https://evil.example/cb' }, 'has not registered the address'],
    ['another path', { redirect_uri: 'http://127.0.0.1:5000/other' }, 'has not registered the address'],
    ['another host', { redirect_uri: 'http://localhost:5000/callback' }, 'has not registered the address'],
    ['a path instead of a URL', { redirect_uri: '/callback' }, 'has not registered the address'],
    ['no challenge', { code_challenge: null }, 'no valid code_challenge'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'code_challenge_method=S256'],
    ['another response', { response_type: 'token' }, 'response_type=code'],
    ['no scope', { scope: null }, 'names no scope'],
    ['unknown scopes', { scope: 'openid offline_access' }, 'names no scope'],
    ['the scope that makes tokens', { scope: 'write_user' }, 'names no scope'],
    ['another resource', { resource: 'https://other.example/mcp' }, 'not this server'],
  ])('refuses %s, and leads nowhere', async (_, changes, message) => {
    const program = await aProgram()
    const { status, text, location } = await (await signedIn(await aPerson())).get(program.page(changes))
    expect([status, location]).toEqual([400, null])
    expect(text).toContain(message)
  })

  it('refuses a client id that was changed', async () => {
    const { client_id: id, page } = await aProgram()
    const [content = '', code = ''] = id.split('.')
    const client = Buffer.from(content, 'base64url').toString().replace('Robot', 'Bank!')
    const forged = `${Buffer.from(client).toString('base64url')}.${code}`
    const { status } = await (await signedIn(await aPerson())).get(page({ client_id: forged }))
    expect(status).toBe(400)
  })
})

describe('POST /-/oauth/authorize', () => {
  it('sends a code with the state, and the code becomes a token once', async () => {
    const org = await anOrganization(app)
    const person = await anAdmin(app, org)
    const program = await aProgram()
    const to = await decide(await signedIn(person), program.page({ scope: 'read_builds offline_access' }), {
      choice: 'allow',
    })
    expect(to.origin + to.pathname).toBe('http://127.0.0.1:5000/callback')
    expect(to.searchParams.get('state')).toBe(`"s" & 't'`)
    expect(to.searchParams.get('iss')).toBe(baseUrl)
    const code = to.searchParams.get('code') ?? ''
    const { status, body } = await exchange(program, { code })
    expect(status).toBe(200)
    expect(body).toEqual({
      access_token: expect.stringMatching(/^mrt_\w{40}$/),
      token_type: 'Bearer',
      expires_in: expect.any(Number),
      scope: 'read_builds',
    })
    expect(Number(body['expires_in'])).toBeGreaterThan(89 * 86_400)
    const token = String(body['access_token'])
    const own = await app.request('GET', '/v2/access-token', { token })
    expect(own.body).toMatchObject({ scopes: ['read_builds'], description: 'Robot' })
    expect((await app.request('GET', `${org.path}/builds`, { token })).status).toBe(200)
    expect((await exchange(program, { code })).body).toMatchObject({ error: 'invalid_grant' })
    const events = await auditTrail(app, org, 'API_ACCESS_TOKEN_CREATED')
    expect(events).toContainEqual(
      expect.objectContaining({
        actor: expect.objectContaining({ uuid: person.id }),
        subject: expect.objectContaining({ name: 'Robot' }),
      }),
    )
  })

  it('sends no code when the person denies', async () => {
    const program = await aProgram({ redirect_uris: ['https://app.example/cb?keep=1'] })
    const page = program.page({ redirect_uri: 'https://app.example/cb?keep=1', state: 'x' })
    const to = await decide(await signedIn(await aPerson()), page, { choice: 'deny' })
    expect(to.href).toBe(
      `https://app.example/cb?keep=1&error=access_denied&state=x&iss=${encodeURIComponent(baseUrl)}`,
    )
  })

  it('accepts only the form of the page', async () => {
    const program = await aProgram()
    const browser = await signedIn(await aPerson())
    const fields = Object.fromEntries(new URL(program.page(), baseUrl).searchParams)
    const made = await browser.post('/-/oauth/authorize', { ...fields, choice: 'allow' }, { Origin: baseUrl })
    expect([made.status, made.location]).toEqual([403, null])
  })

  it('gives no more than the token that opened the session', async () => {
    const [one, two] = [await anOrganization(app), await anOrganization(app)]
    const person = await anAdmin(app, one)
    await app.db
      .insertInto('organization_members')
      .values({ organization_id: two.id, user_id: person.id, role: 'admin' })
      .execute()
    const soon = new Date(Date.now() + 3_600_000).toISOString()
    const narrow = await aToken(app, person, {
      scopes: ['write_user', 'read_builds'],
      organizations: [one],
      expiresAt: soon,
      allowedIpAddresses: '127.0.0.0/8',
    })
    const browser = aBrowser(app)
    await browser.signIn(narrow)
    const program = await aProgram()
    const code = (await decide(browser, program.page(), { choice: 'allow' })).searchParams.get('code') ?? ''
    const { body } = await exchange(program, { code })
    expect(body['scope']).toBe('read_builds')
    const token = String(body['access_token'])
    const { body: own } = await app.request('GET', '/v2/access-token', { token })
    expect(own['expires_at']).toBe(soon)
    expect((await app.request('GET', `${one.path}/builds`, { token })).status).toBe(200)
    expect((await app.request('GET', `${two.path}/builds`, { token })).status).toBe(404)
    const { allowed_ip_addresses: ranges } = await app.db
      .selectFrom('api_access_tokens')
      .select('allowed_ip_addresses')
      .where('token_hash', '=', hashToken(token))
      .executeTakeFirstOrThrow()
    expect(ranges).toBe('127.0.0.0/8')
    const { status, text } = await browser.get(program.page({ scope: 'write_pipelines' }))
    expect([status, text.includes('none of these')]).toEqual([403, true])
  })

  it('is not for a session whose token may not create tokens', async () => {
    const person = await aPerson()
    const browser = aBrowser(app)
    await browser.signIn(await aToken(app, person, { scopes: ['read_builds'] }))
    expect((await browser.get((await aProgram()).page())).status).toBe(403)
  })

  it('offers the organizations that let the person create tokens', async () => {
    const [open, closed] = [await anOrganization(app), await anOrganization(app)]
    const person = await aMember(app, open)
    await app.db
      .insertInto('organization_members')
      .values({ organization_id: closed.id, user_id: person.id, role: 'member' })
      .execute()
    const program = await aProgram()
    const browser = await signedIn(person)
    const all = await browser.get(program.page())
    expect([...all.text.matchAll(/<option value="([^"]*)"/g)].map(([, value]) => value)).toEqual([
      '*',
      ...[open.slug, closed.slug].toSorted(),
    ])
    await app.db
      .updateTable('organizations')
      .set({ restrict_user_api_token_creation: true })
      .where('id', '=', closed.id)
      .execute()
    const some = await browser.get(program.page())
    expect([...some.text.matchAll(/<option value="([^"]*)"/g)].map(([, value]) => value)).toEqual([open.slug])
    expect((await browser.submit('/-/oauth/authorize', { choice: 'allow', organization: '*' })).status).toBe(
      403,
    )
    const to = await decide(browser, program.page(), { choice: 'allow', organization: open.slug })
    const { body } = await exchange(program, { code: to.searchParams.get('code') ?? '' })
    const token = String(body['access_token'])
    expect((await app.request('GET', `${open.path}/builds`, { token })).status).toBe(200)
    expect((await app.request('GET', `${closed.path}/builds`, { token })).status).toBe(404)
  })
})

describe('POST /-/oauth/token', () => {
  it('refuses a wrong verifier, client or address, and the code is used up', async () => {
    const person = await aPerson()
    const [program, other] = [await aProgram(), await aProgram({ client_name: 'Other' })]
    for (const wrong of [
      { code_verifier: other.verifier },
      { code_verifier: '' },
      { client_id: other.client_id },
      { redirect_uri: 'http://127.0.0.1:5001/callback' },
    ]) {
      const code = await codeFor(program, person)
      expect((await exchange(program, { code, ...wrong })).body).toMatchObject({ error: 'invalid_grant' })
      expect((await exchange(program, { code })).status).toBe(400)
    }
  })

  it('refuses a code after a minute', async () => {
    const program = await aProgram()
    const code = await codeFor(program, await aPerson())
    await app.db
      .updateTable('oauth_codes')
      .set({ expires_at: new Date(app.ctx.now().getTime() - 1000).toISOString() })
      .execute()
    expect((await exchange(program, { code })).body).toMatchObject({ error: 'invalid_grant' })
  })

  it('knows one grant type, and clients that this installation has registered', async () => {
    const program = await aProgram()
    expect(await exchange(program, { grant_type: 'password' })).toMatchObject({
      status: 400,
      body: { error: 'unsupported_grant_type' },
    })
    expect(await exchange(program, { client_id: 'x.y' })).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    })
  })

  it('gives one token, when a code is exchanged many times at once', async () => {
    const program = await aProgram()
    const code = await codeFor(program, await aPerson())
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(program, { code })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})
