import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../test/app.ts'
import { aBrowser } from '../../test/browser.ts'
import { aMember, anAdmin, anOrganization, aTeam, aToken, auditTrail, unique } from '../../test/builders.ts'
import { aSession, withPassword } from '../../test/sessions.ts'
import { hashToken } from '../lib/ids.ts'

const app = useApp()
const password = 'correct horse battery'

async function anInvitation(given: Record<string, unknown> = {}) {
  const org = await anOrganization(app, { name: 'Mills & Co' })
  const admin = await anAdmin(app, org, { name: 'Grace Admin' })
  const email = `${unique('guest')}@example.com`
  const answer = await app.request('POST', `${org.path}/invitations`, {
    token: admin.token,
    body: { emails: [email], ...given },
  })
  const [made] = answer.list
  const path = String(made?.accept_url).slice(baseUrl.length)
  return { org, admin, email, id: String(made?.id), path, code: path.split('/').at(-1) ?? '' }
}

const membership = async (orgId: string, email: string) => {
  const { rows } = await sql<{ role: string; sso_mode: string }>`
    select m.role, m.sso_mode from organization_members m join users u on u.id = m.user_id
    where m.organization_id = ${orgId} and lower(u.email) = lower(${email})`.execute(app.db)
  return rows[0]
}

describe('POST /v2/organizations/{org.slug}/invitations', () => {
  it('shows the link once, and keeps only the hash of its code', async () => {
    const { org, admin, id, path, code } = await anInvitation()
    expect(path).toMatch(/^\/-\/invitations\/mriv_\w{40}$/)
    const row = await app.db
      .selectFrom('organization_invitations')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row.code_hash).toEqual(hashToken(code))
    for (const at of [
      `${org.path}/invitations`,
      `${org.path}/invitations/${id}`,
      `${org.path}/audit_events`,
    ]) {
      const shown = await app.request('GET', at, { token: admin.token })
      expect([shown.status, shown.text.includes(code)]).toEqual([200, false])
    }
  })
})

describe('GET /-/invitations/{code}', () => {
  it('shows the organization and who invites, to anybody with the link', async () => {
    const { path, email } = await anInvitation()
    const shown = await aBrowser(app).get(path)
    expect(shown.status).toBe(200)
    expect(shown.text).toContain('Join Mills &#38; Co')
    expect(shown.text).toContain('Grace Admin')
    expect(shown.text).toContain(email)
    expect(shown.headers.get('referrer-policy')).toBe('same-origin')
  })

  it('is 404 with another code, after revocation and after seven days', async () => {
    const { org, admin, id, path } = await anInvitation()
    expect((await aBrowser(app).get(`${path}x`)).status).toBe(404)
    expect((await aBrowser(app).get('/-/invitations/%00')).status).toBe(404)
    await app.request('DELETE', `${org.path}/invitations/${id}`, { token: admin.token })
    expect((await aBrowser(app).get(path)).status).toBe(404)
    const late = await anInvitation()
    await sql`update organization_invitations set expires_at = now() - interval '1 second' where id = ${late.id}`.execute(
      app.db,
    )
    expect((await aBrowser(app).get(late.path)).status).toBe(404)
  })

  it('is not in the log', async () => {
    const { path, code } = await anInvitation()
    await aBrowser(app).get(path)
    expect(app.logLines.join('')).not.toContain(code)
  })
})

describe('POST /-/invitations/{code} by a new person', () => {
  it('creates the account, joins with role, mode and teams, and signs in', async () => {
    const { org, email, path, admin } = await anInvitation({ role: 'admin', sso_mode: 'optional' })
    const browser = aBrowser(app)
    await browser.get(path)
    const answer = await browser.submit(path, { name: ' Ada ', password })
    expect([answer.status, answer.location]).toEqual([200, `/${org.slug}`])
    expect(await membership(org.id, email)).toEqual({ role: 'admin', sso_mode: 'optional' })
    expect((await browser.get('/sign-in')).text).toContain('Signed in as Ada')
    expect((await aBrowser(app).signInWithPassword(email, password)).status).toBe(200)
    const events = await app.request('GET', `${org.path}/audit_events`, { token: admin.token })
    expect(events.list.slice(0, 2)).toMatchObject([
      { type: 'OrganizationMemberCreatedEvent', actor: { name: 'Ada' }, context: { type: 'WebContext' } },
      { type: 'OrganizationInvitationAcceptedEvent', actor: { name: 'Ada' } },
    ])
    expect((await aBrowser(app).get(path)).status).toBe(404)
  })

  it('joins the teams of the invitation', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const team = await aTeam(app, org, admin)
    const email = `${unique('guest')}@example.com`
    const body = { emails: [email], teams: [{ id: team.id, role: 'maintainer' }] }
    const made = await app.request('POST', `${org.path}/invitations`, { token: admin.token, body })
    const path = String(made.list[0]?.accept_url).slice(baseUrl.length)
    const browser = aBrowser(app)
    await browser.get(path)
    await browser.submit(path, { name: 'Ada', password })
    const members = await app.request('GET', `${org.path}/teams/${team.id}/members`, { token: admin.token })
    expect(members.list).toMatchObject([{ role: 'maintainer', user_name: 'Ada' }])
  })

  it('refuses a blank name and a short password, and keeps the name', async () => {
    const { path, org, email } = await anInvitation()
    const browser = aBrowser(app)
    await browser.get(path)
    expect((await browser.submit(path, { name: ' ', password })).text).toContain('must not be blank')
    const short = await browser.submit(path, { name: 'Ada Example', password: 'short' })
    expect([short.status, short.text.includes('value="Ada Example"')]).toEqual([422, true])
    expect(await membership(org.id, email)).toBeUndefined()
  })

  it('happens once when the form is sent twice at once', async () => {
    const { path, org } = await anInvitation()
    const browsers = [aBrowser(app), aBrowser(app)]
    for (const browser of browsers) await browser.get(path)
    const answers = await Promise.all(
      browsers.map((browser) => browser.submit(path, { name: 'Ada', password })),
    )
    expect(
      answers.filter(({ headers }) => headers.getSetCookie().join().includes('millrace_session')),
    ).toHaveLength(1)
    expect(await auditTrail(app, org, 'ORGANIZATION_MEMBER_CREATED')).toHaveLength(1)
  })

  it('never opens a session of an account that exists', async () => {
    const { path, org, email } = await anInvitation()
    const browser = aBrowser(app)
    await browser.get(path)
    const other = await anOrganization(app)
    const victim = await aMember(app, other)
    await sql`update users set email = ${email.toUpperCase()} where id = ${victim.id}`.execute(app.db)
    const answer = await browser.submit(path, { name: 'Mallory', password })
    expect([answer.status, answer.location, browser.cookies.has('millrace_session')]).toEqual([
      303,
      path,
      false,
    ])
    expect(await membership(org.id, email)).toBeUndefined()
  })

  it('refuses a form of another site', async () => {
    const { path, org, email } = await anInvitation()
    const browser = aBrowser(app)
    await browser.get(path)
    const fields = { name: 'Ada', password }
    expect((await browser.submit(path, fields, { Origin: 'https://evil.example' })).status).toBe(403)
    expect(await membership(org.id, email)).toBeUndefined()
  })
})

describe('POST /-/invitations/{code} by a person with an account', () => {
  const aKnownGuest = async () => {
    const invitation = await anInvitation()
    const other = await anOrganization(app)
    const person = await aMember(app, other)
    await sql`update users set email = ${invitation.email} where id = ${person.id}`.execute(app.db)
    await withPassword(app, person, password)
    return { ...invitation, person: { ...person, email: invitation.email } }
  }

  it('asks to sign in first, returns, and joins', async () => {
    const { path, org, email } = await aKnownGuest()
    const browser = aBrowser(app)
    const shown = await browser.get(path)
    expect(shown.text).toContain(`href="/sign-in?next=${encodeURIComponent(path)}"`)
    const signedIn = await browser.signInWithPassword(email, password, path)
    expect(signedIn.location).toBe(path)
    await browser.get(path)
    const answer = await browser.submit(path)
    expect([answer.status, answer.location]).toEqual([303, `/${org.slug}`])
    expect(await membership(org.id, email)).toMatchObject({ role: 'member' })
    const headers = browser.headers()
    expect((await app.request('GET', `${org.path}/pipelines`, { headers })).status).toBe(200)
  })

  it('is for the invited address only', async () => {
    const { path, org } = await aKnownGuest()
    const stranger = await aMember(app, await anOrganization(app))
    const browser = aBrowser(app)
    await browser.signIn(stranger.token)
    const shown = await browser.get(path)
    expect(shown.text).toContain(`signed in as ${stranger.email}`)
    const [, code = ''] = /name="form_code" value="(\w+)"/.exec(shown.text) ?? []
    expect((await browser.post(path, { form_code: code })).status).toBe(404)
    expect(await membership(org.id, stranger.email)).toBeUndefined()
  })

  it('is not done by a session that a limited token opened', async () => {
    const { path, org, person } = await aKnownGuest()
    const browser = aBrowser(app)
    await browser.signIn(await aToken(app, person, { scopes: ['read_builds'] }))
    const shown = await browser.get(path)
    expect(shown.text).toContain('may not accept invitations')
    const [, code = ''] = /name="form_code" value="(\w+)"/.exec(shown.text) ?? []
    expect((await browser.post(path, { form_code: code })).location).toBe(path)
    expect(await membership(org.id, person.email)).toBeUndefined()
  })

  it('does not accept by a session cookie alone', async () => {
    const { path, person, org } = await aKnownGuest()
    const session = await aSession(app, person)
    const sent = await fetch(app.address + path, {
      method: 'POST',
      headers: session,
      body: new URLSearchParams(),
    })
    expect(sent.status).toBe(403)
    expect(await membership(org.id, person.email)).toBeUndefined()
  })
})
