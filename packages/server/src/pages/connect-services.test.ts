import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { useOwnApp } from '../../test/app.ts'
import { aBrowser, type Browser } from '../../test/browser.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aToken,
  auditTrail,
  withFeature,
  withoutFeature,
  type TestOrganization,
  type TestUser,
} from '../../test/builders.ts'
import { anOAuthSite, teamId } from '../../test/remote-hosts/oauth-site.ts'

const site = await anOAuthSite()
const app = useOwnApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8', ...site.env } })
afterAll(() => site.close())

beforeEach(() => {
  site.redirectUris = ['chat_workspace', 'issue_tracker'].map(
    (id) => `${app.ctx.config.url}/oauth/${id}/callback`,
  )
  site.expiresIn = null
  site.answering = null
  site.grants.length = 0
})

interface Person {
  org: TestOrganization
  user: TestUser
  browser: Browser
}

const connectPath = ({ slug }: TestOrganization) => `/organizations/${slug}/services/connect`

async function aPerson(org?: TestOrganization): Promise<Person> {
  const into = org ?? (await anOrganization(app))
  const user = await anAdmin(app, into)
  const browser = aBrowser(app)
  await browser.signIn(user.token)
  return { org: into, user, browser }
}

/** The address of the redirect. */
async function begin({ org, browser }: Person, provider = 'chat_workspace', choice = '#builds') {
  await browser.get(connectPath(org))
  const answer = await browser.submit(`${connectPath(org)}/${provider}`, { choice })
  expect([answer.status, answer.text]).toEqual([303, ''])
  return answer.location ?? ''
}

const comeBack = ({ browser }: Pick<Person, 'browser'>, back: URL) => browser.get(back.pathname + back.search)

const servicesOf = async ({ org, user }: Person) =>
  (await app.request('GET', `${org.path}/services`, { token: user.token })).list

async function secretsOf(id: string): Promise<Record<string, string>> {
  const row = await app.db
    .selectFrom('notification_services')
    .select(['secrets_sealed', 'secrets_key_id'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return JSON.parse(
    app.ctx.keys.open(row.secrets_sealed ?? Buffer.alloc(0), row.secrets_key_id ?? ''),
  ) as Record<string, string>
}

describe('connecting a service', () => {
  it.each([
    ['chat_workspace', '#builds', { workspace_id: 'T0ACME', workspace_name: 'Acme', channel: '#builds' }],
    ['issue_tracker', 'eng', { workspace_id: 'W0', workspace_name: 'Acme', team_id: teamId }],
  ])('of the provider %s ends with a service for failed builds', async (provider, choice, settings) => {
    const person = await aPerson()
    site.expiresIn = 3600
    const back = await site.agree(await begin(person, provider, choice))
    const answer = await comeBack(person, back)
    expect([answer.status, answer.location]).toEqual([
      303,
      `${connectPath(person.org)}?connected=${provider}`,
    ])
    expect((await person.browser.get(answer.location ?? '')).text).toContain('is connected.')
    const [service, ...others] = await servicesOf(person)
    expect(others).toEqual([])
    expect(service).toMatchObject({
      provider: { id: provider },
      enabled: true,
      build_states: { build_failed: true, build_fixed: true, build_passed: false },
      settings: { ...settings, token_expires_at: expect.any(String) },
      created_by: { id: person.user.id },
    })
    const { access_token: access, refresh_token: refresh } = await secretsOf(String(service?.id))
    expect(site.tokens.has(access ?? '')).toBe(true)
    const rows = await app.db.selectFrom('notification_services').select('settings').execute()
    expect(JSON.stringify([rows, service])).not.toMatch(new RegExp(`${access}|${refresh}`))
    expect(await auditTrail(app, person.org, 'NOTIFICATION_SERVICE_CREATED')).toMatchObject([
      { actor: { uuid: person.user.id }, subject: { uuid: service?.id } },
    ])
    expect(app.logLines.join('')).not.toMatch(new RegExp(`${access}|${back.searchParams.get('code')}`))
  })

  it('again, to the same place, replaces the credentials of the existing service', async () => {
    const person = await aPerson()
    for (const _ of [1, 2]) await comeBack(person, await site.agree(await begin(person)))
    const [service, ...others] = await servicesOf(person)
    expect(others).toEqual([])
    expect([...site.tokens].at(-1)).toBe((await secretsOf(String(service?.id))).access_token)
    await comeBack(person, await site.agree(await begin(person, 'chat_workspace', '#alerts')))
    expect(await servicesOf(person)).toHaveLength(2)
  })

  it.each(['', '#the builds', '#builds\0'])('refuses the choice %j', async (choice) => {
    const { org, browser } = await aPerson()
    await browser.get(connectPath(org))
    const answer = await browser.submit(`${connectPath(org)}/chat_workspace`, { choice })
    expect([answer.status, answer.text.includes('must be given, without spaces')]).toEqual([422, true])
  })

  it('connects nothing when the choice does not exist at the site', async () => {
    const person = await aPerson()
    const answer = await comeBack(person, await site.agree(await begin(person, 'issue_tracker', 'NOPE')))
    expect([answer.status, await servicesOf(person)]).toEqual([422, []])
    expect(answer.text).toContain('has no team NOPE')
  })

  it('connects nothing when the person declines, and says so', async () => {
    const person = await aPerson()
    const state = new URL(await begin(person)).searchParams.get('state')
    const answer = await person.browser.get(
      `/oauth/chat_workspace/callback?error=access_denied&state=${state}`,
    )
    expect([answer.status, await servicesOf(person)]).toEqual([422, []])
    expect(answer.text).toContain('access_denied')
  })

  it('connects nothing while the site is down, and can be begun again', async () => {
    const person = await aPerson()
    const back = await site.agree(await begin(person))
    site.answering = (_, response) => {
      response.destroy()
      return true
    }
    expect((await comeBack(person, back)).status).toBe(503)
    site.answering = null
    expect(await servicesOf(person)).toEqual([])
    expect((await comeBack(person, await site.agree(await begin(person)))).status).toBe(303)
  })

  it('offers only sites that the operator has configured', async () => {
    expect((await (await aPerson()).browser.get('/oauth/webhook/callback')).status).toBe(404)
    const person = await aPerson()
    await person.browser.get(connectPath(person.org))
    const code = /name="form_code" value="(\w+)"/.exec(
      (await person.browser.get(connectPath(person.org))).text,
    )?.[1]
    const posted = await person.browser.post(`${connectPath(person.org)}/chat`, {
      form_code: code ?? '',
      choice: 'x',
    })
    expect(posted.status).toBe(404)
  })
})

describe('an attack on connecting', () => {
  it('with an unknown state ends with 400', async () => {
    const person = await aPerson()
    const back = await site.agree(await begin(person))
    for (const state of ['', 'guess', `${back.searchParams.get('state')}x`]) {
      back.searchParams.set('state', state)
      expect((await comeBack(person, back)).status).toBe(400)
    }
    back.searchParams.delete('state')
    expect((await comeBack(person, back)).status).toBe(400)
    expect([site.grants, await servicesOf(person)]).toEqual([[], []])
  })

  it('with a used callback ends with 400, and with a used code with 422', async () => {
    const person = await aPerson()
    const back = await site.agree(await begin(person))
    expect((await comeBack(person, back)).status).toBe(303)
    expect((await comeBack(person, back)).status).toBe(400)
    const next = await site.agree(await begin(person))
    next.searchParams.set('code', back.searchParams.get('code') ?? '')
    expect((await comeBack(person, next)).status).toBe(422)
    expect(site.grants.map(({ outcome }) => outcome)).toEqual(['granted', 'invalid_grant'])
    expect(await servicesOf(person)).toHaveLength(1)
  })

  it('with the code of another person’s flow fails because of the verifier', async () => {
    const [victim, attacker] = [await aPerson(), await aPerson()]
    const stolen = await site.agree(await begin(victim))
    const own = await site.agree(await begin(attacker))
    own.searchParams.set('code', stolen.searchParams.get('code') ?? '')
    expect((await comeBack(attacker, own)).status).toBe(422)
    expect(await servicesOf(attacker)).toEqual([])
  })

  it('by sending one’s own callback to another person connects nothing for either of them', async () => {
    const attacker = await aPerson()
    const back = await site.agree(await begin(attacker))
    for (const victim of [await aPerson(), await aPerson(attacker.org)]) {
      expect((await comeBack(victim, back)).status).toBe(400)
      expect(await servicesOf(victim)).toEqual([])
    }
    // Another session of the same person is refused too.
    const again = aBrowser(app)
    await again.signIn(attacker.user.token)
    expect((await comeBack({ browser: again }, back)).status).toBe(400)
    // The original session can still finish.
    expect((await comeBack(attacker, back)).status).toBe(303)
  })

  it('with the callback of one provider at the address of another ends with 400', async () => {
    const person = await aPerson()
    const back = await site.agree(await begin(person))
    back.pathname = '/oauth/issue_tracker/callback'
    expect((await comeBack(person, back)).status).toBe(400)
  })

  it('by a form of another site, or with the code of another session, ends with 403', async () => {
    const person = await aPerson()
    const other = await aPerson(person.org)
    const action = `${connectPath(person.org)}/chat_workspace`
    const fields = { choice: '#builds' }
    for (const headers of [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'same-site' }]) {
      await person.browser.get(connectPath(person.org))
      expect((await person.browser.submit(action, fields, headers)).status).toBe(403)
    }
    expect((await person.browser.post(action, fields)).status).toBe(403)
    const theirs = await other.browser.get(connectPath(person.org))
    const code = /name="form_code" value="(\w+)"/.exec(theirs.text)?.[1] ?? ''
    expect((await person.browser.post(action, { ...fields, form_code: code })).status).toBe(403)
    expect(
      await app.db
        .selectFrom('notification_oauth_starts')
        .select('provider')
        .where('organization_id', '=', person.org.id)
        .execute(),
    ).toEqual([])
  })

  it('from another organization ends with 404', async () => {
    const [ours, theirs] = [await aPerson(), await aPerson()]
    expect((await ours.browser.get(connectPath(theirs.org))).status).toBe(404)
    await ours.browser.get(connectPath(ours.org))
    const code =
      /name="form_code" value="(\w+)"/.exec((await ours.browser.get(connectPath(ours.org))).text)?.[1] ?? ''
    const posted = await ours.browser.post(`${connectPath(theirs.org)}/chat_workspace`, {
      choice: '#x',
      form_code: code,
    })
    expect(posted.status).toBe(404)
  })

  it('without the permission to manage services ends with 403, also when it is lost meanwhile', async () => {
    const { org, user, browser } = await aPerson()
    const member = await aMember(app, org)
    const theirs = aBrowser(app)
    await theirs.signIn(member.token)
    expect((await theirs.get(connectPath(org))).status).toBe(403)
    const narrow = aBrowser(app)
    await narrow.signIn(await aToken(app, user, { scopes: ['read_notification_services'] }))
    expect((await narrow.get(connectPath(org))).status).toBe(403)

    await withFeature(app, org, 'members_manage_notification_services')
    const back = await site.agree(await begin({ org, user: member, browser: theirs }))
    await withoutFeature(app, org, 'members_manage_notification_services')
    expect((await theirs.get(back.pathname + back.search)).status).toBe(403)
    expect(await servicesOf({ org, user, browser })).toEqual([])
  })

  it('by a visitor who is not signed in leads to the sign-in', async () => {
    const { org } = await aPerson()
    const answer = await aBrowser(app).get(connectPath(org))
    expect([answer.status, answer.location]).toEqual([
      303,
      `/sign-in?next=${encodeURIComponent(connectPath(org))}`,
    ])
  })

  it('finds no plain verifier in the database, and a late callback is refused', async () => {
    const person = await aPerson()
    const back = await site.agree(await begin(person))
    const set = { expires_at: new Date(0).toISOString() }
    await app.db.updateTable('notification_oauth_starts').set(set).execute()
    expect((await comeBack(person, back)).status).toBe(400)
    const rows = await app.db.selectFrom('notification_oauth_starts').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(back.searchParams.get('state'))
  })
})

describe('DELETE /organizations/{org.slug}/services/{uuid}', () => {
  it('revokes the token at the site first', async () => {
    const person = await aPerson()
    site.expiresIn = 3600
    await comeBack(person, await site.agree(await begin(person, 'issue_tracker', 'ENG')))
    const [service] = await servicesOf(person)
    const { access_token: access, refresh_token: refresh } = await secretsOf(String(service?.id))
    const others = app.db.deleteFrom('notification_services').where('organization_id', '<>', person.org.id)
    await others.execute()
    const path = `${person.org.path}/services/${service?.id}`
    expect((await app.request('DELETE', path, { token: person.user.token })).status).toBe(204)
    expect(site.revoked.slice(-2)).toEqual([access, refresh])
  })

  it('answers 422 when the provider configuration could not be removed, and the service stays', async () => {
    const person = await aPerson()
    await comeBack(person, await site.agree(await begin(person)))
    const others = app.db.deleteFrom('notification_services').where('organization_id', '<>', person.org.id)
    await others.execute()
    const [service] = await servicesOf(person)
    const remove = () =>
      app.request('DELETE', `${person.org.path}/services/${service?.id}`, { token: person.user.token })
    site.answering = (path, response) => {
      if (path !== '/revoke') return false
      response.statusCode = 500
      response.end()
      return true
    }
    const answer = await remove()
    expect([answer.status, answer.body.message]).toEqual([
      422,
      expect.stringMatching(/^The provider’s configuration could not be removed: .* Asking again is safe\.$/),
    ])
    expect(await servicesOf(person)).toHaveLength(1)
    site.answering = null
    expect((await remove()).status).toBe(204)
  })

  it('does not revoke the token of a workspace that another service uses', async () => {
    const person = await aPerson()
    for (const channel of ['#builds', '#alerts']) {
      await comeBack(person, await site.agree(await begin(person, 'chat_workspace', channel)))
    }
    const before = site.revoked.length
    const [service] = await servicesOf(person)
    const path = `${person.org.path}/services/${service?.id}`
    expect((await app.request('DELETE', path, { token: person.user.token })).status).toBe(204)
    expect(site.revoked).toHaveLength(before)
  })
})
