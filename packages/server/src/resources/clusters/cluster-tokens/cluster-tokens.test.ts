import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import { aCluster, aMember, anAdmin, anOrganization, aToken, auditTrail } from '../../../../test/builders.ts'
import { hashToken } from '../../../lib/ids.ts'

const app = useApp()
const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

async function aPlace() {
  const org = await anOrganization(app)
  const [admin, maintainer] = [await anAdmin(app, org), await aMember(app, org)]
  const cluster = await aCluster(app, org, admin, { maintainers: [{ user: maintainer.id }] })
  const path = `${cluster.path}/tokens`
  const create = (body: unknown, token = maintainer.token) => app.request('POST', path, { token, body })
  return { org, admin, maintainer, cluster, path, create }
}

async function aClusterToken() {
  const place = await aPlace()
  const { id, token: value } = (await place.create({ description: 'Agents' })).body
  return { ...place, id: String(id), value: String(value), self: `${place.path}/${id}` }
}

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/tokens', () => {
  it('lists tokens oldest first, in pages, without their values', async () => {
    const { org, path, create } = await aPlace()
    for (const description of ['a', 'b', 'c']) await create({ description })
    const { token } = await aMember(app, org)
    const all = await app.request('GET', path, { token })
    expect(all.list.map(({ description }) => description)).toEqual(['a', 'b', 'c'])
    expect(all.text).not.toContain('mrct_')
    const first = await app.request('GET', `${path}?per_page=2`, { token })
    expect(first.list).toHaveLength(2)
    expect(first.headers.get('link')).toBe(`<${baseUrl}${path}?page=2&per_page=2>; rel="next"`)
  })

  it('answers 404 for a cluster of another organization and 403 without read_clusters', async () => {
    const [mine, theirs] = [await aPlace(), await aPlace()]
    const elsewhere = `${mine.org.path}/clusters/${theirs.cluster.id}/tokens`
    const answer = await app.request('GET', elsewhere, { token: mine.admin.token })
    expect([answer.status, answer.body]).toEqual([404, { message: 'No cluster found' }])
    const token = await aToken(app, mine.admin, { scopes: ['write_clusters'] })
    expect((await app.request('GET', mine.path, { token })).status).toBe(403)
  })
})

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/tokens/{id}', () => {
  it('answers every field but the value', async () => {
    const { org, maintainer, cluster, id, self } = await aClusterToken()
    const answer = await app.request('GET', self, { token: (await aMember(app, org)).token })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      id,
      graphql_id: Buffer.from(`ClusterToken---${id}`).toString('base64'),
      description: 'Agents',
      allowed_ip_addresses: '0.0.0.0/0 ::/0',
      expires_at: null,
      url: `${baseUrl}${self}`,
      cluster_url: `${baseUrl}${cluster.path}`,
      created_at: timestamp,
      created_by: expect.objectContaining({ id: maintainer.id }),
    })
  })

  it('answers 404 for an unknown token, a malformed id and the token of another cluster', async () => {
    const [mine, theirs] = [await aPlace(), await aClusterToken()]
    for (const id of [unknownId, 'x', theirs.id]) {
      const answer = await app.request('GET', `${mine.path}/${id}`, { token: mine.admin.token })
      expect([answer.status, answer.body]).toEqual([404, { message: 'No token found' }])
    }
  })
})

describe('POST /v2/organizations/{org.slug}/clusters/{cluster.id}/tokens', () => {
  it('answers 201 with the value, which only this response has; the table has its hash', async () => {
    const { org, cluster, create } = await aPlace()
    const answer = await create({
      description: 'Agents',
      allowed_ip_addresses: ' 10.0.0.0/8  2001:db8::/32 192.168.1.4',
      expires_at: '2099-12-31T23:00:00+01:00',
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      token: expect.stringMatching(/^mrct_[A-Za-z0-9]{40}$/),
      allowed_ip_addresses: '10.0.0.0/8 2001:db8::/32 192.168.1.4',
      expires_at: '2099-12-31T22:00:00.000Z',
    })
    const value = String(answer.body.token)
    const row = await app.db
      .selectFrom('cluster_tokens')
      .selectAll()
      .where('id', '=', String(answer.body.id))
      .executeTakeFirstOrThrow()
    expect(row.token_hash).toEqual(hashToken(value))
    const trail = await auditTrail(app, org, 'CLUSTER_TOKEN_CREATED')
    expect(trail).toMatchObject([
      {
        subject: { type: 'ClusterToken', uuid: answer.body.id, name: 'Agents' },
        data: { cluster_id: cluster.id, description: 'Agents', expires_at: '2099-12-31T22:00:00.000Z' },
      },
    ])
    expect(JSON.stringify(trail)).not.toContain('mrct_')
    expect(app.logLines.join('')).not.toContain(value)
  })

  it.each([
    ['no description', {}, 'description is required'],
    ['a blank description', { description: ' ' }, 'description must not be blank'],
    ['no description but null', { description: null }, 'description must be a string'],
    [
      'a wrong range',
      { description: 'A', allowed_ip_addresses: '10.0.0.0/8 x' },
      '"x", which is not an address',
    ],
    ['a range too wide', { description: 'A', allowed_ip_addresses: '10.0.0.0/33' }, '"10.0.0.0/33"'],
    ['a time in the past', { description: 'A', expires_at: '2020-01-01T00:00:00Z' }, 'must be in the future'],
    ['a time that is none', { description: 'A', expires_at: 'tomorrow' }, 'must be an ISO 8601 time'],
    [
      'a day that is none',
      { description: 'A', expires_at: '2099-02-30T00:00:00Z' },
      'must be an ISO 8601 time',
    ],
    [
      'a time without a zone',
      { description: 'A', expires_at: '2099-02-03T00:00' },
      'must be an ISO 8601 time',
    ],
    ['a number as time', { description: 'A', expires_at: 4102444800 }, 'expires_at must be a string or null'],
  ])('answers 422 for %s', async (_, body, reason) => {
    const { create } = await aPlace()
    const answer = await create(body)
    expect(answer.status).toBe(422)
    expect(answer.body.message).toMatch(/^Validation failed: /)
    expect(answer.body.message).toContain(reason)
  })

  it('treats null and empty strings as absent', async () => {
    const { create } = await aPlace()
    for (const nothing of [null, '']) {
      const answer = await create({ description: 'A', allowed_ip_addresses: nothing, expires_at: nothing })
      expect(answer.body).toMatchObject({ allowed_ip_addresses: '0.0.0.0/0 ::/0', expires_at: null })
    }
  })

  it('needs the permission to manage the cluster and write_clusters', async () => {
    const { org, admin, create } = await aPlace()
    const body = { description: 'A' }
    expect((await create(body, (await aMember(app, org)).token)).status).toBe(403)
    expect((await create(body, await aToken(app, admin, { scopes: ['read_clusters'] }))).status).toBe(403)
    const elsewhere = `${org.path}/clusters/${unknownId}/tokens`
    expect((await app.request('POST', elsewhere, { token: admin.token, body })).status).toBe(404)
  })

  it('repeats the value for the same Idempotency-Key, and stores it encrypted', async () => {
    const { maintainer, path } = await aPlace()
    const create = () =>
      app.request('POST', path, {
        token: maintainer.token,
        body: { description: 'A' },
        headers: { 'Idempotency-Key': 'once' },
      })
    const [first, again] = [await create(), await create()]
    expect(again.body).toEqual(first.body)
    const kept = await app.db.selectFrom('idempotency_keys').selectAll().execute()
    expect(kept).not.toEqual([])
    expect(JSON.stringify(kept)).not.toContain('mrct_')
  })
})

describe('PUT /v2/organizations/{org.slug}/clusters/{cluster.id}/tokens/{id}', () => {
  it.each(['PUT', 'PATCH'])('changes only what %s sends, and audits that', async (method) => {
    const { org, maintainer, self } = await aClusterToken()
    const change = (body: object) => app.request(method, self, { token: maintainer.token, body })
    const restricted = await change({ allowed_ip_addresses: '10.0.0.0/8', expires_at: '2099-01-01' })
    expect(restricted.status).toBe(200)
    const fields = { allowed_ip_addresses: '10.0.0.0/8', expires_at: '2099-01-01T00:00:00.000Z' }
    expect(restricted.body).toMatchObject({ description: 'Agents', ...fields })
    expect((await change({ description: 'B' })).body).toMatchObject({ description: 'B', ...fields })
    const cleared = { allowed_ip_addresses: '0.0.0.0/0 ::/0', expires_at: null }
    const answer = await change({ allowed_ip_addresses: null, expires_at: null })
    expect(answer.body).toMatchObject(cleared)
    expect((await app.request('GET', self, { token: maintainer.token })).body).toEqual(answer.body)
    expect((await auditTrail(app, org, 'CLUSTER_TOKEN_UPDATED')).map(({ data }) => data)).toEqual([
      { ...fields, previous: cleared },
      { description: 'B', previous: { description: 'Agents' } },
      { ...cleared, previous: fields },
    ])
  })

  it('accepts a time in the past, so that a client can send back what it got', async () => {
    const { maintainer, self } = await aClusterToken()
    const body = { expires_at: '2020-01-01T00:00:00.000Z' }
    expect((await app.request('PUT', self, { token: maintainer.token, body })).body).toMatchObject(body)
  })

  it.each([
    ['a blank description', { description: '' }],
    ['a wrong range', { allowed_ip_addresses: 'localhost' }],
    ['a wrong time', { expires_at: '31.12.2099' }],
  ])('answers 422 for %s', async (_, body) => {
    const { maintainer, self } = await aClusterToken()
    expect((await app.request('PUT', self, { token: maintainer.token, body })).status).toBe(422)
  })

  it('answers 403 to members and 404 for the token of another cluster', async () => {
    const { org, admin, id, self } = await aClusterToken()
    const body = { description: 'Mine' }
    expect((await app.request('PUT', self, { token: (await aMember(app, org)).token, body })).status).toBe(
      403,
    )
    const other = await aCluster(app, org, admin)
    const elsewhere = `${other.path}/tokens/${id}`
    expect((await app.request('PUT', elsewhere, { token: admin.token, body })).status).toBe(404)
  })
})

describe('DELETE /v2/organizations/{org.slug}/clusters/{cluster.id}/tokens/{id}', () => {
  it('answers 204 once, and is audited once', async () => {
    const { org, maintainer, cluster, id, self } = await aClusterToken()
    const remove = () => app.request('DELETE', self, { token: maintainer.token })
    const answers = await Promise.all([remove(), remove()])
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([204, 404])
    expect(await auditTrail(app, org, 'CLUSTER_TOKEN_DELETED')).toMatchObject([
      { subject: { uuid: id, name: 'Agents' }, data: { cluster_id: cluster.id } },
    ])
  })

  it('needs the permission to manage the cluster', async () => {
    const { org, self } = await aClusterToken()
    expect((await app.request('DELETE', self, { token: (await aMember(app, org)).token })).status).toBe(403)
  })
})
