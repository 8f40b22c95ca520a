import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import { aCluster, aMember, anAdmin, anOrganization, aToken, auditTrail } from '../../../../test/builders.ts'

const app = useApp()
const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const value = 'correct horse battery staple'

async function aPlace() {
  const org = await anOrganization(app)
  const [admin, maintainer] = [await anAdmin(app, org), await aMember(app, org)]
  const cluster = await aCluster(app, org, admin, { maintainers: [{ user: maintainer.id }] })
  const path = `${cluster.path}/secrets`
  const create = (body: unknown, token = maintainer.token) => app.request('POST', path, { token, body })
  return { org, admin, maintainer, cluster, path, create }
}

async function aSecret(more: object = {}) {
  const place = await aPlace()
  const { id } = (await place.create({ key: 'DEPLOY_KEY', value, ...more })).body
  return { ...place, id: String(id), self: `${place.path}/${id}` }
}

async function storedValue(id: string): Promise<string> {
  const row = await app.db
    .selectFrom('cluster_secrets')
    .select(['value_sealed', 'value_key_id'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return app.ctx.keys.open(row.value_sealed, row.value_key_id)
}

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/secrets', () => {
  it('lists secrets oldest first, in pages, without their values', async () => {
    const { maintainer, path, create } = await aPlace()
    for (const key of ['Z', 'A', 'M']) await create({ key, value })
    const { token } = maintainer
    const all = await app.request('GET', path, { token })
    expect(all.list.map(({ key }) => key)).toEqual(['Z', 'A', 'M'])
    expect(all.text).not.toContain(value)
    const first = await app.request('GET', `${path}?per_page=2`, { token })
    expect(first.headers.get('link')).toBe(`<${baseUrl}${path}?page=2&per_page=2>; rel="next"`)
  })

  it('needs read_secrets_details and the permission to manage the cluster', async () => {
    const { org, admin, path } = await aPlace()
    const token = await aToken(app, admin, { scopes: ['read_clusters', 'write_secrets'] })
    const answer = await app.request('GET', path, { token })
    expect([answer.status, answer.body]).toEqual([
      403,
      { message: "Your access token doesn't have the read_secrets_details scope" },
    ])
    expect((await app.request('GET', path, { token: (await aMember(app, org)).token })).status).toBe(403)
    const elsewhere = `${org.path}/clusters/${unknownId}/secrets`
    expect((await app.request('GET', elsewhere, { token: admin.token })).status).toBe(404)
  })
})

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/secrets/{id}', () => {
  it('answers every field but the value', async () => {
    const { org, maintainer, cluster, id, self } = await aSecret({ description: 'D' })
    const person = { id: maintainer.id, name: maintainer.name, email: maintainer.email }
    const answer = await app.request('GET', self, { token: maintainer.token })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      id,
      graphql_id: Buffer.from(`Secret---${id}`).toString('base64'),
      key: 'DEPLOY_KEY',
      description: 'D',
      policy: '',
      url: `${baseUrl}${self}`,
      cluster_url: `${baseUrl}${cluster.path}`,
      created_at: timestamp,
      created_by: person,
      updated_at: timestamp,
      updated_by: person,
      last_read_at: null,
      organization: {
        id: org.id,
        slug: org.slug,
        url: `${baseUrl}${org.path}`,
        web_url: `${baseUrl}/${org.slug}`,
      },
    })
  })

  it('answers 404 for an unknown secret, a malformed id and the secret of another cluster', async () => {
    const [mine, theirs] = [await aPlace(), await aSecret()]
    for (const id of [unknownId, 'x', theirs.id]) {
      const answer = await app.request('GET', `${mine.path}/${id}`, { token: mine.admin.token })
      expect([answer.status, answer.body]).toEqual([404, { message: 'No secret found' }])
    }
  })
})

describe('POST /v2/organizations/{org.slug}/clusters/{cluster.id}/secrets', () => {
  it('answers 201, stores the value encrypted, and keeps it out of responses, audit and log', async () => {
    const { org, cluster, create } = await aPlace()
    const answer = await create({ key: 'DEPLOY_KEY', value, description: 'D' })
    expect(answer.status).toBe(201)
    expect(answer.text).not.toContain(value)
    expect(await storedValue(String(answer.body.id))).toBe(value)
    const rows = await app.db.selectFrom('cluster_secrets').select('value_sealed').execute()
    expect(rows.some(({ value_sealed }) => value_sealed.includes(value))).toBe(false)
    const trail = await auditTrail(app, org, 'SECRET_CREATED')
    expect(trail).toMatchObject([
      {
        subject: { type: 'Secret', uuid: answer.body.id, name: 'DEPLOY_KEY' },
        data: { cluster_id: cluster.id, key: 'DEPLOY_KEY', description: 'D', policy: '' },
      },
    ])
    expect(JSON.stringify(trail)).not.toContain(value)
    expect(app.logLines.join('')).not.toContain(value)
  })

  it.each([
    ['no key', { value }, 'key is required'],
    ['a key that begins with a digit', { key: '1A', value }, 'key must be up to 255'],
    ['a key with a dash', { key: 'A-B', value }, 'key must be up to 255'],
    ['a long key', { key: 'A'.repeat(256), value }, 'key must be up to 255'],
    ['a key that begins with BUILDKITE', { key: 'Buildkite_TOKEN', value }, 'not begin with BUILDKITE or BK'],
    ['a key that begins with BK', { key: 'bkTOKEN', value }, 'not begin with BUILDKITE or BK'],
    ['no value', { key: 'A' }, 'value is required'],
    ['a blank value', { key: 'A', value: ' \n' }, 'value must not be blank'],
    ['a value that is no string', { key: 'A', value: 7 }, 'value must be a string'],
    ['a value of 8 KB', { key: 'A', value: 'ä'.repeat(4096) }, 'value must be smaller than 8192 bytes'],
  ])('answers 422 for %s', async (_, body, reason) => {
    const { create } = await aPlace()
    const answer = await create(body)
    expect(answer.status).toBe(422)
    expect(answer.body.message).toMatch(/^Validation failed: /)
    expect(answer.body.message).toContain(reason)
  })

  it('accepts the longest key and the largest value', async () => {
    const { create } = await aPlace()
    expect((await create({ key: 'A'.repeat(255), value: 'x'.repeat(8191) })).status).toBe(201)
  })

  it('creates one secret per key when two requests arrive at the same time', async () => {
    const { create } = await aPlace()
    const answers = await Promise.all([1, 2, 3].map(() => create({ key: 'A', value })))
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 422, 422])
    expect((await create({ key: 'A', value })).body).toEqual({
      message: 'Validation failed: the cluster already has a secret with the key A',
    })
    expect((await create({ key: 'a', value })).status).toBe(201)
  })

  it('needs write_secrets and the permission to manage the cluster', async () => {
    const { org, admin, create } = await aPlace()
    const body = { key: 'A', value }
    expect((await create(body, (await aMember(app, org)).token)).status).toBe(403)
    expect((await create(body, await aToken(app, admin, { scopes: ['write_clusters'] }))).status).toBe(403)
  })

  it('stores nothing that reveals the value when an Idempotency-Key is sent', async () => {
    const { maintainer, path } = await aPlace()
    const answer = await app.request('POST', path, {
      token: maintainer.token,
      body: { key: 'A', value },
      headers: { 'Idempotency-Key': 'once' },
    })
    expect(answer.status).toBe(201)
    const kept = await app.db.selectFrom('idempotency_keys').selectAll().execute()
    expect(JSON.stringify(kept)).not.toContain(value)
  })
})

describe('the policy of a secret', () => {
  it.each([
    ['one claim', '- pipeline_slug: deploy\n'],
    [
      'every claim',
      [
        '- pipeline_id: 01885682-55a7-44f5-84f3-0402fb452e66',
        '  pipeline_slug: [deploy, release]',
        '  build_source: ui',
        '  build_branch: 1.0',
        '- build_creator: ada@example.com',
        '  build_creator_team: 01885682-55a7-44f5-84f3-0402fb452e66',
        '- cluster_queue_id: 01885682-55a7-44f5-84f3-0402fb452e66',
        '- cluster_queue_key: default',
      ].join('\n'),
    ],
    ['nothing', ''],
  ])('may have %s, and is kept as it was written', async (_, policy) => {
    const { create } = await aPlace()
    const answer = await create({ key: 'A', value, policy })
    expect([answer.status, answer.body.policy]).toEqual([201, policy])
  })

  it.each([
    ['text', 'everyone', 'line 1: it must be a list of rules'],
    ['an empty list', '[]', 'line 1: it must be a list of rules'],
    ['a map', 'pipeline_slug: deploy', 'line 1: it must be a list of rules'],
    ['a rule that is text', '- deploy', 'line 1: a rule must be a map of claims, not "deploy"'],
    ['a rule without claims', '- {}', 'line 1: a rule must be a map of claims'],
    ['an unknown claim', '- build_branch: main\n- branch: main', 'line 2: "branch" is not a claim'],
    ['a claim without a value', '- build_branch:', 'line 1: build_branch must be a text or a list of texts'],
    [
      'a claim with no values',
      '- build_branch: []',
      'line 1: build_branch must be a text or a list of texts',
    ],
    ['a nested claim', '- build_branch: {a: b}', 'line 1: build_branch must be a text or a list of texts'],
    ['two documents', '- build_branch: a\n---\n- build_branch: b', 'it has more than one document'],
    ['broken YAML', '- "build_branch', 'line 1: the YAML does not parse'],
  ])('answers 422 when it is %s', async (_, policy, reason) => {
    const { create, maintainer, path } = await aPlace()
    const answer = await create({ key: 'A', value, policy })
    expect(answer.status).toBe(422)
    expect(answer.body.message).toContain('Validation failed: policy, line ')
    expect(answer.body.message).toContain(reason)
    const { id } = (await create({ key: 'A', value })).body
    const update = await app.request('PUT', `${path}/${id}`, { token: maintainer.token, body: { policy } })
    expect(update.body).toEqual(answer.body)
  })
})

describe('PUT /v2/organizations/{org.slug}/clusters/{cluster.id}/secrets/{id}', () => {
  it.each(['PUT', 'PATCH'])(
    'changes description and policy by %s, and audits what changed',
    async (method) => {
      const { org, admin, id, self } = await aSecret({
        description: 'Before',
        policy: '- build_branch: main',
      })
      const change = (body: object) => app.request(method, self, { token: admin.token, body })
      const answer = await change({ description: 'After' })
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({
        description: 'After',
        policy: '- build_branch: main',
        updated_by: { id: admin.id },
      })
      expect((await change({ description: null, policy: null })).body).toMatchObject({
        description: '',
        policy: '',
      })
      expect(await storedValue(id)).toBe(value)
      expect((await auditTrail(app, org, 'SECRET_UPDATED')).map(({ data }) => data)).toEqual([
        { description: 'After', previous: { description: 'Before' } },
        { description: '', policy: '', previous: { description: 'After', policy: '- build_branch: main' } },
      ])
    },
  )

  it.each([
    ['key', 'The key parameter cannot be updated.'],
    ['value', 'The value parameter cannot be updated on this endpoint.'],
  ])('answers 422 when the body has a %s', async (field, message) => {
    const { maintainer, self } = await aSecret()
    const body = { [field]: 'DEPLOY_KEY', description: 'D' }
    const answer = await app.request('PUT', self, { token: maintainer.token, body })
    expect([answer.status, answer.body]).toEqual([422, { message }])
  })

  it('answers 403 to members and 404 for the secret of another cluster', async () => {
    const { org, admin, id, self } = await aSecret()
    expect(
      (await app.request('PUT', self, { token: (await aMember(app, org)).token, body: {} })).status,
    ).toBe(403)
    const other = await aCluster(app, org, admin)
    const elsewhere = `${other.path}/secrets/${id}`
    expect((await app.request('PUT', elsewhere, { token: admin.token, body: {} })).status).toBe(404)
  })
})

describe('PUT /v2/organizations/{org.slug}/clusters/{cluster.id}/secrets/{id}/value', () => {
  it('replaces the value, answers the secret and audits only that it happened', async () => {
    const { org, admin, id, self } = await aSecret()
    const answer = await app.request('PUT', `${self}/value`, { token: admin.token, body: { value: 'newer' } })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ id, key: 'DEPLOY_KEY', updated_by: { id: admin.id } })
    expect(answer.text).not.toContain('newer')
    expect(await storedValue(id)).toBe('newer')
    expect(await auditTrail(app, org, 'SECRET_VALUE_UPDATED')).toMatchObject([
      { subject: { type: 'Secret', uuid: id, name: 'DEPLOY_KEY' }, data: {} },
    ])
    expect(await auditTrail(app, org, 'SECRET_UPDATED')).toEqual([])
  })

  it.each([
    ['no value', {}, 'value is required'],
    ['a blank value', { value: '' }, 'value must not be blank'],
    ['a value that is too large', { value: 'x'.repeat(8192) }, 'value must be smaller than 8192 bytes'],
  ])('answers 422 for %s', async (_, body, reason) => {
    const { maintainer, id, self } = await aSecret()
    const answer = await app.request('PUT', `${self}/value`, { token: maintainer.token, body })
    expect([answer.status, answer.body]).toEqual([422, { message: `Validation failed: ${reason}` }])
    expect(await storedValue(id)).toBe(value)
  })

  it('needs the permission to manage the cluster', async () => {
    const { org, self } = await aSecret()
    const { token } = await aMember(app, org)
    expect((await app.request('PUT', `${self}/value`, { token, body: { value: 'x' } })).status).toBe(403)
  })
})

describe('DELETE /v2/organizations/{org.slug}/clusters/{cluster.id}/secrets/{id}', () => {
  it('answers 204 once, and is audited once', async () => {
    const { org, maintainer, cluster, id, self } = await aSecret()
    const remove = () => app.request('DELETE', self, { token: maintainer.token })
    const answers = await Promise.all([remove(), remove()])
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([204, 404])
    expect(await auditTrail(app, org, 'SECRET_DELETED')).toMatchObject([
      { subject: { uuid: id, name: 'DEPLOY_KEY' }, data: { cluster_id: cluster.id } },
    ])
  })

  it('needs write_secrets and the permission to manage the cluster', async () => {
    const { org, admin, self } = await aSecret()
    expect((await app.request('DELETE', self, { token: (await aMember(app, org)).token })).status).toBe(403)
    const token = await aToken(app, admin, { scopes: ['read_secrets_details', 'write_clusters'] })
    expect((await app.request('DELETE', self, { token })).status).toBe(403)
  })
})
