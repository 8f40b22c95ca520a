import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aQueue,
  aToken,
  auditTrail,
} from '../../../../test/builders.ts'

const app = useApp()
const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'
const graphqlId = (type: string, id: string) => Buffer.from(`${type}---${id}`).toString('base64')
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

async function aPlace(given: { hosted?: boolean } = {}) {
  const org = await anOrganization(app)
  const [admin, maintainer] = [await anAdmin(app, org), await aMember(app, org)]
  const cluster = await aCluster(app, org, admin, { maintainers: [{ user: maintainer.id }], ...given })
  const path = `${cluster.path}/queues`
  const create = (body: unknown, token = maintainer.token) => app.request('POST', path, { token, body })
  return { org, admin, maintainer, cluster, path, create }
}

const linux = { hostedAgents: { instanceShape: 'LINUX_AMD64_2X4' } }

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/queues', () => {
  it('lists queues oldest first, in pages, to any member', async () => {
    const { org, maintainer, cluster, path } = await aPlace()
    const keys = ['first', 'second', 'third']
    for (const key of keys) await aQueue(app, cluster, maintainer, { key })
    const { token } = await aMember(app, org)
    const all = await app.request('GET', path, { token })
    expect(all.status).toBe(200)
    expect(all.list.map(({ key }) => key)).toEqual(keys)
    const last = await app.request('GET', `${path}?page=2&per_page=2`, { token })
    expect(last.list.map(({ key }) => key)).toEqual(['third'])
    const first = `${baseUrl}${path}?page=1&per_page=2`
    expect(last.headers.get('link')).toBe(`<${first}>; rel="first", <${first}>; rel="prev"`)
  })

  it('answers 404 for a cluster of another organization and 403 without read_clusters', async () => {
    const [mine, theirs] = [await aPlace(), await aPlace()]
    const elsewhere = `${mine.org.path}/clusters/${theirs.cluster.id}/queues`
    const answer = await app.request('GET', elsewhere, { token: mine.admin.token })
    expect([answer.status, answer.body]).toEqual([404, { message: 'No cluster found' }])
    const token = await aToken(app, mine.admin, { scopes: ['write_clusters'] })
    expect((await app.request('GET', mine.path, { token })).status).toBe(403)
  })
})

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/queues/{id}', () => {
  it('answers every field of a queue', async () => {
    const { org, maintainer, cluster, create } = await aPlace()
    const { id } = (await create({ key: 'default', description: 'For all', unknown: 'ignored' })).body
    const path = `${cluster.path}/queues/${id}`
    const answer = await app.request('GET', path, { token: (await aMember(app, org)).token })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      id,
      graphql_id: graphqlId('ClusterQueue', String(id)),
      key: 'default',
      description: 'For all',
      url: `${baseUrl}${path}`,
      web_url: `${baseUrl}/organizations/${org.slug}/clusters/${cluster.id}/queues/${id}`,
      cluster_url: `${baseUrl}${cluster.path}`,
      retry_agent_affinity: 'prefer-warmest',
      fair_by: 'none',
      fair_weights: {},
      machine_limit_percent: null,
      price_per_minute: 0,
      dispatch_paused: false,
      dispatch_paused_by: null,
      dispatch_paused_at: null,
      dispatch_paused_note: null,
      created_at: timestamp,
      created_by: expect.objectContaining({ id: maintainer.id, email: maintainer.email }),
    })
  })

  it('answers 404 for an unknown queue, a malformed id and the queue of another cluster', async () => {
    const [mine, theirs] = [await aPlace(), await aPlace()]
    const foreign = await aQueue(app, theirs.cluster, theirs.admin)
    for (const id of [unknownId, 'x', foreign.id]) {
      const answer = await app.request('GET', `${mine.path}/${id}`, { token: mine.admin.token })
      expect([answer.status, answer.body]).toEqual([404, { message: 'No queue found' }])
    }
  })
})

describe('POST /v2/organizations/{org.slug}/clusters/{cluster.id}/queues', () => {
  it('answers 201 and writes CLUSTER_QUEUE_CREATED', async () => {
    const { org, cluster, create } = await aPlace()
    const answer = await create({ key: 'Big_one-2', retry_agent_affinity: 'prefer-different' })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      key: 'Big_one-2',
      description: null,
      retry_agent_affinity: 'prefer-different',
    })
    expect(await auditTrail(app, org, 'CLUSTER_QUEUE_CREATED')).toMatchObject([
      {
        subject: { type: 'ClusterQueue', uuid: answer.body.id, name: 'Big_one-2' },
        data: { cluster_id: cluster.id, key: 'Big_one-2', retry_agent_affinity: 'prefer-different' },
      },
    ])
  })

  it.each([
    ['no key', {}, 'key is required'],
    ['a key with a space', { key: 'a b' }, 'key must be 1 to 100 letters'],
    ['an empty key', { key: '' }, 'key must be 1 to 100 letters'],
    ['a long key', { key: 'x'.repeat(101) }, 'key must be 1 to 100 letters'],
    ['a key that is no string', { key: 1 }, 'key must be a string'],
    [
      'an unknown affinity',
      { key: 'a', retry_agent_affinity: 'x' },
      'retry_agent_affinity must be "prefer-warmest" or "prefer-different"',
    ],
    ['an unknown shape', { key: 'a', hostedAgents: { instanceShape: 'HUGE' } }, '"LINUX_AMD64_2X4"'],
    [
      'a hosted queue without a shape',
      { key: 'a', hostedAgents: {} },
      'hostedAgents.instanceShape is required',
    ],
    ['a hosted queue in a cluster that is not', { key: 'a', ...linux }, 'only be set in a hosted cluster'],
  ])('answers 422 for %s', async (_, body, reason) => {
    const { create } = await aPlace()
    const answer = await create(body)
    expect(answer.status).toBe(422)
    expect(answer.body.message).toMatch(/^Validation failed: /)
    expect(answer.body.message).toContain(reason)
  })

  it('creates one queue per key when two requests arrive at the same time', async () => {
    const { create } = await aPlace()
    const answers = await Promise.all([1, 2, 3].map(() => create({ key: 'default' })))
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 422, 422])
    expect((await create({ key: 'default' })).body).toEqual({
      message: 'Validation failed: the cluster already has a queue with the key default',
    })
  })

  it('stops at 50 queues, also when several come at once', async () => {
    const { org, maintainer, cluster, path, create } = await aPlace()
    await aQueue(app, cluster, maintainer)
    const rest = Array.from({ length: 47 }, (_, index) => ({
      id: crypto.randomUUID(),
      organization_id: org.id,
      cluster_id: cluster.id,
      key: `q${index}`,
    }))
    await app.db.insertInto('cluster_queues').values(rest).execute()
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((key) => create({ key })))
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 201, 422, 422])
    expect((await create({ key: 'e' })).body.message).toBe(
      'Validation failed: a cluster has at most 50 queues',
    )
    const list = await app.request('GET', `${path}?per_page=100`, { token: maintainer.token })
    expect(list.list).toHaveLength(50)
  })

  it('needs the permission to manage the cluster and write_clusters', async () => {
    const { org, admin, create } = await aPlace()
    expect((await create({ key: 'a' }, (await aMember(app, org)).token)).status).toBe(403)
    expect((await create({ key: 'a' }, await aToken(app, admin, { scopes: ['read_clusters'] }))).status).toBe(
      403,
    )
  })

  it('answers 404 in a cluster that does not exist, or is another organization’s', async () => {
    const [mine, theirs] = [await aPlace(), await aPlace()]
    for (const id of [unknownId, theirs.cluster.id]) {
      const path = `${mine.org.path}/clusters/${id}/queues`
      const answer = await app.request('POST', path, { token: mine.admin.token, body: { key: 'a' } })
      expect([answer.status, answer.body]).toEqual([404, { message: 'No cluster found' }])
    }
  })
})

describe('PUT /v2/organizations/{org.slug}/clusters/{cluster.id}/queues/{id}', () => {
  it.each(['PUT', 'PATCH'])('changes only what %s sends, and audits that', async (method) => {
    const { org, maintainer, cluster } = await aPlace()
    const { path, key } = await aQueue(app, cluster, maintainer)
    const change = (body: object) => app.request(method, path, { token: maintainer.token, body })
    const described = await change({ description: 'D', key })
    expect(described.status).toBe(200)
    expect(described.body).toMatchObject({ key, description: 'D', retry_agent_affinity: 'prefer-warmest' })
    await change({ retry_agent_affinity: 'prefer-different' })
    expect((await change({ description: null })).body).toMatchObject({
      description: null,
      retry_agent_affinity: 'prefer-different',
    })
    expect((await auditTrail(app, org, 'CLUSTER_QUEUE_UPDATED')).map(({ data }) => data)).toEqual([
      { description: 'D', previous: { description: null } },
      {
        retry_agent_affinity: 'prefer-different',
        previous: { retry_agent_affinity: 'prefer-warmest' },
      },
      { description: null, previous: { description: 'D' } },
    ])
  })

  it.each([
    ['another key', { key: 'other' }, 'key cannot be changed'],
    ['an unknown affinity', { retry_agent_affinity: 'x' }, 'retry_agent_affinity must be'],
    ['hosting of a queue that is not', linux, 'hostedAgents can only be set on a hosted queue'],
  ])('answers 422 for %s', async (_, body, reason) => {
    const { maintainer, cluster } = await aPlace({ hosted: true })
    const { path } = await aQueue(app, cluster, maintainer)
    const answer = await app.request('PUT', path, { token: maintainer.token, body })
    expect(answer.status).toBe(422)
    expect(answer.body.message).toContain(`Validation failed: ${reason}`)
  })

  it('needs the permission to manage this very cluster', async () => {
    const { org, admin, maintainer, cluster } = await aPlace()
    const other = await aCluster(app, org, admin)
    const { path } = await aQueue(app, other, admin)
    expect((await app.request('PUT', path, { token: maintainer.token, body: {} })).status).toBe(403)
    const smuggled = path.replace(other.id, cluster.id)
    expect((await app.request('PUT', smuggled, { token: maintainer.token, body: {} })).status).toBe(404)
  })
})

describe('DELETE /v2/organizations/{org.slug}/clusters/{cluster.id}/queues/{id}', () => {
  it('answers 204 once, and is audited once', async () => {
    const { org, maintainer, cluster } = await aPlace()
    const queue = await aQueue(app, cluster, maintainer)
    const remove = () => app.request('DELETE', queue.path, { token: maintainer.token })
    const answers = await Promise.all([remove(), remove()])
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([204, 404])
    expect(await auditTrail(app, org, 'CLUSTER_QUEUE_DELETED')).toMatchObject([
      { subject: { uuid: queue.id, name: queue.key }, data: { cluster_id: cluster.id } },
    ])
  })

  it('answers 422 for the default queue of the cluster until another is chosen', async () => {
    const { maintainer, cluster } = await aPlace()
    const queue = await aQueue(app, cluster, maintainer, { key: 'default' })
    const { token } = maintainer
    await app.request('PUT', cluster.path, { token, body: { default_queue_id: queue.id } })
    const refused = await app.request('DELETE', queue.path, { token })
    expect([refused.status, refused.body]).toEqual([
      422,
      { message: 'default is the default queue of this cluster; choose another default queue first' },
    ])
    await app.request('PUT', cluster.path, { token, body: { default_queue_id: null } })
    expect((await app.request('DELETE', queue.path, { token })).status).toBe(204)
  })

  it('never leaves a cluster with a deleted default queue', async () => {
    const { maintainer, cluster } = await aPlace()
    const { token } = maintainer
    for (let round = 0; round < 5; round++) {
      const queue = await aQueue(app, cluster, maintainer)
      const [chosen, deleted] = await Promise.all([
        app.request('PUT', cluster.path, { token, body: { default_queue_id: queue.id } }),
        app.request('DELETE', queue.path, { token }),
      ])
      expect([
        [200, 422],
        [422, 204],
      ]).toContainEqual([chosen.status, deleted.status])
    }
  })

  it('needs the permission to manage the cluster', async () => {
    const { org, maintainer, cluster } = await aPlace()
    const { path } = await aQueue(app, cluster, maintainer)
    expect((await app.request('DELETE', path, { token: (await aMember(app, org)).token })).status).toBe(403)
  })
})

describe('POST /v2/organizations/{org.slug}/clusters/{cluster.id}/queues/{id}/pause_dispatch', () => {
  it.each([
    ['dispatch_paused_note', { dispatch_paused_note: 'New machines', note: 'ignored' }, 'New machines'],
    ['note', { note: 'New machines' }, 'New machines'],
    ['no note', undefined, null],
  ])('pauses with %s', async (_, body, note) => {
    const { org, maintainer, cluster } = await aPlace()
    const { path } = await aQueue(app, cluster, maintainer)
    const answer = await app.request('POST', `${path}/pause_dispatch`, { token: maintainer.token, body })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      dispatch_paused: true,
      dispatch_paused_by: { id: maintainer.id },
      dispatch_paused_at: timestamp,
      dispatch_paused_note: note,
    })
    expect(await auditTrail(app, org, 'CLUSTER_QUEUE_UPDATED')).toMatchObject([
      { data: { dispatch_paused_at: answer.body.dispatch_paused_at } },
    ])
  })

  it('accepts one of two simultaneous pauses', async () => {
    const { org, admin, maintainer, cluster } = await aPlace()
    const { path } = await aQueue(app, cluster, maintainer)
    const answers = await Promise.all(
      [admin, maintainer, admin].map(({ token, email }) =>
        app.request('POST', `${path}/pause_dispatch`, { token, body: { note: email } }),
      ),
    )
    const [winner, ...losers] = answers.sort((a, b) => a.status - b.status)
    expect(losers.map(({ status, body }) => [status, body])).toEqual([
      [422, { message: 'Cluster queue is already paused' }],
      [422, { message: 'Cluster queue is already paused' }],
    ])
    expect((await app.request('GET', path, { token: admin.token })).body).toEqual(winner?.body)
    expect(await auditTrail(app, org, 'CLUSTER_QUEUE_UPDATED')).toHaveLength(1)
  })

  it('needs the permission to manage the cluster, and a queue', async () => {
    const { org, maintainer, cluster, path } = await aPlace()
    const queue = await aQueue(app, cluster, maintainer)
    const { token } = await aMember(app, org)
    expect((await app.request('POST', `${queue.path}/pause_dispatch`, { token })).status).toBe(403)
    const missing = await app.request('POST', `${path}/${unknownId}/pause_dispatch`, {
      token: maintainer.token,
    })
    expect([missing.status, missing.body]).toEqual([404, { message: 'No queue found' }])
  })
})

describe('POST /v2/organizations/{org.slug}/clusters/{cluster.id}/queues/{id}/resume_dispatch', () => {
  it('resumes once, and clears who paused and why', async () => {
    const { maintainer, cluster } = await aPlace()
    const { path } = await aQueue(app, cluster, maintainer)
    const { token } = maintainer
    await app.request('POST', `${path}/pause_dispatch`, { token, body: { note: 'N' } })
    const resume = () => app.request('POST', `${path}/resume_dispatch`, { token })
    const answers = (await Promise.all([resume(), resume()])).sort((a, b) => a.status - b.status)
    expect(answers[0]?.body).toMatchObject({
      dispatch_paused: false,
      dispatch_paused_by: null,
      dispatch_paused_at: null,
      dispatch_paused_note: null,
    })
    expect([answers[1]?.status, answers[1]?.body]).toEqual([422, { message: 'Cluster queue is not paused' }])
  })

  it('needs the permission to manage the cluster', async () => {
    const { org, maintainer, cluster } = await aPlace()
    const { path } = await aQueue(app, cluster, maintainer)
    const { token } = await aMember(app, org)
    expect((await app.request('POST', `${path}/resume_dispatch`, { token })).status).toBe(403)
  })
})
