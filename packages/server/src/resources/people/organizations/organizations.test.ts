import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, aToken, auditTrail, unique } from '../../../../test/builders.ts'
import { graphqlId } from '../../../lib/ids.ts'
import { createMember } from '../members/create.ts'

const app = useApp()

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

async function aUserOf(count: number) {
  const orgs = await Promise.all(Array.from({ length: count }, () => anOrganization(app)))
  const email = `${unique('user')}@example.com`
  for (const org of orgs) {
    await createMember(
      app.db,
      { kind: 'system' },
      { email, name: 'Ada', organizationSlug: org.slug, role: 'member', passwordHash: null },
    )
  }
  return { orgs, user: { email }, token: await aToken(app, { email }) }
}

describe('GET /v2/organizations', () => {
  it('lists the organizations of the token’s owner and no others', async () => {
    await anAdmin(app, await anOrganization(app))
    const { orgs, token } = await aUserOf(3)
    const answer = await app.request('GET', '/v2/organizations', { token })
    expect(answer.status).toBe(200)
    expect(answer.list.map(({ slug }) => String(slug)).sort()).toEqual(orgs.map(({ slug }) => slug).sort())
    const times = answer.list.map(({ created_at: at }) => String(at))
    expect(times).toEqual(times.toSorted())
  })

  it('lists only the organizations the token is limited to', async () => {
    const { orgs, user } = await aUserOf(3)
    const token = await aToken(app, user, { organizations: orgs.slice(0, 1) })
    const answer = await app.request('GET', '/v2/organizations', { token })
    expect(answer.list.map(({ slug }) => slug)).toEqual([orgs[0].slug])
  })

  it('leaves out an organization that does not allow the caller’s address', async () => {
    const { orgs, token } = await aUserOf(2)
    await app.db
      .updateTable('organizations')
      .set({ allowed_ip_addresses: '192.0.2.0/24' })
      .where('id', '=', orgs[0].id)
      .execute()
    const answer = await app.request('GET', '/v2/organizations', { token })
    expect(answer.list.map(({ slug }) => slug)).toEqual([orgs[1].slug])
  })

  it('pages by number', async () => {
    const { token } = await aUserOf(3)
    const all = await app.request('GET', '/v2/organizations', { token })
    const first = await app.request('GET', '/v2/organizations?per_page=2', { token })
    expect(first.headers.get('link')).toBe(`<${baseUrl}/v2/organizations?page=2&per_page=2>; rel="next"`)
    const second = await app.request('GET', '/v2/organizations?page=2&per_page=2', { token })
    expect(second.headers.get('link')).not.toContain('next')
    expect([...first.list, ...second.list]).toEqual(all.list)
  })

  it('answers 403 to a token without the read_organizations scope', async () => {
    const { user } = await aUserOf(1)
    const token = await aToken(app, user, { scopes: ['read_user'] })
    const answer = await app.request('GET', '/v2/organizations', { token })
    expect(answer.status).toBe(403)
    expect(answer.body).toEqual({ message: "Your access token doesn't have the read_organizations scope" })
  })
})

describe('GET /v2/organizations/{org.slug}', () => {
  it('answers with every field to any member', async () => {
    const org = await anOrganization(app, { name: 'Acme Inc' })
    const { token } = await aMember(app, org)
    const answer = await app.request('GET', org.path, { token })
    const self = `${baseUrl}/v2/organizations/${org.slug}`
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      id: org.id,
      graphql_id: graphqlId('Organization', org.id),
      url: self,
      web_url: `${baseUrl}/${org.slug}`,
      name: 'Acme Inc',
      slug: org.slug,
      emoji: null,
      pipelines_url: `${self}/pipelines`,
      agents_url: `${self}/agents`,
      emojis_url: `${self}/emojis`,
      created_at: expect.stringMatching(timestamp),
      teams_enabled: false,
    })
  })

  it('answers 404 to those who may not see it, as for one that does not exist', async () => {
    const { orgs, user } = await aUserOf(2)
    const limited = await aToken(app, user, { organizations: orgs.slice(0, 1) })
    const foreign = await anOrganization(app)
    for (const slug of [orgs[1].slug, foreign.slug, unique('none'), 'a%00b', '%F0%9F%9B%A0']) {
      const answer = await app.request('GET', `/v2/organizations/${slug}`, { token: limited })
      expect(answer.status).toBe(404)
      expect(answer.body).toEqual({ message: 'No organization found' })
    }
  })
})

describe('PATCH /v2/organizations/{org.slug}', () => {
  it('renames the organization, for the next request too, and records it', async () => {
    const org = await anOrganization(app, { name: 'Before' })
    const { token } = await anAdmin(app, org)
    const name = ':rocket: After'
    const answer = await app.request('PATCH', org.path, { token, body: { name } })
    expect([answer.status, answer.body.name]).toEqual([200, name])
    const { body } = await app.request('GET', org.path, { token })
    expect(body).toMatchObject({ name, slug: org.slug })
    const [event] = await auditTrail(app, org, 'ORGANIZATION_UPDATED')
    expect(event).toMatchObject({ subject: { name }, data: { name } })
  })

  it('sets an emoji beside the name, which an empty one or null takes away, and lists and records it', async () => {
    const org = await anOrganization(app, { name: 'Stays' })
    const { token } = await anAdmin(app, org)
    const set = async (emoji: string | null) =>
      (await app.request('PATCH', org.path, { token, body: { emoji } })).body['emoji']
    expect(await set(':rocket:')).toBe(':rocket:')
    const shown = { name: 'Stays', emoji: ':rocket:' }
    expect((await app.request('GET', org.path, { token })).body).toMatchObject(shown)
    expect((await app.request('GET', '/v2/organizations', { token })).list).toMatchObject([shown])
    expect(await auditTrail(app, org, 'ORGANIZATION_UPDATED')).toMatchObject([
      { subject: { name: 'Stays' }, data: { emoji: ':rocket:' } },
    ])
    expect([await set(''), await set(':tada:'), await set(null)]).toEqual([null, ':tada:', null])
  })

  it('records nothing when nothing changes', async () => {
    const org = await anOrganization(app, { name: 'Same' })
    const { token } = await anAdmin(app, org)
    const answer = await app.request('PUT', org.path, { token, body: { name: 'Same' } })
    expect(answer.status).toBe(200)
    expect(await auditTrail(app, org, 'ORGANIZATION_UPDATED')).toEqual([])
  })

  it.each([{}, { name: '' }, { name: ' - ' }, { name: 'a'.repeat(256) }, { name: 1 }, { emoji: 'rocket' }])(
    'answers 422 to %j',
    async (body) => {
      const org = await anOrganization(app)
      const { token } = await anAdmin(app, org)
      expect((await app.request('PATCH', org.path, { token, body })).status).toBe(422)
    },
  )

  it('answers 403 to a member', async () => {
    const org = await anOrganization(app)
    const { token } = await aMember(app, org)
    const answer = await app.request('PATCH', org.path, { token, body: { name: 'Mine' } })
    expect(answer.status).toBe(403)
  })
})

describe('GET /v2/organizations/{org.slug}/rate_limit', () => {
  it('counts the organization’s requests, this one included', async () => {
    const org = await anOrganization(app)
    const { token } = await aMember(app, org)
    const before = app.ctx.now().getTime()
    await app.request('GET', org.path, { token })
    const answer = await app.request('GET', `${org.path}/rate_limit`, { token })
    const seconds = (app.ctx.now().getTime() - before) / 1000
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      scopes: {
        rest: {
          limit: 60_000,
          current: 2,
          reset: expect.any(Number),
          reset_at: expect.stringMatching(timestamp),
          enforced: true,
        },
        graphql: {
          limit: 20_000,
          current: 0,
          reset: 300,
          reset_at: expect.stringMatching(timestamp),
          enforced: false,
        },
      },
    })
    const { reset, reset_at: resetAt } = answer.body.scopes.rest
    expect(Number(reset)).toBeGreaterThanOrEqual(Math.floor(60 - seconds))
    expect(Number(reset)).toBeLessThanOrEqual(60)
    expect(Date.parse(String(resetAt))).toBeGreaterThan(app.ctx.now().getTime())
    expect(Date.parse(String(resetAt))).toBeLessThanOrEqual(app.ctx.now().getTime() + Number(reset) * 1000)
  })

  it('counts organizations apart', async () => {
    const busy = await anOrganization(app)
    const { token } = await aMember(app, busy)
    await Promise.all(Array.from({ length: 5 }, () => app.request('GET', busy.path, { token })))
    const quiet = await anOrganization(app)
    const other = await aMember(app, quiet)
    const answer = await app.request('GET', `${quiet.path}/rate_limit`, { token: other.token })
    expect(answer.body.scopes.rest.current).toBe(1)
  })
})
