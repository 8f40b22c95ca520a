import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from 'kysely'
import { sortedStatuses, startApp, useOwnApp } from '../../test/app.ts'
import { aBrowser } from '../../test/browser.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aToken,
  tokenId,
  type TestOrganization,
  type TestUser,
} from '../../test/builders.ts'
import { aSession, withPassword } from '../../test/sessions.ts'
import { flushTokenCaches } from '../auth/access-watch.ts'
import { signInLimits, type SignInLimits } from '../auth/sign-in-limits.ts'
import { createSignInLink } from '../auth/sign-in-links.ts'
import { hashToken } from '../lib/ids.ts'
import { revokeAccessToken } from '../resources/people/access-token/revoke.ts'
import { handlers } from '../worker.ts'

const app = useOwnApp()

let org: TestOrganization
let admin: TestUser
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
})

const spend = (limits: SignInLimits, email: string, ip: string) =>
  limits.spend({ email, ip, knownBrowser: null })

const connectPath = () => `/organizations/${org.slug}/services/connect`

describe('GET /sign-in', () => {
  it('shows a form that other scripts, frames and other sites cannot use', async () => {
    const shown = await aBrowser(app).get('/sign-in')
    expect(shown.status).toBe(200)
    expect(shown.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; img-src 'self'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    )
    const [, style = ''] = /<style>(.*)<\/style>/s.exec(shown.text) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    expect(shown.headers.get('content-security-policy')).toContain(`style-src 'sha256-${hash}'`)
    const [, script = ''] = /<script>(.*)<\/script>/s.exec(shown.text) ?? []
    const scriptHash = createHash('sha256').update(script).digest('base64')
    expect(shown.headers.get('content-security-policy')).toContain(`script-src 'sha256-${scriptHash}'`)
    expect(shown.headers.get('cache-control')).toBe('no-store')
    expect(shown.headers.get('access-control-allow-origin')).toBeNull()
    expect(shown.headers.getSetCookie().join()).toMatch(/HttpOnly; SameSite=Lax/)
  })

  it('escapes the query in its address', async () => {
    const shown = await aBrowser(app).get(
      `/sign-in?next=${encodeURIComponent('/"><script>alert(1)</script>')}`,
    )
    expect(shown.text).not.toContain('<script>alert')
  })
})

describe('POST /sign-in', () => {
  it('gives a session for an access token, in a cookie that scripts cannot read, and keeps only its hash', async () => {
    const browser = aBrowser(app)
    const answer = await browser.signIn(admin.token)
    expect([answer.status, answer.location]).toEqual([200, '/'])
    const cookie = answer.headers.getSetCookie().find((line) => line.startsWith('millrace_session='))
    expect(cookie).toMatch(
      /^millrace_session=mrws_\w{40}; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax$/,
    )
    const value = browser.cookies.get('millrace_session') ?? ''
    const rows = await app.db.selectFrom('web_sessions').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(value)
    expect(JSON.stringify(rows)).not.toContain(admin.token)
    expect(browser.storage.pageSecret).toMatch(/^mrps_\w{40}$/)
    expect(JSON.stringify(rows)).not.toContain(browser.storage.pageSecret)
    expect(app.logLines.join('')).not.toContain(browser.storage.pageSecret)
    const shown = await browser.get('/sign-in')
    expect(shown.text).toContain(`Signed in as ${admin.name}`)
    expect(shown.text).toContain(`href="/${org.slug}"`)
    expect(shown.text).toContain(connectPath())
    expect(app.logLines.join('')).not.toContain(value)
  })

  it('refuses an invalid token with 422, and sets no session', async () => {
    for (const token of ['mrt_nope', '', 'a b', `${admin.token}x`]) {
      const browser = aBrowser(app)
      const answer = await browser.signIn(token)
      expect([answer.status, browser.cookies.has('millrace_session')]).toEqual([422, false])
      expect(answer.text).toContain('not a valid access token')
    }
  })

  it('refuses a token that is not allowed from that address', async () => {
    const elsewhere = await aToken(app, admin, { allowedIpAddresses: '192.0.2.0/24' })
    expect((await aBrowser(app).signIn(elsewhere)).status).toBe(422)
  })

  it('refuses a form of another site, one without its code, and one with the code of another browser', async () => {
    const foreign = aBrowser(app)
    await foreign.get('/sign-in')
    const browser = aBrowser(app)
    await browser.get('/sign-in')
    const token = { token: admin.token }
    for (const headers of [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { 'Sec-Fetch-Site': 'cross-site' },
    ]) {
      expect((await browser.submit('/sign-in', token, headers)).status).toBe(403)
      await browser.get('/sign-in')
    }
    expect((await browser.post('/sign-in', token)).status).toBe(403)
    await browser.get('/sign-in')
    const mine = browser.cookies.get('millrace_form') ?? ''
    browser.cookies.set('millrace_form', foreign.cookies.get('millrace_form') ?? '')
    expect((await browser.submit('/sign-in', token)).status).toBe(403)
    await browser.get('/sign-in')
    browser.cookies.set('millrace_form', mine)
    expect(browser.cookies.has('millrace_session')).toBe(false)
  })

  it.each([
    ['//evil.example/', '/'],
    ['/\\evil.example/', '/'],
    ['https://evil.example/', '/'],
    ['/\t/evil.example/', '/'],
    ['javascript:alert(1)', '/'],
    ['/organizations/acme/services/connect?a=b', '/organizations/acme/services/connect?a=b'],
    ['/acme/demo/builds/7?view=table#a-job/L5-L9', '/acme/demo/builds/7?view=table#a-job/L5-L9'],
    ['/acme#//evil.example', '/acme#//evil.example'],
  ])('redirects only to a page of this server: next=%j', async (next, expected) => {
    expect((await aBrowser(app).signIn(admin.token, next)).location).toBe(expected)
  })

  it('accepts only forms', async () => {
    const answer = await app.request('POST', '/sign-in', { body: { token: admin.token } })
    expect(answer.status).toBe(415)
  })
})

describe('POST /sign-in with a password', () => {
  const password = 'correct horse battery'
  const aPerson = async () => {
    const person = await aMember(app, org)
    await withPassword(app, person, password)
    return person
  }

  it('opens a session and keeps the fragment of the address that the person wanted', async () => {
    const person = await aPerson()
    const browser = aBrowser(app)
    const next = '/acme/demo/builds/7#a-job/L5-L9'
    const answer = await browser.signInWithPassword(person.email.toUpperCase(), password, next)
    expect([answer.status, answer.location]).toEqual([200, next])
    expect((await browser.get('/sign-in')).text).toContain('Signed in as')
    const { rows } = await sql<{
      opened_with: string
      ip: string
      user_agent: string
      access_token_id: null
    }>`
      select opened_with, ip, user_agent, access_token_id from web_sessions where user_id = ${person.id}`.execute(
      app.db,
    )
    expect(rows).toEqual([
      { opened_with: 'password', ip: '127.0.0.1', user_agent: 'node', access_token_id: null },
    ])
  })

  it('says the same about a wrong password, an unknown address and a person without a password', async () => {
    const person = await aPerson()
    const without = await aMember(app, org)
    const answers = [
      await aBrowser(app).signInWithPassword(person.email, 'wrong'),
      await aBrowser(app).signInWithPassword('nobody@example.com', password),
      await aBrowser(app).signInWithPassword(without.email, ''),
      await aBrowser(app).signInWithPassword('a\0b@example.com', password),
    ]
    for (const answer of answers) {
      expect(answer.status).toBe(422)
      expect(answer.text).toContain('The email address or the password is wrong.')
      expect(answer.headers.getSetCookie().join()).not.toContain('millrace_session')
    }
  })

  it('allows ten tries for an address in 15 minutes, on all servers together, and says when to try again', async () => {
    const second = await startApp({}, app.database)
    const person = await aPerson()
    for (let tries = 0; tries < 10; tries++) {
      const server = tries % 2 === 0 ? app : second
      expect((await aBrowser(server).signInWithPassword(person.email, 'wrong')).status).toBe(422)
    }
    for (const server of [app, second]) {
      const answer = await aBrowser(server).signInWithPassword(person.email, password)
      expect(answer.status).toBe(429)
      expect(answer.text).toMatch(/There were too many tries to sign in. Try again in 1[45] minutes./)
    }
    const other = await aPerson()
    expect((await aBrowser(app).signInWithPassword(other.email, password)).status).toBe(200)
    await second.close()
  })

  it('counts anew after a right password', async () => {
    const person = await aPerson()
    for (let round = 0; round < 2; round++) {
      for (let tries = 0; tries < 9; tries++) {
        expect((await aBrowser(app).signInWithPassword(person.email, 'wrong')).status).toBe(422)
      }
      expect((await aBrowser(app).signInWithPassword(person.email, password)).status).toBe(200)
    }
  })

  it('allows 100 tries from a network', async () => {
    const limits = signInLimits(app.database.pool)
    const from = (n: number) => spend(limits, `${n}@example.com`, `2001:db8:7:1::${n}`)
    for (let tries = 1; tries <= 100; tries++) await from(tries)
    await expect(from(101)).rejects.toMatchObject({ status: 429 })
    await spend(limits, '1@example.net', '2001:db8:7:2::1')
  })

  it('locks nobody out by wrong passwords from one network, or from all networks of one owner', async () => {
    const limits = signInLimits(app.database.pool)
    const { email } = await aPerson()
    const refusedFrom = (ip: string) => spend(limits, email, ip).then(() => false, () => true) // prettier-ignore
    for (const [region, own] of [
      [(n: number) => `2001:db8:9:${n}::1`, '2001:db8:a::1'],
      [(n: number) => `198.51.100.${n}`, '198.51.101.1'],
    ] as const) {
      const refusals = []
      for (let tries = 0; tries < 60; tries++) refusals.push(await refusedFrom(region(tries % 20)))
      expect(refusals.filter((isRefused) => !isRefused)).toHaveLength(30)
      expect(await refusedFrom(own)).toBe(false)
    }
  })

  it('slows guesses from many networks down, and leaves a browser of the owner tries of its own', async () => {
    const limits = signInLimits(app.database.pool)
    const person = await aPerson()
    const known = aBrowser(app)
    await known.signInWithPassword(person.email, password)
    for (let tries = 0; tries < 100; tries++) await spend(limits, person.email, `203.0.${tries}.1`)
    await expect(spend(limits, person.email, '192.0.2.1')).rejects.toMatchObject({ status: 429 })
    expect((await aBrowser(app).signInWithPassword(person.email, password)).status).toBe(429)
    const cookie = known.cookies.get('millrace_known') ?? ''
    const again = aBrowser(app)
    again.cookies.set('millrace_known', cookie)
    expect((await again.signInWithPassword(person.email, 'wrong')).status).toBe(422)
    expect((await again.signInWithPassword(person.email, password)).status).toBe(200)

    const forged = aBrowser(app)
    forged.cookies.set('millrace_known', `${cookie.slice(0, 32)}${'0'.repeat(32)}`)
    expect((await forged.signInWithPassword(person.email, password)).status).toBe(429)
    const other = await aPerson()
    const stranger = aBrowser(app)
    await stranger.signInWithPassword(other.email, password)
    await stranger.get('/sign-in')
    await stranger.submit('/sign-out')
    expect((await stranger.signInWithPassword(person.email, password)).status).toBe(429)
  })

  it('makes no browser known that signed in with a token', async () => {
    const browser = aBrowser(app)
    await browser.signIn((await aPerson()).token)
    expect(browser.cookies.has('millrace_known')).toBe(false)
  })
})

describe('a sign-in link', () => {
  const aLink = async () => {
    const person = await aMember(app, org, { name: 'Grace' })
    return { person, code: await createSignInLink(app.db, person.id) }
  }

  it('signs in once, with a button, and then offers to set a password', async () => {
    const { person, code } = await aLink()
    const browser = aBrowser(app)
    for (let looks = 0; looks < 2; looks++) {
      const shown = await browser.get(`/sign-in?code=${code}`)
      expect(shown.text).toContain('Sign in as Grace')
    }
    const answer = await browser.submit('/sign-in')
    expect([answer.status, answer.location]).toEqual([200, '/-/password'])
    expect((await browser.get('/-/password')).text).toContain(person.email)
    const saved = await browser.submit('/-/password', { password: 'a new password' })
    expect([saved.status, saved.location]).toEqual([303, '/'])
    expect((await aBrowser(app).signInWithPassword(person.email, 'a new password')).status).toBe(200)

    const again = aBrowser(app)
    const used = await again.get(`/sign-in?code=${code}`)
    expect([used.status, used.text.includes('has been used')]).toEqual([422, true])
    expect((await again.submit('/sign-in', { code })).status).toBe(422)
    expect(app.logLines.join('')).not.toContain(code)
  })

  it('is stored as a hash and ends after 24 hours', async () => {
    const { code } = await aLink()
    const hash = hashToken(code)
    const row = await app.db
      .selectFrom('sign_in_links')
      .selectAll()
      .where('code_hash', '=', hash)
      .executeTakeFirstOrThrow()
    expect(Date.parse(row.expires_at) - Date.parse(row.created_at)).toBe(24 * 3_600_000)
    await app.db
      .updateTable('sign_in_links')
      .set({ expires_at: new Date(0).toISOString() })
      .where('code_hash', '=', hash)
      .execute()
    expect((await aBrowser(app).get(`/sign-in?code=${code}`)).status).toBe(422)
    await handlers.expire_sessions(app.ctx, {})
    expect(
      await app.db.selectFrom('sign_in_links').where('code_hash', '=', hash).select('user_id').execute(),
    ).toEqual([])
  })

  it('is used by one of two simultaneous requests', async () => {
    const { code } = await aLink()
    const browsers = [aBrowser(app), aBrowser(app)]
    for (const browser of browsers) await browser.get(`/sign-in?code=${code}`)
    const answers = await Promise.all(browsers.map((browser) => browser.submit('/sign-in')))
    expect(sortedStatuses(answers)).toEqual([200, 422])
  })

  it('lets set a password for an hour, and no other session does', async () => {
    const { person, code } = await aLink()
    const browser = aBrowser(app)
    await browser.get(`/sign-in?code=${code}`)
    await browser.submit('/sign-in')
    await browser.get('/-/password')
    await sql`update web_sessions set created_at = created_at - interval '61 minutes' where user_id = ${person.id}`.execute(
      app.db,
    )
    await flushTokenCaches(app.db)
    expect((await browser.submit('/-/password', { password: 'a new password' })).status).toBe(403)
    const byToken = aBrowser(app)
    await byToken.signIn(person.token)
    expect((await byToken.get('/-/password')).status).toBe(403)
    expect((await aBrowser(app).get('/-/password')).location).toBe('/sign-in')
  })

  it('refuses a short password, and ends other sessions and links with a good one', async () => {
    const { person, code } = await aLink()
    const other = await createSignInLink(app.db, person.id)
    const elsewhere = await aSession(app, person)
    const browser = aBrowser(app)
    await browser.get(`/sign-in?code=${code}`)
    await browser.submit('/sign-in')
    await browser.get('/-/password')
    const short = await browser.submit('/-/password', { password: 'short' })
    expect([short.status, short.text.includes('at least 8 characters')]).toEqual([422, true])
    await browser.submit('/-/password', { password: 'long enough' })
    const { status } = await app.request('GET', '/v2/user', { headers: elsewhere })
    expect(status).toBe(401)
    expect((await browser.get('/sign-in')).text).toContain('Signed in as Grace')
    expect((await aBrowser(app).get(`/sign-in?code=${other}`)).status).toBe(422)
  })
})

describe('a session', () => {
  it('ends everywhere when its owner signs out everywhere', async () => {
    const person = await aMember(app, org)
    const elsewhere = await aSession(app, person)
    const browser = aBrowser(app)
    await browser.signIn(person.token)
    await browser.get('/sign-in')
    expect((await browser.submit('/sign-out', { everywhere: 'yes' })).status).toBe(200)
    const { status } = await app.request('GET', '/v2/user', { headers: elsewhere })
    expect(status).toBe(401)
    expect(
      await app.db.selectFrom('web_sessions').select('id').where('user_id', '=', person.id).execute(),
    ).toEqual([])
  })

  it('leads a person who is signed in already to the page they wanted', async () => {
    const browser = aBrowser(app)
    await browser.signIn(admin.token)
    const shown = await browser.get(`/sign-in?next=${encodeURIComponent('/acme/demo#job')}`)
    expect(shown.text).toContain('href="/acme/demo#job"')
  })

  it('ends with its token, at once', async () => {
    const token = await aToken(app, admin)
    const browser = aBrowser(app)
    await browser.signIn(token)
    expect((await browser.get(connectPath())).status).toBe(200)
    await revokeAccessToken(app.db, { kind: 'operator', command: 'test' }, await tokenId(app, token))
    const answer = await browser.get(connectPath())
    expect([answer.status, answer.location]).toEqual([
      303,
      `/sign-in?next=${encodeURIComponent(connectPath())}`,
    ])
  })

  it('ends when it expires, and is deleted', async () => {
    const browser = aBrowser(app)
    await browser.signIn(admin.token)
    await app.db
      .updateTable('web_sessions')
      .set({ expires_at: new Date(0).toISOString() })
      .execute()
    await flushTokenCaches(app.db)
    expect((await browser.get(connectPath())).status).toBe(303)
    await handlers.expire_sessions(app.ctx, {})
    expect(await app.db.selectFrom('web_sessions').select('id').execute()).toEqual([])
  })

  it('of a token that may only read ends no other session of its owner', async () => {
    const person = await aMember(app, org)
    const elsewhere = await aSession(app, person)
    const limits = [{ scopes: ['read_builds', 'read_user'] }, { organizations: [org] }]
    for (const limit of limits) {
      const browser = aBrowser(app)
      await browser.signIn(await aToken(app, person, limit))
      const own = browser.headers()
      await browser.get('/sign-in')
      expect((await browser.submit('/sign-out', { everywhere: 'yes' })).status).toBe(200)
      expect((await app.request('GET', '/v2/user', { headers: own })).status).toBe(401)
      expect((await app.request('GET', '/v2/user', { headers: elsewhere })).status).toBe(200)
    }
  })

  it('ends when its owner signs out; a form of another site does not sign out', async () => {
    const browser = aBrowser(app)
    await browser.signIn(admin.token)
    const before = browser.headers()
    await browser.get('/sign-in')
    expect((await browser.submit('/sign-out', {}, { Origin: 'https://evil.example' })).status).toBe(403)
    await browser.get('/sign-in')
    const out = await browser.submit('/sign-out')
    expect([out.status, out.location]).toEqual([200, '/sign-in'])
    expect([browser.cookies.has('millrace_session'), browser.storage.pageSecret]).toEqual([false, null])
    expect((await app.request('GET', '/v2/user', { headers: before })).status).toBe(401)
  })

  it('ends when another person signs in with the same browser', async () => {
    const browser = aBrowser(app)
    await browser.signIn(admin.token)
    const before = browser.headers()
    const other = await anAdmin(app, org)
    await browser.get('/sign-in')
    // The page offers only to sign out; the request signs in all the same.
    const code = /name="form_code" value="(\w+)"/.exec((await browser.get('/sign-in')).text)?.[1] ?? ''
    await browser.post('/sign-in', { form_code: code, token: other.token })
    expect((await app.request('GET', '/v2/user', { headers: browser.headers() })).body.id).toBe(other.id)
    expect((await app.request('GET', '/v2/user', { headers: before })).status).toBe(401)
  })

  it('does not give access to the API', async () => {
    const browser = aBrowser(app)
    await browser.signIn(admin.token)
    expect((await browser.get(`${org.path}/services`)).status).toBe(401)
    const value = browser.cookies.get('millrace_session') ?? ''
    expect((await app.request('GET', `${org.path}/services`, { token: value })).status).toBe(401)
  })
})
