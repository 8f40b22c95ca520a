// The cache fields of hosted clusters: who sees them, and what happens when the hosted-agent service refuses.
import { beforeEach, describe, expect, it } from 'vitest'
import { useApp, useOwnApp } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aQueue,
  aTeam,
  auditTrail,
  inTeam,
} from '../../../../test/builders.ts'
import { MemoryEngine } from '../../../../test/hosted/memory-engine.ts'

const engine = new MemoryEngine()
const service = engine.open('tests of clusters')
const app = useOwnApp({ hosted: service })
const withoutService = useApp()

beforeEach(() => engine.recover())

const both = { hosted_git_mirror_enabled: true, hosted_container_cache_enabled: true }
const neither = { hosted_git_mirror_enabled: false, hosted_container_cache_enabled: false }

async function aHostedCluster() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const cluster = await aCluster(app, org, admin, { hosted: true })
  /** The caches that the service has turned on for this cluster. */
  const applied = async () => {
    const switches = await service.listSharedVolumes()
    const { gitMirror = false, containerCache = false } =
      switches.find(({ clusterId }) => clusterId === cluster.id) ?? {}
    return { gitMirror, containerCache }
  }
  return { org, admin, cluster, applied }
}

describe('hosted_git_mirror_enabled and hosted_container_cache_enabled', () => {
  async function everybody() {
    const org = await anOrganization(app)
    const people = {
      admin: await anAdmin(app, org),
      member: await aMember(app, org),
      'maintainer by user': await aMember(app, org),
      'maintainer by team': await aMember(app, org),
    }
    const team = await aTeam(app, org, people.admin)
    await inTeam(app, team, people.admin, people['maintainer by team'])
    const maintainers = [{ user: people['maintainer by user'].id }, { team: team.id }]
    const cluster = await aCluster(app, org, people.admin, { hosted: true, maintainers })
    return { org, people, cluster }
  }

  it.each(['admin', 'maintainer by user', 'maintainer by team'] as const)(
    'are shown to the %s in get, update and the list with include_viewer, not in the plain list',
    async (who) => {
      const { org, people, cluster } = await everybody()
      const { token } = people[who]
      expect((await app.request('GET', cluster.path, { token })).body).toMatchObject({
        hosted: true,
        ...neither,
      })
      const updated = await app.request('PUT', cluster.path, { token, body: both })
      expect(updated.body).toMatchObject({ hosted: true, ...both })
      const [listed = {}] = (await app.request('GET', `${org.path}/clusters`, { token })).list
      expect(Object.keys(listed).filter((key) => key.startsWith('hosted'))).toEqual([])
      const viewed = await app.request('GET', `${org.path}/clusters?include_viewer=true`, { token })
      expect(viewed.list).toMatchObject([{ hosted: true, ...both }])
    },
  )

  it('are never shown to a member', async () => {
    const { org, people, cluster } = await everybody()
    const { token } = people.member
    const got = (await app.request('GET', cluster.path, { token })).body
    const [listed = {}] = (await app.request('GET', `${org.path}/clusters`, { token })).list
    const viewed = await app.request('GET', `${org.path}/clusters?include_viewer=true`, { token })
    const keys = [got, listed, viewed.list[0] ?? {}].flatMap(Object.keys)
    expect(keys.filter((key) => key.startsWith('hosted'))).toEqual([])
    expect((await app.request('PUT', cluster.path, { token, body: both })).status).toBe(403)
  })

  it('are not shown to a maintainer of another cluster', async () => {
    const { org, people, cluster } = await everybody()
    const stranger = await aMember(app, org)
    await aCluster(app, org, people.admin, { maintainers: [{ user: stranger.id }] })
    expect((await app.request('GET', cluster.path, { token: stranger.token })).body).not.toHaveProperty(
      'hosted',
    )
  })

  it('are not in the response of create', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const answer = await app.request('POST', `${org.path}/clusters`, {
      token,
      body: { name: 'A', hosted: true },
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({ hosted: true })
    expect(answer.body).not.toHaveProperty('hosted_git_mirror_enabled')
    expect(answer.body).not.toHaveProperty('hosted_container_cache_enabled')
  })
})

describe('PUT /v2/organizations/{org.slug}/clusters/{id} of a hosted cluster', () => {
  it('calls the service, stores the fields and audits them', async () => {
    const { org, admin, cluster, applied } = await aHostedCluster()
    const answer = await app.request('PUT', cluster.path, { token: admin.token, body: both })
    expect(answer.status).toBe(200)
    expect(await applied()).toEqual({ gitMirror: true, containerCache: true })
    expect((await app.request('GET', cluster.path, { token: admin.token })).body).toMatchObject(both)
    expect(await auditTrail(app, org, 'CLUSTER_UPDATED')).toMatchObject([{ data: both }])
  })

  it.each(['not reached', 'hangs', 'cut off'] as const)(
    'Update cluster 503: a change to hosted_git_mirror_enabled could not be applied, and all is rolled back (%s)',
    async (trouble) => {
      const { org, admin, cluster } = await aHostedCluster()
      engine.fail(trouble, 'setGitMirror')
      const body = { name: 'Not this', hosted_git_mirror_enabled: true }
      const refused = await app.request('PUT', cluster.path, { token: admin.token, body })
      expect(refused.status).toBe(503)
      expect(refused.body.message).toContain('Asking again is safe')
      const unchanged = await app.request('GET', cluster.path, { token: admin.token })
      expect(unchanged.body).toMatchObject({ name: cluster.name, ...neither })
      expect(await auditTrail(app, org, 'CLUSTER_UPDATED')).toEqual([])

      engine.recover()
      expect((await app.request('PUT', cluster.path, { token: admin.token, body })).body).toMatchObject(body)
    },
  )

  it('undoes the first change when the service refuses the second', async () => {
    const { admin, cluster, applied } = await aHostedCluster()
    engine.fail('not reached', 'setContainerCache')
    expect((await app.request('PUT', cluster.path, { token: admin.token, body: both })).status).toBe(503)
    expect(await applied()).toEqual({ gitMirror: false, containerCache: false })
    expect((await app.request('GET', cluster.path, { token: admin.token })).body).toMatchObject(neither)
  })

  it('does not call the service when no cache field changes', async () => {
    const { admin, cluster } = await aHostedCluster()
    engine.fail('not reached', 'setGitMirror')
    const body = { name: 'Renamed', ...neither }
    expect((await app.request('PUT', cluster.path, { token: admin.token, body })).status).toBe(200)
  })

  it('calls the service only after it has checked the rest of the body', async () => {
    const { admin, cluster, applied } = await aHostedCluster()
    const other = await aHostedCluster()
    const foreign = await aQueue(app, other.cluster, other.admin)
    const body = { ...both, default_queue_id: foreign.id }
    expect((await app.request('PUT', cluster.path, { token: admin.token, body })).status).toBe(422)
    expect(await applied()).toEqual({ gitMirror: false, containerCache: false })
  })

  it('repeats the response for the same Idempotency-Key, and tries again after a 503', async () => {
    const { org, admin, cluster } = await aHostedCluster()
    const put = () =>
      app.request('PUT', cluster.path, {
        token: admin.token,
        body: both,
        headers: { 'Idempotency-Key': 'switch it on' },
      })
    engine.fail('not reached', 'setGitMirror')
    expect((await put()).status).toBe(503)
    engine.recover()
    const [first, again] = [await put(), await put()]
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body).toEqual(first.body)
    expect(await auditTrail(app, org, 'CLUSTER_UPDATED')).toHaveLength(1)
  })

  it('answers 503 while this installation runs no service', async () => {
    const org = await anOrganization(withoutService)
    const { token, ...admin } = await anAdmin(withoutService, org)
    const cluster = await aCluster(withoutService, org, { token, ...admin }, { hosted: true })
    const put = (body: object) => withoutService.request('PUT', cluster.path, { token, body })
    expect((await put({ hosted_git_mirror_enabled: true })).status).toBe(503)
    expect((await put({ hosted_git_mirror_enabled: false })).status).toBe(200)
  })
})
