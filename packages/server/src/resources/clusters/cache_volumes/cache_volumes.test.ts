import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { aCluster, aMember, anAdmin, anOrganization, aToken } from '../../../../test/builders.ts'

const app = useApp()

async function volumes(given: { hosted?: boolean } = {}) {
  const org = await anOrganization(app)
  const [admin, maintainer] = [await anAdmin(app, org), await aMember(app, org)]
  const cluster = await aCluster(app, org, admin, { maintainers: [{ user: maintainer.id }], ...given })
  return { org, admin, maintainer, path: `${cluster.path}/cache_volumes` }
}

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/cache_volumes', () => {
  it('answers an empty array for a cluster that is not hosted', async () => {
    const { maintainer, path } = await volumes()
    const answer = await app.request('GET', path, { token: maintainer.token })
    expect([answer.status, answer.body]).toEqual([200, []])
  })

  it('List cache volumes 503: volumes could not be loaded', async () => {
    const { maintainer, path } = await volumes({ hosted: true })
    const answer = await app.request('GET', path, { token: maintainer.token })
    expect([answer.status, answer.body]).toEqual([
      503,
      { message: 'Could not load cache volumes: the hosted-agent service is not running' },
    ])
  })

  it('needs read_clusters, the permission to manage the cluster, and a cluster of the organization', async () => {
    const [{ org, admin, path }, theirs] = [await volumes(), await volumes()]
    const token = await aToken(app, admin, { scopes: ['write_clusters'] })
    expect((await app.request('GET', path, { token })).status).toBe(403)
    expect((await app.request('GET', path, { token: (await aMember(app, org)).token })).status).toBe(403)
    const foreign = theirs.path.replace(theirs.org.path, org.path)
    expect((await app.request('GET', foreign, { token: admin.token })).status).toBe(404)
  })
})

describe('DELETE /v2/organizations/{org.slug}/clusters/{cluster.id}/cache_volumes', () => {
  it.each([
    ['no body', undefined],
    ['no tag', {}],
    ['an empty tag', { tag: '' }],
    ['a tag that is null', { tag: null }],
    ['a tag that is a number', { tag: 7 }],
    ['a tag that is a list', { tag: ['a'] }],
  ])('Delete cache volume 400: `tag` missing or not a non-empty string, %s', async (_, body) => {
    for (const hosted of [true, false]) {
      const { maintainer, path } = await volumes({ hosted })
      const answer = await app.request('DELETE', path, { token: maintainer.token, body })
      expect([answer.status, answer.body]).toEqual([400, { message: '`tag` must be a non-empty string' }])
    }
  })

  it('Delete cache volume 404: the cluster has no hosted cache volumes', async () => {
    const { maintainer, path } = await volumes()
    const answer = await app.request('DELETE', path, { token: maintainer.token, body: { tag: 'a/b;c' } })
    expect([answer.status, answer.body]).toEqual([
      404,
      { message: 'This cluster has no hosted cache volumes' },
    ])
  })

  it('Delete cache volume 503: deletion failed', async () => {
    const { maintainer, path } = await volumes({ hosted: true })
    const answer = await app.request('DELETE', path, { token: maintainer.token, body: { tag: 'a/b;c' } })
    expect([answer.status, answer.body]).toEqual([
      503,
      { message: 'Could not delete cache volume: the hosted-agent service is not running' },
    ])
  })

  it('needs write_clusters, the permission to manage the cluster, and a cluster of the organization', async () => {
    const [{ org, admin, path }, theirs] = [await volumes(), await volumes()]
    const body = { tag: 'a' }
    const token = await aToken(app, admin, { scopes: ['read_clusters'] })
    expect((await app.request('DELETE', path, { token, body })).status).toBe(403)
    const member = await aMember(app, org)
    expect((await app.request('DELETE', path, { token: member.token, body })).status).toBe(403)
    const foreign = theirs.path.replace(theirs.org.path, org.path)
    const answer = await app.request('DELETE', foreign, { token: admin.token, body })
    expect([answer.status, answer.body]).toEqual([404, { message: 'No cluster found' }])
  })
})
