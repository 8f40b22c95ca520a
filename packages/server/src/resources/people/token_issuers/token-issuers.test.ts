import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { baseUrl, useApp, type Json } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aToken,
  auditTrail,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'

const app = useApp()

interface World {
  org: TestOrganization
  admin: TestUser
  account: string
}

async function aWorld(account: object = {}): Promise<World> {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const { body } = await app.request('POST', `${org.path}/service_accounts`, {
    token: admin.token,
    body: { name: 'Deployer', ...account },
  })
  return { org, admin, account: String(body['id']) }
}

const bodyIn = ({ account }: World, changes: object = {}) => ({
  issuer: 'https://tokens.example.com',
  claims: { sub: ['release-server'] },
  service_account_id: account,
  scopes: ['read_builds'],
  ...changes,
})

const create = (world: World, changes: object = {}, token = world.admin.token) =>
  app.request('POST', `${world.org.path}/token_issuers`, { token, body: bodyIn(world, changes) })

async function anIssuer(world: World, changes: object = {}): Promise<{ issuer: Json; path: string }> {
  const { status, body } = await create(world, changes)
  expect(status).toBe(201)
  return { issuer: body, path: `${world.org.path}/token_issuers/${String(body['id'])}` }
}

const rsaKey = (bits: number) => generateKeyPairSync('rsa', { modulusLength: bits })

describe('POST /v2/organizations/{org}/token_issuers', () => {
  it('registers an issuer, whose tokens must be for it', async () => {
    const world = await aWorld()
    const { path, issuer } = await anIssuer(world)
    expect(issuer).toEqual({
      id: expect.any(String),
      url: baseUrl + path,
      issuer: 'https://tokens.example.com',
      audience: baseUrl + path,
      jwks: null,
      claims: { sub: ['release-server'] },
      service_account: { id: world.account, name: 'Deployer' },
      scopes: ['read_builds'],
      most_minutes: 60,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const { list } = await app.request('GET', `${world.org.path}/token_issuers`, { token: world.admin.token })
    expect(list).toEqual([issuer])
    expect((await app.request('GET', path, { token: world.admin.token })).body).toEqual(issuer)
    expect(await auditTrail(app, world.org, 'TOKEN_ISSUER_CREATED')).toContainEqual(
      expect.objectContaining({
        subject: expect.objectContaining({ uuid: issuer['id'], name: 'https://tokens.example.com' }),
      }),
    )
  })

  it('stores of a key what is public', async () => {
    const world = await aWorld()
    const key = rsaKey(2048).publicKey.export({ format: 'jwk' })
    const { issuer } = await anIssuer(world, { jwks: { keys: [{ ...key, kid: 'one', x5c: ['long'] }] } })
    expect(issuer['jwks']).toEqual({ keys: [{ ...key, kid: 'one' }] })
  })

  it('refuses what would let strangers in', async () => {
    const [world, other] = [await aWorld(), await aWorld()]
    const wrong: object[] = [
      { issuer: 'ftp://tokens.example.com' },
      { issuer: 'tokens.example.com' },
      { issuer: 'https://user:password@tokens.example.com' },
      { claims: { aud: ['x'] } },
      { service_account_id: other.account },
      { service_account_id: world.admin.id },
      { jwks: { keys: [rsaKey(2048).privateKey.export({ format: 'jwk' })] } },
      { jwks: { keys: [rsaKey(1024).publicKey.export({ format: 'jwk' })] } },
      { jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } },
      { jwks: { keys: [{ kty: 'RSA' }] } },
      { scopes: ['write_user'] },
      { claims: {} },
      { claims: { sub: [] } },
      { claims: { sub: 'x' } },
      { most_minutes: 61 },
      { scopes: [] },
    ]
    for (const changes of wrong)
      expect([changes, (await create(world, changes)).status]).toEqual([changes, 422])
  })

  it('is for administrators, whose tokens have the scopes', async () => {
    const world = await aWorld()
    const member = await aMember(app, world.org)
    expect((await create(world, {}, member.token)).status).toBe(403)
    const list = await app.request('GET', `${world.org.path}/token_issuers`, { token: member.token })
    expect(list.status).toBe(403)
    const narrow = await aToken(app, world.admin, { scopes: ['write_organizations'] })
    expect((await create(world, {}, narrow)).status).toBe(403)
    expect((await create(world, { scopes: ['write_organizations'] }, narrow)).status).toBe(201)
  })

  it('refuses a service account that asks for itself', async () => {
    const world = await aWorld({ role: 'admin' })
    const tokens = `${world.org.path}/service_accounts/${world.account}/tokens`
    const body = {
      description: 'X',
      scopes: ['write_organizations', 'read_builds'],
      expires_in_days: 1,
    }
    const made = await app.request('POST', tokens, { token: world.admin.token, body })
    expect((await create(world, {}, String(made.body['token']))).status).toBe(403)
  })
})

describe('PUT and DELETE /v2/organizations/{org}/token_issuers/{id}', () => {
  it('change what they name, for administrators of the organization', async () => {
    const [world, other] = [await aWorld(), await aWorld()]
    const { path, issuer } = await anIssuer(world)
    const { token } = world.admin
    const changes = { claims: { sub: ['other'] }, most_minutes: 5 }
    const foreign = path.replace(world.org.path, other.org.path)
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? { body: changes } : {}
      const status = async (at: string, by: TestUser) =>
        (await app.request(method, at, { token: by.token, ...body })).status
      expect(await status(foreign, other.admin)).toBe(404)
      expect(await status(path, await aMember(app, world.org))).toBe(403)
    }
    const answer = await app.request('PUT', path, { token, body: changes })
    expect([answer.status, answer.body]).toEqual([
      200,
      { ...issuer, ...changes, updated_at: expect.any(String) },
    ])
    const narrow = await aToken(app, world.admin, { scopes: ['write_organizations'] })
    expect((await app.request('PUT', path, { token: narrow, body: { most_minutes: 6 } })).status).toBe(403)
    expect(
      (await app.request('PUT', path, { token, body: { service_account_id: other.account } })).status,
    ).toBe(422)
    expect((await app.request('DELETE', path, { token })).status).toBe(204)
    expect((await app.request('GET', path, { token })).status).toBe(404)
    const trail = [
      await auditTrail(app, world.org, 'TOKEN_ISSUER_UPDATED'),
      await auditTrail(app, world.org, 'TOKEN_ISSUER_DELETED'),
    ]
    expect(trail.map((events) => events.length)).toEqual([1, 1])
  })
})
