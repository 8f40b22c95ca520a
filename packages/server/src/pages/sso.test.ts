import { afterAll, describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../test/app.ts'
import { aBrowser, type Browser, type Shown } from '../../test/browser.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aTeam,
  aToken,
  auditTrail,
  inTeam,
  unique,
  type TestOrganization,
  type TestUser,
} from '../../test/builders.ts'
import { anOidcSite, type OidcPerson } from '../../test/remote-hosts/oidc-site.ts'
import { aSession } from '../../test/sessions.ts'
import { flushTokenCaches } from '../auth/access-watch.ts'
import { disableSso } from '../resources/people/sso/update.ts'
import { handlers } from '../worker.ts'

const slugs = Array.from({ length: 60 }, (_, index) => `acme-${index}`)
const site = await anOidcSite(slugs.map((slug) => `${baseUrl}/-/sso/${slug}/callback`))
const app = useApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })
afterAll(() => site.close())

interface Company {
  org: TestOrganization
  admin: TestUser
}

/** An organization with single sign-on at the site. */
async function aCompany(settings: object = {}): Promise<Company> {
  const slug = slugs.pop()
  if (slug === undefined) throw new Error('The site knows no more organizations.')
  const org = await anOrganization(app, { slug })
  const company = { org, admin: await anAdmin(app, org) }
  await update(company, {
    issuer: site.issuer,
    ...site.client,
    scopes: ['openid', 'profile', 'email', 'groups'],
    ...settings,
  })
  return company
}

async function update({ org, admin }: Company, body: object): Promise<void> {
  const answer = await app.request('PUT', `${org.path}/sso`, { token: admin.token, body })
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
}

function aPerson(given: OidcPerson = {}): { subject: string; email: string } {
  const subject = unique('subject')
  const person = { email: `${subject}@example.com`, email_verified: true, name: 'Grace Example', ...given }
  site.people.set(subject, person)
  return { subject, email: person.email }
}

const pathOf = ({ org }: Pick<Company, 'org'>) => `/-/sso/${org.slug}`

/** The address at the provider. */
async function begin(company: Pick<Company, 'org'>, browser: Browser, query = ''): Promise<string> {
  const shown = await browser.get(pathOf(company) + query)
  expect(shown.status).toBe(200)
  const [, link = ''] = /href="([^"]+\/start\?[^"]+)"/.exec(shown.text) ?? []
  const answer = await browser.get(link.replaceAll('&#38;', '&'))
  expect([answer.status, answer.location]).toEqual([303, expect.stringContaining(site.issuer)])
  return answer.location ?? ''
}

const comeBack = (browser: Browser, back: URL): Promise<Shown> => browser.get(back.pathname + back.search)

async function signIn(company: Pick<Company, 'org'>, subject: string, browser = aBrowser(app)) {
  const answer = await comeBack(browser, await site.signIn(await begin(company, browser), subject))
  return { browser, answer }
}

/** A request that a page of ours sends. */
const ask = (browser: Browser, path: string, method = 'GET', body?: unknown) =>
  app.request(method, path, { headers: browser.headers(), body })

const who = async (browser: Browser) => (await ask(browser, '/v2/user')).body

const teamsOf = async (userId: string) =>
  (
    await app.db
      .selectFrom('team_members')
      .select(['team_id', 'source'])
      .where('user_id', '=', userId)
      .execute()
  ).map(({ team_id: id, source }) => `${id} ${source}`)

const userCount = async (email: string) =>
  (await app.db.selectFrom('users').select('id').where('email', '=', email).execute()).length

describe('GET /-/sso/{org}/test', () => {
  const tryOut = async (company: Company, token = company.admin.token) => {
    const browser = aBrowser(app)
    await browser.signIn(token)
    const begun = await browser.get(`${pathOf(company)}/test`)
    return { browser, begun }
  }

  it('shows what would happen, also while it is disabled, and changes nothing', async () => {
    const company = await aCompany({ enabled: false, provision: true, email_domains: [] })
    const { subject, email } = aPerson({ groups: ['devs'] })
    const { browser, begun } = await tryOut(company)
    expect([begun.status, begun.location]).toEqual([303, expect.stringContaining(site.issuer)])
    const shown = await comeBack(browser, await site.signIn(begun.location ?? '', subject))
    expect([shown.status, shown.text]).toEqual([200, expect.stringContaining(`${email}, verified`)])
    expect(shown.text).toContain('you would be signed in as Grace Example')
    expect(shown.text).toContain('devs')
    expect(await userCount(email)).toBe(0)
    expect((await who(browser))['email']).toBe(company.admin.email)
  })

  it('says why somebody would not be let in', async () => {
    const company = await aCompany({ provision: false })
    const { subject } = aPerson()
    const { browser, begun } = await tryOut(company)
    const shown = await comeBack(browser, await site.signIn(begun.location ?? '', subject))
    expect([shown.status, shown.text]).toEqual([200, expect.stringContaining('You are not a member of')])
  })

  it('is for administrators', async () => {
    const company = await aCompany()
    const member = await aMember(app, company.org)
    const { begun } = await tryOut(company, member.token)
    expect(begun.status).toBe(403)
  })
})

describe('signing in at the provider', () => {
  it('makes a person a member where the organization allows it, and opens a session', async () => {
    const company = await aCompany({ provision: true })
    const { subject, email } = aPerson()
    const { browser, answer } = await signIn(company, subject)
    expect([answer.status, answer.location]).toEqual([200, `/${company.org.slug}`])
    expect(await who(browser)).toMatchObject({ email, name: 'Grace Example' })
    expect((await ask(browser, `${company.org.path}/pipelines`)).status).toBe(200)
    const members = await app.request('GET', `${company.org.path}/members`, { token: company.admin.token })
    expect(members.list.find((member) => String(member.email) === email)).toMatchObject({
      role: 'member',
      sso_mode: 'required',
    })
    const [event] = await auditTrail(app, company.org, 'ORGANIZATION_MEMBER_CREATED')
    expect(event).toMatchObject({ actor: { type: 'User', name: 'Grace Example' }, data: { email } })
    expect(app.logLines.join('')).not.toMatch(/[?&]code=/)
  })

  it('goes to the page that the person wanted, if it is one of ours', async () => {
    const company = await aCompany({ provision: true })
    for (const [next, expected] of [
      ['/acme/app/builds/7#job', '/acme/app/builds/7#job'],
      ['//evil.example/', `/${company.org.slug}`],
    ] as const) {
      const browser = aBrowser(app)
      const { subject } = aPerson()
      const url = await begin(company, browser, `?next=${encodeURIComponent(next)}`)
      expect((await comeBack(browser, await site.signIn(url, subject))).location).toBe(expected)
    }
  })

  it('finds an existing member by the verified address, and later by the identity alone', async () => {
    const company = await aCompany()
    const member = await aMember(app, company.org)
    const { subject } = aPerson({ email: member.email.toUpperCase() })
    const first = await signIn(company, subject)
    expect(await who(first.browser)).toMatchObject({ id: member.id })
    const other = await aMember(app, company.org)
    site.people.set(subject, { email: other.email, email_verified: true })
    const second = await signIn(company, subject)
    expect(await who(second.browser)).toMatchObject({ id: member.id })
  })

  it('accepts a pending invitation, with its role and teams', async () => {
    const company = await aCompany()
    const team = await aTeam(app, company.org, company.admin)
    const { subject, email } = aPerson()
    const body = { emails: [email], role: 'admin', sso_mode: 'optional', teams: [{ id: team.id }] }
    await app.request('POST', `${company.org.path}/invitations`, { token: company.admin.token, body })
    const { browser } = await signIn(company, subject)
    expect((await ask(browser, `${company.org.path}/sso`)).status).toBe(200)
    expect(await teamsOf(String((await who(browser)).id))).toEqual([`${team.id} manual`])
    expect(await auditTrail(app, company.org, 'ORGANIZATION_INVITATION_ACCEPTED')).toHaveLength(1)
  })

  it('tells a stranger to ask for an invitation, and makes no user', async () => {
    const company = await aCompany()
    const { subject, email } = aPerson()
    const { browser, answer } = await signIn(company, subject)
    expect([answer.status, browser.cookies.has('millrace_session')]).toEqual([403, false])
    expect(answer.text).toContain('Ask an administrator for an invitation')
    expect(await userCount(email)).toBe(0)
  })

  it('begins at the sign-in page', async () => {
    const company = await aCompany()
    const browser = aBrowser(app)
    expect((await browser.get('/sign-in?next=/acme')).text).toContain('Single sign-on')
    const chosen = await browser.get(`/-/sso?organization=${company.org.slug.toUpperCase()}&next=%2Facme`)
    expect(chosen.location).toBe(`${pathOf(company)}?next=%2Facme`)
    expect((await browser.get('/-/sso?organization=')).location).toBe('/sign-in')
    expect((await browser.get('/-/sso?organization=a%2F..%2Fb')).location).toBe('/-/sso/a%2F..%2Fb')
  })

  it('answers 404 where single sign-on is not set up or disabled', async () => {
    const company = await aCompany({ enabled: false })
    const without = await anOrganization(app)
    for (const slug of [company.org.slug, without.slug, 'nowhere', '%00']) {
      for (const rest of ['', '/start', '/callback?code=a&state=b']) {
        expect((await aBrowser(app).get(`/-/sso/${slug}${rest}`)).status).toBe(404)
      }
    }
  })

  it('answers 503 while the provider is down, and can be begun again', async () => {
    const company = await aCompany({ provision: true })
    const { subject } = aPerson()
    const browser = aBrowser(app)
    const back = await site.signIn(await begin(company, browser), subject)
    site.isUp = false
    const { status, headers } = await comeBack(browser, back)
    expect([status, headers.get('retry-after')]).toEqual([503, '2'])
    site.isUp = true
    expect((await signIn(company, subject, browser)).answer.status).toBe(200)
  })

  it('does not reach an issuer inside the operator’s network', async () => {
    const company = await aCompany()
    await update(company, { issuer: 'http://169.254.169.254', client_secret: 'secret' })
    const browser = aBrowser(app)
    const shown = await browser.get(pathOf(company))
    const [, link = ''] = /href="([^"]+\/start\?[^"]+)"/.exec(shown.text) ?? []
    const answer = await browser.get(link)
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('public address')])
  })
})

describe('an attack on signing in', () => {
  it('with another state ends with 400', async () => {
    const company = await aCompany({ provision: true })
    const { subject, email } = aPerson()
    const browser = aBrowser(app)
    const back = await site.signIn(await begin(company, browser), subject)
    for (const state of ['', 'guess', `${back.searchParams.get('state')}x`]) {
      back.searchParams.set('state', state)
      expect((await comeBack(browser, back)).status).toBe(400)
    }
    back.searchParams.delete('state')
    expect((await comeBack(browser, back)).status).toBe(400)
    expect([browser.cookies.has('millrace_session'), await userCount(email)]).toEqual([false, 0])
  })

  it('with a callback of another browser ends with 400', async () => {
    const company = await aCompany({ provision: true })
    const back = await site.signIn(await begin(company, aBrowser(app)), aPerson().subject)
    const victim = aBrowser(app)
    await begin(company, victim)
    expect((await comeBack(victim, back)).status).toBe(400)
    expect((await comeBack(aBrowser(app), back)).status).toBe(400)
  })

  it('with a used callback ends with 400, and with a used code with 422', async () => {
    const company = await aCompany({ provision: true })
    const { subject } = aPerson()
    const browser = aBrowser(app)
    const url = await begin(company, browser)
    const sso = browser.cookies.get('millrace_sso') ?? ''
    const back = await site.signIn(url, subject)
    expect((await comeBack(browser, back)).status).toBe(200)
    browser.cookies.set('millrace_sso', sso)
    expect((await comeBack(browser, back)).status).toBe(400)
    const next = await site.signIn(await begin(company, browser), subject)
    next.searchParams.set('code', back.searchParams.get('code') ?? '')
    expect((await comeBack(browser, next)).status).toBe(422)
  })

  it('with the code of another person’s flow fails because of the verifier', async () => {
    const company = await aCompany({ provision: true })
    const [victim, attacker] = [aBrowser(app), aBrowser(app)]
    const stolen = await site.signIn(await begin(company, victim), aPerson().subject)
    const own = await site.signIn(await begin(company, attacker), aPerson().subject)
    own.searchParams.set('code', stolen.searchParams.get('code') ?? '')
    expect((await comeBack(attacker, own)).status).toBe(422)
    expect(attacker.cookies.has('millrace_session')).toBe(false)
  })

  it('with an ID token for another nonce ends with 400', async () => {
    const company = await aCompany({ provision: true })
    const { subject, email } = aPerson()
    const browser = aBrowser(app)
    const url = new URL(await begin(company, browser))
    url.searchParams.set('nonce', 'another nonce')
    const answer = await comeBack(browser, await site.signIn(url.href, subject))
    expect([answer.status, await userCount(email)]).toEqual([400, 0])
    expect(answer.text).toContain('nonce')
  })

  it('with the response of another issuer ends with 400', async () => {
    const company = await aCompany({ provision: true })
    const browser = aBrowser(app)
    const back = await site.signIn(await begin(company, browser), aPerson().subject)
    back.searchParams.set('iss', 'https://evil.example')
    const answer = await comeBack(browser, back)
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('iss')])
  })

  it.each([
    ['another path', `${site.issuer}/alias`],
    ['the address of the metadata', `${site.issuer}/.well-known/openid-configuration`],
  ])('with a provider that calls itself otherwise than the settings ends with 400: %s', async (_, issuer) => {
    const company = await aCompany()
    await update(company, { issuer, ...site.client })
    const browser = aBrowser(app)
    const shown = await browser.get(pathOf(company))
    const [, link = ''] = /href="([^"]+\/start\?[^"]+)"/.exec(shown.text) ?? []
    const answer = await browser.get(link)
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('issuer')])
  })

  it('from another site leads no further than to the page with the link', async () => {
    const company = await aCompany({ provision: true })
    for (const code of ['', '00', 'f'.repeat(32)]) {
      const browser = aBrowser(app)
      expect((await browser.get(`${pathOf(company)}/start?code=${code}`)).location).toBe(pathOf(company))
      await browser.get(pathOf(company))
      expect((await browser.get(`${pathOf(company)}/start?code=${code}`)).location).toBe(pathOf(company))
    }
  })

  it('by beginning again and again ends with 429', async () => {
    const company = await aCompany()
    const browser = aBrowser(app)
    const shown = await browser.get(pathOf(company))
    const [, link = ''] = /href="([^"]+\/start\?[^"]+)"/.exec(shown.text) ?? []
    const { begin: count, finish } = app.ctx.signInLimits
    const most = 200
    const begun = await Promise.allSettled(Array.from({ length: most }, () => count('127.0.0.1')))
    expect((await browser.get(link)).status).toBe(429)
    for (const _ of [...begun, 'the refused one']) await finish('127.0.0.1')
    expect((await browser.get(link)).status).toBe(303)
  })

  it('after the settings were changed, with a start from before, ends with 400', async () => {
    const company = await aCompany({ provision: true })
    const browser = aBrowser(app)
    const back = await site.signIn(await begin(company, browser), aPerson().subject)
    await update(company, { enabled: false })
    await update(company, { enabled: true })
    expect((await comeBack(browser, back)).status).toBe(400)
  })

  it('with a start that is too old ends with 400, and the start is deleted', async () => {
    const company = await aCompany({ provision: true })
    const browser = aBrowser(app)
    const back = await site.signIn(await begin(company, browser), aPerson().subject)
    await app.db
      .updateTable('sso_starts')
      .set({ expires_at: new Date(0).toISOString() })
      .where('organization_id', '=', company.org.id)
      .execute()
    expect((await comeBack(browser, back)).status).toBe(400)
    await handlers.expire_sessions(app.ctx, {})
    const left = app.db.selectFrom('sso_starts').select('nonce').where('organization_id', '=', company.org.id)
    expect(await left.execute()).toEqual([])
  })

  it.each<[string, OidcPerson]>([
    ['says that it is not verified', { email_verified: false }],
    ['says nothing about it', {}],
  ])('with the address of a member is refused when the provider %s', async (_, given) => {
    const company = await aCompany({ provision: true })
    const { email, ...person } = aPerson()
    const member = await aMember(app, company.org)
    site.people.set(person.subject, { name: 'Mallory', email: member.email, ...given })
    const { browser, answer } = await signIn(company, person.subject)
    expect([answer.status, browser.cookies.has('millrace_session')]).toEqual([403, false])
    expect(answer.text).toContain('has not verified your e-mail address')
    // The organization may trust the provider with addresses of its own domain.
    await update(company, { email_domains: ['example.com'] })
    expect(await who((await signIn(company, person.subject)).browser)).toMatchObject({ id: member.id })
    expect(await userCount(email)).toBe(0)
  })

  it('with an address without a verified owner does not take an invitation or make a user', async () => {
    const company = await aCompany({ provision: true })
    const { subject, email } = aPerson({ email_verified: false })
    const body = { emails: [email] }
    await app.request('POST', `${company.org.path}/invitations`, { token: company.admin.token, body })
    expect((await signIn(company, subject)).answer.status).toBe(403)
    expect(await userCount(email)).toBe(0)
  })

  it('with an address that passed to another person does not take over the member', async () => {
    const company = await aCompany()
    const member = await aMember(app, company.org)
    await signIn(company, aPerson({ email: member.email }).subject)
    const { browser, answer } = await signIn(company, aPerson({ email: member.email }).subject)
    expect([answer.status, browser.cookies.has('millrace_session')]).toEqual([403, false])
    expect(answer.text).toContain('another person at the provider')
  })

  it('by the provider of one organization reaches no other organization of the user', async () => {
    const [mine, theirs] = [await aCompany({ provision: true }), await anOrganization(app)]
    const victim = await anAdmin(app, theirs)
    const { subject } = aPerson({ email: victim.email })
    const refused = await signIn(mine, subject)
    expect([refused.answer.status, refused.answer.text]).toEqual([
      403,
      expect.stringContaining('its owner decides'),
    ])
    expect((await app.request('GET', mine.org.path, { token: victim.token })).status).toBe(404)
    const owner = aBrowser(app)
    owner.use(await aSession(app, victim))
    await signIn(mine, subject, owner)
    expect((await app.request('GET', mine.org.path, { token: victim.token })).status).toBe(200)
    const { browser } = await signIn(mine, subject)
    expect(await who(browser)).toMatchObject({ id: victim.id })
    expect((await ask(browser, theirs.path)).status).toBe(404)
    const listed = (await ask(browser, '/v2/organizations')).list
    expect(listed.map(({ slug }) => String(slug))).toEqual([mine.org.slug])
    expect((await browser.get(`/organizations/${theirs.slug}/services/connect`)).status).toBe(404)
  })
})

describe('groups of the provider', () => {
  it('add and remove memberships of teams, and leave those that people made', async () => {
    const company = await aCompany({ provision: true })
    const { org, admin } = company
    const [red, blue, manual] = [
      await aTeam(app, org, admin),
      await aTeam(app, org, admin),
      await aTeam(app, org, admin),
    ]
    await update(company, {
      group_teams: [
        { group: 'reds', team_id: red.id },
        { group: 'blues', team_id: blue.id },
        { group: 'blues', team_id: manual.id },
        { group: 'others', team_id: manual.id },
      ],
    })
    const { subject, email } = aPerson({ groups: ['reds', 'unknown'] })
    const { browser } = await signIn(company, subject)
    const id = String((await who(browser)).id)
    expect(await teamsOf(id)).toEqual([`${red.id} sso`])
    await inTeam(app, manual, admin, { id })

    site.people.set(subject, { email, email_verified: true, groups: 'blues' })
    await signIn(company, subject)
    expect((await teamsOf(id)).toSorted()).toEqual([`${blue.id} sso`, `${manual.id} manual`].toSorted())

    site.people.set(subject, { email, email_verified: true })
    await signIn(company, subject)
    expect(await teamsOf(id)).toEqual([`${manual.id} manual`])
    const created = await auditTrail(app, org, 'TEAM_MEMBER_CREATED')
    const deleted = await auditTrail(app, org, 'TEAM_MEMBER_DELETED')
    const teamIds = (events: typeof created) =>
      events.map(({ data }) => Reflect.get(data as object, 'team_id'))
    expect([teamIds(created), teamIds(deleted)]).toEqual([
      [red.id, manual.id, blue.id],
      [red.id, blue.id],
    ])
  })

  it('come from the claim that the settings name', async () => {
    const company = await aCompany({ provision: true, groups_claim: 'name' })
    const team = await aTeam(app, company.org, company.admin)
    await update(company, { group_teams: [{ group: 'Captain', team_id: team.id }] })
    const { browser } = await signIn(company, aPerson({ name: 'Captain', groups: [] }).subject)
    expect(await teamsOf(String((await who(browser)).id))).toEqual([`${team.id} sso`])
  })
})

describe('required single sign-on', () => {
  const withSession = async (user: { id: string }) => {
    const browser = aBrowser(app)
    browser.use(await aSession(app, user))
    return browser
  }

  it('refuses a member whose sso_mode is required with a session of a password, until single sign-on', async () => {
    const company = await aCompany()
    const { org, admin } = company
    const member = await aMember(app, org)
    const browser = await withSession(member)
    expect((await ask(browser, `${org.path}/pipelines`)).status).toBe(200)
    const change = { token: admin.token, body: { sso_mode: 'required' } }
    expect((await app.request('PATCH', `${org.path}/members/${member.id}`, change)).status).toBe(200)
    const refused = await ask(browser, `${org.path}/pipelines`)
    expect([refused.status, refused.body]).toEqual([
      403,
      {
        message: `${org.name} requires single sign-on. Sign in at ${baseUrl}${pathOf(company)}`,
        sso_url: baseUrl + pathOf(company),
      },
    ])
    expect((await browser.get(`/organizations/${org.slug}/services/connect`)).status).toBe(403)
    expect((await ask(browser, '/v2/user')).status).toBe(200)

    const session = browser.cookies.get('millrace_session')
    const { answer } = await signIn(company, aPerson({ email: member.email }).subject, browser)
    expect([answer.status, browser.cookies.get('millrace_session')]).toEqual([303, session])
    expect((await ask(browser, `${org.path}/pipelines`)).status).toBe(200)
  })

  it('of an organization refuses all sessions but those of its own provider, and no access tokens', async () => {
    const [company, other] = [await aCompany({ provision: true }), await aCompany({ provision: true })]
    const { org, admin } = company
    const browser = await withSession(admin)
    await update(company, { sso_required: true })
    expect((await ask(browser, `${org.path}/pipelines`)).status).toBe(403)
    const token = await aToken(app, admin)
    expect((await app.request('GET', `${org.path}/pipelines`, { token })).status).toBe(200)
    const byToken = aBrowser(app)
    await byToken.signIn(token)
    expect((await ask(byToken, `${org.path}/pipelines`)).status).toBe(403)

    const { subject } = aPerson({ email: admin.email })
    await signIn(other, subject, browser)
    expect((await ask(browser, `${other.org.path}/pipelines`)).status).toBe(200)
    expect((await ask(browser, `${org.path}/pipelines`)).status).toBe(403)
    await signIn(company, subject, browser)
    for (const { path } of [org, other.org]) {
      expect((await ask(browser, `${path}/pipelines`)).status).toBe(200)
    }
  })

  it('means nothing where single sign-on is not set up, or disabled', async () => {
    const org = await anOrganization(app)
    const member = await aMember(app, org)
    const mode = { sso_mode: 'required' }
    await app.db.updateTable('organization_members').set(mode).where('user_id', '=', member.id).execute()
    expect((await ask(await withSession(member), `${org.path}/pipelines`)).status).toBe(200)
    const company = await aCompany({ sso_required: true })
    const browser = await withSession(company.admin)
    expect((await ask(browser, `${company.org.path}/pipelines`)).status).toBe(403)
    await disableSso(app.db, { kind: 'operator', command: 'sso disable' }, company.org.slug)
    await flushTokenCaches(app.db)
    expect((await ask(browser, `${company.org.path}/pipelines`)).status).toBe(200)
  })

  it('ends for sessions of single sign-on when the issuer changes or single sign-on is disabled', async () => {
    for (const change of [
      { enabled: false },
      { issuer: 'https://other.example.com', client_secret: 'other' },
    ]) {
      const company = await aCompany({ provision: true, sso_required: true })
      const { browser } = await signIn(company, aPerson().subject)
      expect((await ask(browser, `${company.org.path}/pipelines`)).status).toBe(200)
      await update(company, change)
      expect((await ask(browser, `${company.org.path}/pipelines`)).status).toBe(404)
    }
  })

  it('ends with the membership', async () => {
    const company = await aCompany({ provision: true })
    const { subject } = aPerson()
    const { browser } = await signIn(company, subject)
    const id = String((await who(browser)).id)
    await app.request('DELETE', `${company.org.path}/members/${id}`, { token: company.admin.token })
    expect((await ask(browser, `${company.org.path}/pipelines`)).status).toBe(404)
    await update(company, { provision: false })
    expect((await signIn(company, subject)).answer.status).toBe(403)
  })

  it('ends the session of another person in the same browser', async () => {
    const company = await aCompany({ provision: true })
    const browser = await withSession(company.admin)
    const before = browser.headers()
    const { subject, email } = aPerson()
    await signIn(company, subject, browser)
    expect(await who(browser)).toMatchObject({ email })
    expect((await app.request('GET', '/v2/user', { headers: before })).status).toBe(401)
  })
})
