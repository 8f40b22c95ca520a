import { createHmac } from 'node:crypto'
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'
import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { useApp, type Json } from '../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  auditTrail,
  type TestOrganization,
  type TestUser,
} from '../../../test/builders.ts'
import { aReceiver, type Answering } from '../../../test/remote-hosts/receiver.ts'
import { handlers } from '../../worker.ts'

const app = useApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })
const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
const jwtType = 'urn:ietf:params:oauth:token-type:jwt'

const closings: Array<() => Promise<void>> = []
afterAll(async () => {
  await Promise.all(closings.map((close) => close()))
})

interface Key {
  privateKey: CryptoKey
  publicKey: CryptoKey
  jwk: JWK
}

async function aKey(kid = 'one', alg = 'RS256'): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg } }
}

interface Authority {
  issuer: string
  key: Key
  keys: JWK[]
  /** The paths that it was asked for. */
  asked: string[]
  /** Instead of its keys. */
  answering: Answering | null
  metadata: object
}

/** An authority over real HTTP. */
async function anAuthority(): Promise<Authority> {
  const key = await aKey()
  const receiver = await aReceiver()
  closings.push(() => receiver.close())
  const issuer = new URL(receiver.url).origin
  const authority: Authority = { issuer, key, keys: [key.jwk], asked: [], answering: null, metadata: {} }
  receiver.answering = (response, received, n) => {
    authority.asked.push(received.path)
    if (received.path === '/.well-known/openid-configuration')
      response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks`, ...authority.metadata }))
    else if (authority.answering !== null) authority.answering(response, received, n)
    else response.end(JSON.stringify({ keys: authority.keys }))
  }
  return authority
}

interface Trust {
  org: TestOrganization
  admin: TestUser
  account: string
  id: string
  url: string
  path: string
}

async function aTrust(authority: Pick<Authority, 'issuer'>, body: object = {}): Promise<Trust> {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const made = async (path: string, fields: object) => {
    const answer = await app.request('POST', org.path + path, { token: admin.token, body: fields })
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
    return answer.body
  }
  const account = String((await made('/service_accounts', { name: 'Deployer' }))['id'])
  const trust = await made('/token_issuers', {
    issuer: authority.issuer,
    claims: { sub: ['release-server'] },
    service_account_id: account,
    scopes: ['read_builds', 'read_pipelines'],
    ...body,
  })
  const id = String(trust['id'])
  return { org, admin, account, id, url: String(trust['url']), path: `${org.path}/token_issuers/${id}` }
}

const seconds = () => Math.floor(Date.now() / 1000)

async function sign(authority: Authority, trust: Trust, claims: object = {}, key = authority.key) {
  const payload = {
    iss: authority.issuer,
    aud: trust.url,
    sub: 'release-server',
    iat: seconds(),
    exp: seconds() + 600,
    ...claims,
  }
  const header = { alg: key.jwk.alg ?? '', ...(key.jwk.kid === undefined ? {} : { kid: key.jwk.kid }) }
  return new SignJWT(payload).setProtectedHeader(header).sign(key.privateKey)
}

async function exchange(
  trust: Trust,
  subjectToken: string,
  changes: Record<string, string> = {},
  path = '/-',
) {
  const fields = { grant_type: grantType, subject_token: subjectToken, subject_token_type: jwtType }
  const response = await fetch(`${app.address}${path}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      ...fields,
      ...('resource' in changes ? {} : { audience: trust.id }),
      ...changes,
    }),
  })
  expect(response.headers.get('cache-control')).toBe('no-store')
  return { status: response.status, body: (await response.json()) as Json }
}

const refusedAs = (error: string, why: string, status = 400) => ({
  status,
  body: { error, error_description: expect.stringContaining(why) },
})

const builds = ({ org }: Trust, { body }: { body: Json }) =>
  app.request('GET', `${org.path}/builds`, { token: String(body['access_token']) })

describe('POST /-/oauth/token, to exchange a token', () => {
  it('gives a short token of the service account', async () => {
    const authority = await anAuthority()
    const trust = await aTrust(authority)
    const given = await exchange(trust, await sign(authority, trust))
    expect(given).toEqual({
      status: 200,
      body: {
        access_token: expect.stringMatching(/^mrt_/),
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: expect.any(Number),
        scope: 'read_builds read_pipelines',
      },
    })
    expect((await builds(trust, given)).status).toBe(200)
    const other = await anOrganization(app)
    const token = String(given.body['access_token'])
    expect((await app.request('GET', `${other.path}/builds`, { token })).status).toBe(404)
    expect(await auditTrail(app, trust.org, 'API_ACCESS_TOKEN_CREATED')).toContainEqual(
      expect.objectContaining({
        actor: expect.objectContaining({ uuid: trust.account }),
        subject: expect.objectContaining({ name: `For release-server of ${authority.issuer}` }),
      }),
    )
  })

  it('is named by the metadata, and takes ID tokens, the address of the trust and fewer scopes', async () => {
    const { body } = await app.request('GET', '/.well-known/oauth-authorization-server')
    expect(body['grant_types_supported']).toContain(grantType)
    const authority = await anAuthority()
    const trust = await aTrust(authority)
    const changes = {
      resource: trust.url,
      scope: 'read_builds',
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    }
    const given = await exchange(trust, await sign(authority, trust), changes, '')
    expect(given).toMatchObject({ status: 200, body: { scope: 'read_builds' } })
    const wide = await exchange(trust, await sign(authority, trust), { scope: 'write_builds' })
    expect(wide).toMatchObject(refusedAs('invalid_scope', 'read_builds'))
  })

  it('never lasts longer than the token that is exchanged, nor than the trust says', async () => {
    const authority = await anAuthority()
    const trust = await aTrust(authority, { most_minutes: 5 })
    const lifeOf = async (claims: object) => {
      const { status, body } = await exchange(trust, await sign(authority, trust, claims))
      expect(status).toBe(200)
      return Number(body['expires_in'])
    }
    expect(await lifeOf({ exp: seconds() + 3600 })).toBe(300)
    const short = await lifeOf({ exp: seconds() + 60 })
    expect(short).toBeLessThanOrEqual(60)
    expect(short).toBeGreaterThan(30)
  })

  it('refuses tokens that are not for it', async () => {
    const authority = await anAuthority()
    const trust = await aTrust(authority)
    const cases: Array<[claims: object, why: string]> = [
      [{ iss: 'https://other.example.com' }, 'issuer'],
      [{ aud: 'https://other.example.com' }, 'aud'],
      [{ aud: undefined }, 'aud'],
      [{ exp: seconds() - 1 }, 'expired'],
      [{ exp: seconds() - 3600 }, 'exp'],
      [{ exp: undefined }, 'exp'],
      [{ nbf: seconds() + 300 }, 'nbf'],
      [{ iat: seconds() + 300 }, 'future'],
      [{ iat: undefined }, 'iat'],
      [{ sub: 'release-server2' }, 'claim sub'],
      [{ sub: undefined }, 'claim sub'],
      [{ sub: { toString: 'release-server' } }, 'sub'],
    ]
    for (const [claims, why] of cases)
      expect(await exchange(trust, await sign(authority, trust, claims))).toMatchObject(
        refusedAs('invalid_request', why),
      )
    const early = await sign(authority, trust, { nbf: seconds() + 10, iat: seconds() + 10 })
    expect((await exchange(trust, early)).status).toBe(200)
  })

  it('compares every claim that the trust names', async () => {
    const authority = await anAuthority()
    const claims = { sub: ['release-server'], groups: ['release', '7'], constructor: ['x'] }
    const trust = await aTrust(authority, { claims })
    const ask = async (said: object) => exchange(trust, await sign(authority, trust, said))
    expect((await ask({ groups: ['staff', 7], constructor: 'x' })).status).toBe(200)
    expect(await ask({ groups: ['staff'], constructor: 'x' })).toMatchObject(
      refusedAs('invalid_request', 'claim groups'),
    )
    expect(await ask({ groups: '7' })).toMatchObject(refusedAs('invalid_request', 'claim constructor'))
  })

  it('takes asymmetric signatures of the issuer only', async () => {
    const authority = await anAuthority()
    const trust = await aTrust(authority)
    const [header, payload = '', signature = ''] = (await sign(authority, trust)).split('.')
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const hs256 = encode({ alg: 'HS256', kid: 'one' })
    const secret = await exportSPKI(authority.key.publicKey)
    const mac = createHmac('sha256', secret).update(`${hs256}.${payload}`).digest('base64url')
    const foreign = await aKey('one')
    const tokens: Array<[string, string]> = [
      [`${encode({ alg: 'none' })}.${payload}.`, 'algorithm'],
      [`${encode({ alg: 'none' })}.${payload}.${signature}`, 'algorithm'],
      [`${hs256}.${payload}.${mac}`, 'algorithm'],
      [`${header}.${payload}.${'A'.repeat(signature.length)}`, 'signature'],
      [await sign(authority, trust, {}, foreign), 'signature'],
      [await sign(authority, trust, {}, await aKey('other')), 'no key'],
      [`${encode({ alg: 'RS256', kid: 'one', crit: ['x'], x: 1 })}.${payload}.${signature}`, 'x'],
      ['', 'no signed JWT'],
      ['a.b.c', 'no signed JWT'],
      [`${header}.${Buffer.from('null').toString('base64url')}.${signature}`, 'no signed JWT'],
    ]
    for (const [token, why] of tokens)
      expect(await exchange(trust, token)).toMatchObject(refusedAs('invalid_request', why))
  })

  it('refuses the key of another issuer, whose token names the same key', async () => {
    const [authority, other] = [await anAuthority(), await anAuthority()]
    const [trust, otherTrust] = [await aTrust(authority), await aTrust(other)]
    expect((await exchange(otherTrust, await sign(other, otherTrust))).status).toBe(200)
    const token = await sign(authority, trust, {}, other.key)
    expect(await exchange(trust, token)).toMatchObject(refusedAs('invalid_request', 'signature'))
  })

  it('keeps organizations apart that trust the same issuer', async () => {
    const authority = await anAuthority()
    const audience = 'https://ci.example.com'
    const [mine, theirs] = [
      await aTrust(authority, { audience, claims: { sub: ['mine'] } }),
      await aTrust(authority, { audience, claims: { sub: ['theirs'] } }),
    ]
    const token = await sign(authority, mine, { aud: audience, sub: 'mine' })
    expect(await exchange(theirs, token)).toMatchObject(refusedAs('invalid_request', 'claim sub'))
    const given = await exchange(mine, token)
    expect(given.status).toBe(200)
    expect((await builds(theirs, given)).status).toBe(404)
    const plain = await aTrust(authority)
    expect(await exchange(plain, await sign(authority, mine))).toMatchObject(
      refusedAs('invalid_request', 'aud'),
    )
  })

  it('needs exactly one trust, which exists', async () => {
    const authority = await anAuthority()
    const trust = await aTrust(authority)
    const token = await sign(authority, trust)
    for (const audience of ['', 'x', trust.org.slug, trust.account, `https://other.example/${trust.id}`])
      expect(await exchange(trust, token, { audience })).toMatchObject(refusedAs('invalid_target', 'One'))
    const both = await exchange(trust, token, { audience: trust.id, resource: trust.url })
    expect(both).toMatchObject(refusedAs('invalid_target', 'One'))
    expect(authority.asked).toEqual([])
    for (const wrong of [
      { subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' },
      { requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
      { actor_token: token },
    ])
      expect(await exchange(trust, token, wrong)).toMatchObject(refusedAs('invalid_request', ''))
  })

  it('ends with the trust, a change of it, the account and its last owner', async () => {
    const authority = await anAuthority()
    const trust = await aTrust(authority)
    const token = await sign(authority, trust)
    const asAdmin = (method: string, path: string, body?: object) =>
      app.request(method, path, { token: trust.admin.token, ...(body === undefined ? {} : { body }) })
    const first = await exchange(trust, token)
    expect((await builds(trust, first)).status).toBe(200)
    expect((await asAdmin('PUT', trust.path, { scopes: ['read_builds'] })).status).toBe(200)
    expect((await builds(trust, first)).status).toBe(401)

    const owner = await aMember(app, trust.org)
    const account = `${trust.org.path}/service_accounts/${trust.account}`
    expect((await asAdmin('PUT', account, { owner_ids: [owner.id] })).status).toBe(200)
    expect((await exchange(trust, token)).status).toBe(200)
    expect((await asAdmin('DELETE', `${trust.org.path}/members/${owner.id}`)).status).toBe(204)
    expect(await exchange(trust, token)).toMatchObject(refusedAs('invalid_request', 'owners'))
    expect((await asAdmin('PUT', account, { owner_ids: [trust.admin.id] })).status).toBe(200)

    const second = await exchange(trust, token)
    expect((await builds(trust, second)).status).toBe(200)
    expect((await asAdmin('DELETE', account)).status).toBe(204)
    expect((await builds(trust, second)).status).toBe(401)
    expect(await exchange(trust, token)).toMatchObject(refusedAs('invalid_target', ''))

    const deleted = await aTrust(authority)
    const third = await exchange(deleted, await sign(authority, deleted))
    expect((await builds(deleted, third)).status).toBe(200)
    const removed = await app.request('DELETE', deleted.path, { token: deleted.admin.token })
    expect([removed.status, (await builds(deleted, third)).status]).toEqual([204, 401])
  })

  it('deletes the rows of tokens that have expired', async () => {
    const authority = await anAuthority()
    const trust = await aTrust(authority)
    expect((await exchange(trust, await sign(authority, trust))).status).toBe(200)
    const rows = () =>
      app.db.selectFrom('api_access_tokens').select('id').where('token_issuer_id', '=', trust.id).execute()
    await handlers.expire_sessions(app.ctx, {})
    expect(await rows()).toHaveLength(1)
    await sql`
      update api_access_tokens set expires_at = now() - interval '2 days' where token_issuer_id = ${trust.id}`.execute(
      app.db,
    )
    await handlers.expire_sessions(app.ctx, {})
    expect(await rows()).toEqual([])
  })
})

describe('the keys of an issuer', () => {
  it('are asked for once by a hundred requests, also when these name keys that it lacks', async () => {
    const authority = await anAuthority()
    const trust = await aTrust(authority)
    const good = await sign(authority, trust)
    const bad = await sign(authority, trust, {}, await aKey('unknown'))
    const tokens = Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? good : bad))
    const answers = await Promise.all(tokens.map((token) => exchange(trust, token)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50)
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(50)
    expect(authority.asked).toEqual(['/.well-known/openid-configuration', '/jwks'])
  })

  it('may be of several kinds, and pasted', async () => {
    for (const alg of ['ES256', 'EdDSA', 'PS256']) {
      const key = await aKey('pasted', alg)
      const authority = { ...(await anAuthority()), key }
      const trust = await aTrust(authority, { jwks: { keys: [key.jwk] } })
      expect((await exchange(trust, await sign(authority, trust))).status).toBe(200)
      expect(authority.asked).toEqual([])
    }
  })

  it.each<[string, Answering | null, object]>([
    ['are too long', (response) => response.end(`{"keys": [], "x": "${'x'.repeat(300_000)}"}`), {}],
    ['are too slow', (response) => void response.write('{"keys": ['), {}],
    ['are no JSON', (response) => response.end('<html>'), {}],
    ['are no list', (response) => response.end('{"keys": 7}'), {}],
    ['fail', (response) => response.writeHead(500).end(), {}],
    ['are behind a redirect', (response) => response.writeHead(302, { Location: '/private' }).end(), {}],
    ['are at a private address', null, { jwks_uri: 'http://10.0.0.1/jwks' }],
    ['are in a file', null, { jwks_uri: 'file:///etc/passwd' }],
    ['belong to another', null, { issuer: 'https://other.example.com' }],
  ])('are not used when they %s, and are not asked for again at once', async (_, answering, metadata) => {
    const authority = Object.assign(await anAuthority(), { metadata, answering })
    const trust = await aTrust(authority)
    const token = await sign(authority, trust)
    expect(await exchange(trust, token)).toMatchObject(refusedAs('temporarily_unavailable', '', 503))
    const asked = [...authority.asked]
    expect(await exchange(trust, token)).toMatchObject(refusedAs('temporarily_unavailable', '', 503))
    expect(authority.asked).toEqual(asked)
    expect(asked).not.toContain('/private')
  })

  it('that are weak or secret are not used', async () => {
    const authority = await anAuthority()
    const secret = { kty: 'oct', k: 'c2VjcmV0', kid: 'two', alg: 'HS256' }
    authority.keys = [secret, { kty: 'RSA', kid: 'one', n: 'AQAB', e: 'AQAB' }, { kty: 'x' }]
    const trust = await aTrust(authority)
    expect(await exchange(trust, await sign(authority, trust))).toMatchObject(
      refusedAs('invalid_request', 'no key'),
    )
  })
})
