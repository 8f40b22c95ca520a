import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aQueue,
  aTeam,
  aToken,
  auditTrail,
} from '../../../../test/builders.ts'

const app = useApp()

async function anOrg() {
  const org = await anOrganization(app)
  return { org, admin: await anAdmin(app, org) }
}

const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'
const graphqlId = (type: string, id: string) => Buffer.from(`${type}---${id}`).toString('base64')
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describe('GET /v2/organizations/{org.slug}/clusters', () => {
  it('lists clusters oldest first and links pages in sorted, absolute URLs', async () => {
    const { org, admin } = await anOrg()
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) await aCluster(app, org, admin, { name })
    const list = (query: string) => app.request('GET', `${org.path}/clusters${query}`, { token: admin.token })

    const all = await list('')
    expect(all.status).toBe(200)
    expect(all.list.map(({ name }) => name)).toEqual(names)
    expect(all.headers.get('link')).toBeNull()

    const self = `${baseUrl}${org.path}/clusters`
    const first = await list('?per_page=2&x=1,2')
    expect(first.list.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(first.headers.get('link')).toBe(`<${self}?page=2&per_page=2&x=1%2C2>; rel="next"`)

    const middle = await list('?page=2&per_page=2')
    expect(middle.list.map(({ name }) => name)).toEqual(['c', 'd'])
    expect(middle.headers.get('link')).toBe(
      `<${self}?page=1&per_page=2>; rel="first", <${self}?page=1&per_page=2>; rel="prev", ` +
        `<${self}?page=3&per_page=2>; rel="next"`,
    )

    const last = await list('?page=3&per_page=2')
    expect(last.list.map(({ name }) => name)).toEqual(['e'])
    expect(last.headers.get('link')).toBe(
      `<${self}?page=1&per_page=2>; rel="first", <${self}?page=2&per_page=2>; rel="prev"`,
    )
    expect((await list('?page=99')).list).toEqual([])
    expect((await list('?per_page=0')).list).toHaveLength(1)
  })

  it('shows only the clusters of the organization', async () => {
    const { org, admin } = await anOrg()
    const other = await anOrg()
    await aCluster(app, other.org, other.admin)
    expect((await app.request('GET', `${org.path}/clusters`, { token: admin.token })).list).toEqual([])
    const foreign = await app.request('GET', `${other.org.path}/clusters`, { token: admin.token })
    expect(foreign.status).toBe(404)
    expect(foreign.body).toEqual({ message: 'No organization found' })
  })

  it('needs a token and the scope read_clusters', async () => {
    const { org, admin } = await anOrg()
    expect((await app.request('GET', `${org.path}/clusters`)).status).toBe(401)
    const token = await aToken(app, admin, { scopes: ['write_clusters'] })
    const answer = await app.request('GET', `${org.path}/clusters`, { token })
    expect(answer.status).toBe(403)
    expect(answer.body).toEqual({ message: "Your access token doesn't have the read_clusters scope" })
  })
})

describe('GET /v2/organizations/{org.slug}/clusters/{id}', () => {
  it('answers every field of the cluster to any member', async () => {
    const { org, admin } = await anOrg()
    const { id: teamId, name, slug } = await aTeam(app, org, admin)
    const created = await app.request('POST', `${org.path}/clusters`, {
      token: admin.token,
      body: {
        name: 'Open Source',
        description: 'Public builds',
        emoji: ':technologist:',
        color: '#FFE0F1',
        maintainers: [{ user: admin.id }, { team: teamId }],
      },
    })
    const id = String(created.body.id)
    const queue = await aQueue(app, { path: `${org.path}/clusters/${id}` }, admin)
    const path = `${org.path}/clusters/${id}`
    await app.request('PUT', path, { token: admin.token, body: { default_queue_id: queue.id } })

    const answer = await app.request('GET', path, { token: (await aMember(app, org)).token })
    const url = `${baseUrl}${path}`
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      id,
      graphql_id: graphqlId('Cluster', id),
      default_queue_id: queue.id,
      name: 'Open Source',
      description: 'Public builds',
      emoji: ':technologist:',
      color: '#FFE0F1',
      maintainers: {
        users: [
          {
            id: expect.any(String),
            actor: {
              id: admin.id,
              graphql_id: graphqlId('User', admin.id),
              name: admin.name,
              email: admin.email,
              type: 'user',
            },
          },
        ],
        teams: [
          {
            id: expect.any(String),
            actor: { id: teamId, graphql_id: graphqlId('Team', teamId), name, slug },
          },
        ],
      },
      url,
      web_url: `${baseUrl}/organizations/${org.slug}/clusters/${id}`,
      queues_url: `${url}/queues`,
      default_queue_url: `${url}/queues/${queue.id}`,
      created_at: timestamp,
      created_by: {
        id: admin.id,
        graphql_id: graphqlId('User', admin.id),
        name: admin.name,
        email: admin.email,
        avatar_url: `${baseUrl}/avatars/${admin.id}`,
        created_at: timestamp,
      },
    })
  })

  it('answers 404 for an unknown cluster, a malformed id and a cluster of another organization', async () => {
    const { org, admin } = await anOrg()
    const other = await anOrg()
    const foreign = await aCluster(app, other.org, other.admin)
    for (const id of [unknownId, 'x', foreign.id]) {
      const answer = await app.request('GET', `${org.path}/clusters/${id}`, { token: admin.token })
      expect(answer.status).toBe(404)
      expect(answer.body).toEqual({ message: 'No cluster found' })
    }
  })
})

describe('PUT /v2/organizations/{org.slug}/clusters/{id}', () => {
  it.each(['PUT', 'PATCH'])('changes only the fields that %s sends', async (method) => {
    const { org, admin } = await anOrg()
    const cluster = await aCluster(app, org, admin, { name: 'Before' })
    const change = (body: object) => app.request(method, cluster.path, { token: admin.token, body })
    expect((await change({ description: 'D', emoji: ':rocket:', color: '#123abc' })).body).toMatchObject({
      name: 'Before',
      description: 'D',
      emoji: ':rocket:',
      color: '#123abc',
    })
    const cleared = await change({ name: 'After', description: null, emoji: '', color: null })
    expect(cleared.status).toBe(200)
    expect(cleared.body).toMatchObject({ name: 'After', description: '', emoji: null, color: null })
    expect((await change({})).body).toEqual(cleared.body)
  })

  it('sets and clears the default queue', async () => {
    const { org, admin } = await anOrg()
    const cluster = await aCluster(app, org, admin)
    const queue = await aQueue(app, cluster, admin)
    const set = (id: string | null) =>
      app.request('PUT', cluster.path, { token: admin.token, body: { default_queue_id: id } })
    expect((await set(queue.id)).body).toMatchObject({
      default_queue_id: queue.id,
      default_queue_url: `${baseUrl}${queue.path}`,
    })
    expect((await set(null)).body).toMatchObject({ default_queue_id: null, default_queue_url: null })
  })

  it.each([
    ['a hosted cache field is not a boolean', { hosted_git_mirror_enabled: 'yes' }, 'must be a boolean'],
    [
      'a changed cache field targets a non-hosted cluster',
      { hosted_container_cache_enabled: true },
      'hosted_container_cache_enabled can only be changed on a hosted cluster',
    ],
    ['other validation failure', { name: null }, 'name must be a string'],
    [
      'other validation failure, an unknown queue',
      { default_queue_id: unknownId },
      'default_queue_id must be',
    ],
  ])('Update cluster 422: %s', async (_, body, reason) => {
    const { org, admin } = await anOrg()
    const cluster = await aCluster(app, org, admin)
    const answer = await app.request('PUT', cluster.path, { token: admin.token, body })
    expect(answer.status).toBe(422)
    expect(answer.body.message).toMatch(/^Validation failed: /)
    expect(answer.body.message).toContain(reason)
  })

  it('Update cluster 422: the queue of another cluster as default', async () => {
    const { org, admin } = await anOrg()
    const cluster = await aCluster(app, org, admin)
    const queue = await aQueue(app, await aCluster(app, org, admin), admin)
    const body = { default_queue_id: queue.id }
    expect((await app.request('PUT', cluster.path, { token: admin.token, body })).status).toBe(422)
  })

  it('accepts an unchanged cache field on a cluster that is not hosted', async () => {
    const { org, admin } = await anOrg()
    const cluster = await aCluster(app, org, admin)
    const body = { hosted_git_mirror_enabled: false, hosted_container_cache_enabled: false }
    expect((await app.request('PUT', cluster.path, { token: admin.token, body })).status).toBe(200)
  })

  it('answers 403 to those who may not manage the cluster, 404 where there is none', async () => {
    const { org, admin } = await anOrg()
    const cluster = await aCluster(app, org, admin)
    const other = await anOrg()
    const foreign = await aCluster(app, other.org, other.admin)
    const { token } = await aMember(app, org)
    const put = (path: string, token: string) => app.request('PUT', path, { token, body: { name: 'X' } })
    expect((await put(cluster.path, token)).status).toBe(403)
    for (const who of [token, admin.token]) {
      expect((await put(`${org.path}/clusters/${unknownId}`, who)).body).toEqual({
        message: 'No cluster found',
      })
      expect((await put(`${org.path}/clusters/${foreign.id}`, who)).status).toBe(404)
    }
  })

  it('writes CLUSTER_UPDATED with what changed, also when two change at once', async () => {
    const { org, admin } = await anOrg()
    const cluster = await aCluster(app, org, admin)
    const put = (body: object) => app.request('PUT', cluster.path, { token: admin.token, body })
    await put({ name: 'New', description: '' })
    await Promise.all([put({ color: '#fff' }), put({ emoji: ':tada:' })])
    const events = await auditTrail(app, org, 'CLUSTER_UPDATED')
    expect(events[0]).toMatchObject({
      subject: { type: 'Cluster', uuid: cluster.id, name: 'New' },
      data: { name: 'New' },
    })
    expect(events.slice(1).map(({ data }) => data)).toEqual(
      expect.arrayContaining([
        { color: '#fff', previous: { color: null } },
        { emoji: ':tada:', previous: { emoji: null } },
      ]),
    )
  })
})

describe('DELETE /v2/organizations/{org.slug}/clusters/{id}', () => {
  it('answers 204 and deletes its queues, tokens, secrets and maintainers', async () => {
    const { org, admin } = await anOrg()
    const cluster = await aCluster(app, org, admin, { maintainers: [{ user: admin.id }] })
    const queue = await aQueue(app, cluster, admin)
    const { token } = admin
    await app.request('PUT', cluster.path, { token, body: { default_queue_id: queue.id } })
    await app.request('POST', `${cluster.path}/tokens`, { token, body: { description: 'T' } })
    await app.request('POST', `${cluster.path}/secrets`, { token, body: { key: 'K', value: 'v' } })

    const answer = await app.request('DELETE', cluster.path, { token })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect((await app.request('GET', cluster.path, { token })).status).toBe(404)
    expect((await app.request('GET', queue.path, { token })).status).toBe(404)
    for (const table of [
      'cluster_queues',
      'cluster_tokens',
      'cluster_secrets',
      'cluster_maintainers',
    ] as const) {
      const left = app.db.selectFrom(table).select('id').where('cluster_id', '=', cluster.id)
      expect(await left.execute()).toEqual([])
    }
  })

  it('deletes and audits once when two requests arrive at the same time', async () => {
    const { org, admin } = await anOrg()
    const cluster = await aCluster(app, org, admin)
    const answers = await Promise.all(
      [1, 2, 3].map(() => app.request('DELETE', cluster.path, { token: admin.token })),
    )
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([204, 404, 404])
    expect(await auditTrail(app, org, 'CLUSTER_DELETED')).toMatchObject([
      { subject: { type: 'Cluster', uuid: cluster.id, name: cluster.name }, data: {} },
    ])
  })

  it('is for administrators and maintainers', async () => {
    const { org, admin } = await anOrg()
    const [member, maintainer] = [await aMember(app, org), await aMember(app, org)]
    const cluster = await aCluster(app, org, admin, { maintainers: [{ user: maintainer.id }] })
    expect((await app.request('DELETE', cluster.path, { token: member.token })).status).toBe(403)
    expect((await app.request('DELETE', cluster.path, { token: maintainer.token })).status).toBe(204)
  })
  it('answers 422 while pipelines belong to it, with their number', async () => {
    const { org, admin } = await anOrg()
    const cluster = await aCluster(app, org, admin)
    const remove = () => app.request('DELETE', cluster.path, { token: admin.token })
    const first = await aPipeline(app, org, 'steps: []')
    expect([(await remove()).status, (await remove()).body]).toEqual([
      422,
      { message: 'The cluster cannot be deleted: 1 pipeline belongs to it.' },
    ])
    const second = await aPipeline(app, org, 'steps: []')
    expect((await remove()).body.message).toContain('2 pipelines belong')
    for (const { path } of [first, second]) await app.request('DELETE', path, { token: admin.token })
    expect((await remove()).status).toBe(204)
  })

  it('leaves no pipeline that is created at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const { org, admin } = await anOrg()
      const cluster = await aCluster(app, org, admin)
      const repository = 'https://git.example.com/app.git'
      const body = { name: 'App', repository, configuration: 'steps: []', cluster_id: cluster.id }
      const [made, deleted] = await Promise.all([
        app.request('POST', `${org.path}/pipelines`, { token: admin.token, body }),
        app.request('DELETE', cluster.path, { token: admin.token }),
      ])
      expect([
        [201, 422],
        [422, 204],
      ]).toContainEqual([made.status, deleted.status])
    }
  })
})
