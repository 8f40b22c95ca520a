import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useApp, type Json } from '../../../../test/app.ts'
import { aBrowser } from '../../../../test/browser.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aTeam,
  auditTrail,
  unique,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { createAccessToken } from '../access-token/create.ts'

const app = useApp()

interface World {
  org: TestOrganization
  admin: TestUser
}

async function aWorld(): Promise<World> {
  const org = await anOrganization(app)
  return { org, admin: await anAdmin(app, org) }
}

async function anAccount({ org, admin }: World, body: object = {}): Promise<Json> {
  const answer = await app.request('POST', `${org.path}/service_accounts`, {
    token: admin.token,
    body: { name: unique('Deployer'), ...body },
  })
  expect(answer.status).toBe(201)
  return answer.body
}

const tokensPath = ({ org }: World, account: Json) =>
  `${org.path}/service_accounts/${String(account['id'])}/tokens`

async function aTokenOf(world: World, account: Json, scopes: string[] = ['read_builds']): Promise<string> {
  const { status, body } = await app.request('POST', tokensPath(world, account), {
    token: world.admin.token,
    body: { description: 'Server', scopes, expires_in_days: 30 },
  })
  expect(status).toBe(201)
  return String(body['token'])
}

describe('POST /v2/organizations/{org}/service_accounts', () => {
  it('creates a member that is a program, with the caller as its owner', async () => {
    const world = await aWorld()
    const account = await anAccount(world, {
      name: 'Deployer',
      description: 'Starts releases.',
    })
    expect(account).toEqual({
      id: expect.any(String),
      name: 'Deployer',
      description: 'Starts releases.',
      role: 'member',
      owners: [{ id: world.admin.id, name: expect.any(String), email: world.admin.email }],
      has_owner: true,
      created_at: expect.any(String),
    })
    const events = await auditTrail(app, world.org, 'SERVICE_ACCOUNT_CREATED')
    expect(events).toContainEqual(
      expect.objectContaining({
        subject: expect.objectContaining({ uuid: account['id'], name: 'Deployer' }),
      }),
    )
  })

  it('is not counted among people, nor among administrators', async () => {
    const world = await aWorld()
    const account = await anAccount(world, { role: 'admin' })
    const { list } = await app.request('GET', `${world.org.path}/members`, { token: world.admin.token })
    expect(list.map(({ id }) => id)).toEqual([world.admin.id])
    const own = `${world.org.path}/members/${String(account['id'])}`
    expect((await app.request('GET', own, { token: world.admin.token })).status).toBe(404)
    const last = `${world.org.path}/members/${world.admin.id}`
    expect((await app.request('DELETE', last, { token: world.admin.token })).status).toBe(422)
  })

  it('refuses owners of another organization, and programs as owners', async () => {
    const [world, other] = [await aWorld(), await aWorld()]
    const account = await anAccount(world)
    for (const id of [other.admin.id, account['id']]) {
      const { status } = await app.request('POST', `${world.org.path}/service_accounts`, {
        token: world.admin.token,
        body: { name: 'X', owner_ids: [id] },
      })
      expect(status).toBe(422)
    }
  })

  it('is for administrators', async () => {
    const { org } = await aWorld()
    const member = await aMember(app, org)
    const body = { name: 'X' }
    const { status } = await app.request('POST', `${org.path}/service_accounts`, {
      token: member.token,
      body,
    })
    expect(status).toBe(403)
  })
})

describe('PUT /v2/organizations/{org}/service_accounts/{id}', () => {
  it('replaces the owners, and shows an account whose owners have all left', async () => {
    const world = await aWorld()
    const owner = await aMember(app, world.org)
    const account = await anAccount(world)
    const path = `${world.org.path}/service_accounts/${String(account['id'])}`
    const body = { owner_ids: [owner.id], description: 'New' }
    const changed = await app.request('PUT', path, { token: world.admin.token, body })
    expect(changed.body).toMatchObject({ description: 'New', owners: [{ id: owner.id }], has_owner: true })
    const left = `${world.org.path}/members/${owner.id}`
    expect((await app.request('DELETE', left, { token: world.admin.token })).status).toBe(204)
    const { list } = await app.request('GET', `${world.org.path}/service_accounts`, {
      token: world.admin.token,
    })
    expect(list).toEqual([expect.objectContaining({ id: account['id'], owners: [], has_owner: false })])
  })

  it('refuses the account itself', async () => {
    const world = await aWorld()
    const account = await anAccount(world, { role: 'admin' })
    const token = await aTokenOf(world, account, ['write_organizations'])
    const path = `${world.org.path}/service_accounts/${String(account['id'])}`
    expect((await app.request('PUT', path, { token, body: { name: 'Me' } })).status).toBe(403)
  })
})

describe('DELETE /v2/organizations/{org}/service_accounts/{id}', () => {
  it('revokes the tokens, and leaves the builds with their creator', async () => {
    const world = await aWorld()
    const pipeline = await aPipeline(app, world.org, 'steps: [{command: turn}]')
    const account = await anAccount(world, { name: 'Deployer' })
    const token = await aTokenOf(world, account, ['read_builds', 'write_builds'])
    const builds = `${world.org.path}/pipelines/${pipeline.slug}/builds`
    const made = await app.request('POST', builds, { token, body: { commit: 'HEAD', branch: 'main' } })
    expect(made.status).toBe(201)
    expect(made.body['creator']).toMatchObject({ id: account['id'], name: 'Deployer' })
    const path = `${world.org.path}/service_accounts/${String(account['id'])}`
    expect((await app.request('DELETE', path, { token: world.admin.token })).status).toBe(204)
    expect((await app.request('GET', builds, { token })).status).toBe(401)
    expect((await app.request('GET', path, { token: world.admin.token })).status).toBe(404)
    const { body } = await app.request('GET', `${builds}/${String(made.body['number'])}`, {
      token: world.admin.token,
    })
    expect(body['creator']).toMatchObject({ name: 'Deployer' })
  })
})

describe('…/service_accounts/{id}/tokens', () => {
  it('makes tokens that expire, reach this organization only, and are listed and revoked', async () => {
    const [world, other] = [await aWorld(), await aWorld()]
    const account = await anAccount(world)
    const token = await aTokenOf(world, account)
    expect((await app.request('GET', `${world.org.path}/builds`, { token })).status).toBe(200)
    expect((await app.request('GET', `${other.org.path}/builds`, { token })).status).toBe(404)
    const { list } = await app.request('GET', tokensPath(world, account), { token: world.admin.token })
    expect(list).toEqual([
      expect.objectContaining({
        description: 'Server',
        scopes: ['read_builds'],
        expires_at: expect.any(String),
      }),
    ])
    expect(JSON.stringify(list)).not.toContain(token)
    const path = `${tokensPath(world, account)}/${String(list[0]?.['id'])}`
    expect((await app.request('DELETE', path, { token: world.admin.token })).status).toBe(204)
    expect((await app.request('GET', `${world.org.path}/builds`, { token })).status).toBe(401)
  })

  it('are for owners and administrators, also of accounts that have the same token id', async () => {
    const world = await aWorld()
    const [owner, stranger] = [await aMember(app, world.org), await aMember(app, world.org)]
    const account = await anAccount(world, { owner_ids: [owner.id] })
    const foreign = await anAccount(world)
    const body = { description: 'Server', scopes: ['read_builds'], expires_in_days: 30 }
    const path = tokensPath(world, account)
    expect((await app.request('POST', path, { token: stranger.token, body })).status).toBe(403)
    expect((await app.request('GET', path, { token: stranger.token })).status).toBe(403)
    const made = await app.request('POST', path, { token: owner.token, body })
    expect(made.status).toBe(201)
    const wrong = `${tokensPath(world, foreign)}/${String(made.body['id'])}`
    expect((await app.request('DELETE', wrong, { token: world.admin.token })).status).toBe(404)
    await app.request('DELETE', `${world.org.path}/members/${owner.id}`, { token: world.admin.token })
    expect((await app.request('POST', path, { token: owner.token, body })).status).toBe(404)
  })

  it('have no more scopes and time than the token that creates them', async () => {
    const world = await aWorld()
    const account = await anAccount(world)
    const own = await aTokenOf(world, account, ['write_organizations', 'read_builds'])
    const path = tokensPath(world, account)
    const ask = (changes: object, token = world.admin.token) =>
      app.request('POST', path, {
        token,
        body: { description: 'X', scopes: ['read_builds'], expires_in_days: 1, ...changes },
      })
    expect((await ask({ scopes: ['write_user'] })).status).toBe(422)
    expect((await ask({ expires_in_days: 367 })).status).toBe(422)
    expect((await ask({}, own)).status).toBe(403)
    const admin = await anAccount(world, { role: 'admin' })
    const narrow = await aTokenOf(world, admin, ['write_organizations'])
    expect((await ask({}, narrow)).status).toBe(403)
    expect((await ask({ scopes: ['write_organizations'], expires_in_days: 31 }, narrow)).status).toBe(422)
    expect((await ask({ scopes: ['write_organizations'] }, narrow)).status).toBe(201)
  })

  it('are made by administrators alone while the account is one', async () => {
    const world = await aWorld()
    const owner = await aMember(app, world.org)
    const account = await anAccount(world, { owner_ids: [owner.id] })
    const [path, builds] = [tokensPath(world, account), `${world.org.path}/builds`]
    const body = { description: 'X', scopes: ['read_builds'], expires_in_days: 1 }
    const first = await app.request('POST', path, { token: owner.token, body })
    expect(first.status).toBe(201)
    const own = `${world.org.path}/service_accounts/${String(account['id'])}`
    const set = async (role: string) =>
      (await app.request('PUT', own, { token: world.admin.token, body: { role } })).status
    expect(await set('admin')).toBe(200)
    expect((await app.request('GET', builds, { token: String(first.body['token']) })).status).toBe(401)
    expect((await app.request('POST', path, { token: owner.token, body })).status).toBe(403)
    const byAdmin = await app.request('POST', path, { token: world.admin.token, body })
    expect(byAdmin.status).toBe(201)
    expect(await set('admin')).toBe(200)
    expect((await app.request('GET', builds, { token: String(byAdmin.body['token']) })).status).toBe(200)
    expect(await set('member')).toBe(200)
    expect((await app.request('POST', path, { token: owner.token, body })).status).toBe(201)
  })

  it('expire, also when the operator makes them', async () => {
    const world = await aWorld()
    const account = await anAccount(world)
    const made = (expiresAt: string | null) =>
      createAccessToken(
        app.db,
        { kind: 'operator', command: 'token create' },
        {
          email: `${String(account['id'])}@service-account.invalid`,
          scopes: ['read_builds'],
          organizationSlugs: [],
          description: 'X',
          expiresAt,
          allowedIpAddresses: null,
        },
      )
    await expect(made(null)).rejects.toThrow('whose tokens must expire')
    expect((await made(new Date(Date.now() + 60_000).toISOString())).token).toMatch(/^mrt_/)
  })

  it('are only for administrators where only those create tokens', async () => {
    const world = await aWorld()
    const owner = await aMember(app, world.org)
    const account = await anAccount(world, { owner_ids: [owner.id] })
    await sql`
      update organizations set restrict_user_api_token_creation = true where id = ${world.org.id}`.execute(
      app.db,
    )
    const body = { description: 'X', scopes: ['read_builds'], expires_in_days: 1 }
    const path = tokensPath(world, account)
    expect((await app.request('POST', path, { token: owner.token, body })).status).toBe(403)
  })
})

describe('a service account', () => {
  it('is in teams with a role, as other members', async () => {
    const world = await aWorld()
    const team = await aTeam(app, world.org, world.admin)
    const account = await anAccount(world)
    const path = `${world.org.path}/teams/${team.id}/members`
    const body = { user_id: account['id'], role: 'maintainer' }
    expect((await app.request('POST', path, { token: world.admin.token, body })).status).toBe(201)
    const { list } = await app.request('GET', path, { token: world.admin.token })
    expect(list).toContainEqual(expect.objectContaining({ user_id: account['id'], role: 'maintainer' }))
  })

  it('cannot sign in on pages, by its token, a link or an invitation', async () => {
    const world = await aWorld()
    const account = await anAccount(world)
    const token = await aTokenOf(world, account)
    const browser = aBrowser(app)
    const { status, text } = await browser.signIn(token)
    expect([status, text.includes('Service accounts use the API only')]).toEqual([422, true])
    const email = `${String(account['id'])}@service-account.invalid`
    const other = await aWorld()
    const invited = await app.request('POST', `${other.org.path}/invitations`, {
      token: other.admin.token,
      body: { emails: [email.toUpperCase()] },
    })
    expect(invited.status).toBe(422)
    await browser.signInWithPassword(email, '')
    expect((await browser.get('/-/device')).location).toContain('/sign-in')
  })
})
