import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { aBrowser } from '../../test/browser.ts'
import {
  anAdmin,
  anOrganization,
  aToken,
  tokenId,
  type TestOrganization,
  type TestUser,
} from '../../test/builders.ts'
import { revokeAccessToken } from '../resources/access-token/revoke.ts'
import { handlers } from '../worker.ts'

const app = useApp()

let org: TestOrganization
let admin: TestUser
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
})

const connectPath = () => `/organizations/${org.slug}/services/connect`

describe('GET /sign-in', () => {
  it('shows a form that scripts, frames and other sites cannot use', async () => {
    const shown = await aBrowser(app).get('/sign-in')
    expect(shown.status).toBe(200)
    expect(shown.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; img-src 'self'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    )
    const [, style = ''] = /<style>(.*)<\/style>/s.exec(shown.text) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    expect(shown.headers.get('content-security-policy')).toContain(`style-src 'sha256-${hash}'`)
    expect(shown.headers.get('cache-control')).toBe('no-store')
    expect(shown.headers.get('access-control-allow-origin')).toBeNull()
    expect(shown.headers.getSetCookie().join()).toMatch(/HttpOnly; SameSite=Lax/)
  })

  it('escapes the query in its address', async () => {
    const shown = await aBrowser(app).get(
      `/sign-in?next=${encodeURIComponent('/"><script>alert(1)</script>')}`,
    )
    expect(shown.text).not.toContain('<script>')
  })
})

describe('POST /sign-in', () => {
  it('gives a session for an access token, in a cookie that scripts cannot read, and keeps only its hash', async () => {
    const browser = aBrowser(app)
    const answer = await browser.signIn(admin.token)
    expect([answer.status, answer.location]).toEqual([303, '/sign-in'])
    const cookie = answer.headers.getSetCookie().find((line) => line.startsWith('millrace_session='))
    expect(cookie).toMatch(
      /^millrace_session=mrws_\w{40}; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax$/,
    )
    const value = browser.cookies.get('millrace_session') ?? ''
    const rows = await app.db.selectFrom('web_sessions').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(value)
    expect(JSON.stringify(rows)).not.toContain(admin.token)
    const shown = await browser.get('/sign-in')
    expect(shown.text).toContain(`Signed in as ${admin.name}`)
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
    ['//evil.example/', '/sign-in'],
    ['/\\evil.example/', '/sign-in'],
    ['https://evil.example/', '/sign-in'],
    ['/\t/evil.example/', '/sign-in'],
    ['javascript:alert(1)', '/sign-in'],
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

describe('a session', () => {
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
    expect((await browser.get(connectPath())).status).toBe(303)
    await handlers.expire_sessions(app.ctx, {})
    expect(await app.db.selectFrom('web_sessions').select('id').execute()).toEqual([])
  })

  it('ends when its owner signs out; a form of another site does not sign out', async () => {
    const browser = aBrowser(app)
    await browser.signIn(admin.token)
    const value = browser.cookies.get('millrace_session') ?? ''
    await browser.get('/sign-in')
    expect((await browser.submit('/sign-out', {}, { Origin: 'https://evil.example' })).status).toBe(403)
    await browser.get('/sign-in')
    expect((await browser.submit('/sign-out')).status).toBe(303)
    browser.cookies.set('millrace_session', value)
    expect((await browser.get(connectPath())).status).toBe(303)
  })

  it('ends when another person signs in with the same browser', async () => {
    const browser = aBrowser(app)
    await browser.signIn(admin.token)
    const before = browser.cookies.get('millrace_session') ?? ''
    const other = await anAdmin(app, org)
    await browser.get('/sign-in')
    // The page offers only to sign out; the request signs in all the same.
    const code = /name="form_code" value="(\w+)"/.exec((await browser.get('/sign-in')).text)?.[1] ?? ''
    await browser.post('/sign-in', { form_code: code, token: other.token })
    expect(browser.cookies.get('millrace_session')).not.toBe(before)
    const old = aBrowser(app)
    old.cookies.set('millrace_session', before)
    expect((await old.get(connectPath())).status).toBe(303)
  })

  it('does not give access to the API', async () => {
    const browser = aBrowser(app)
    await browser.signIn(admin.token)
    expect((await browser.get(`${org.path}/services`)).status).toBe(401)
    const value = browser.cookies.get('millrace_session') ?? ''
    expect((await app.request('GET', `${org.path}/services`, { token: value })).status).toBe(401)
  })
})
