import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aTeam,
  aToken,
  auditTrail,
  inTeam,
} from '../../../../test/builders.ts'

const app = useApp()
const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'
const graphqlId = (type: string, id: string) => Buffer.from(`${type}---${id}`).toString('base64')

async function aPlace() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const cluster = await aCluster(app, org, admin)
  const path = `${cluster.path}/maintainers`
  const add = (body: unknown, token = admin.token) => app.request('POST', path, { token, body })
  return { org, admin, cluster, path, add }
}

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/maintainers', () => {
  it('lists users and teams oldest first, in pages', async () => {
    const { org, admin, path, add } = await aPlace()
    const [member, team] = [await aMember(app, org), await aTeam(app, org, admin)]
    await add({ team: team.id })
    await add({ user: member.id })
    await add({ user: admin.id })
    const { token } = await aMember(app, org)
    const all = await app.request('GET', path, { token })
    expect(all.status).toBe(200)
    expect(all.body).toEqual([
      {
        id: expect.any(String),
        actor: {
          id: team.id,
          graphql_id: graphqlId('Team', team.id),
          name: team.name,
          slug: team.slug,
          type: 'team',
        },
      },
      {
        id: expect.any(String),
        actor: {
          id: member.id,
          graphql_id: graphqlId('User', member.id),
          name: member.name,
          email: member.email,
          type: 'user',
        },
      },
      { id: expect.any(String), actor: expect.objectContaining({ id: admin.id }) },
    ])
    const first = await app.request('GET', `${path}?per_page=2`, { token })
    expect(first.list).toHaveLength(2)
    expect(first.headers.get('link')).toBe(`<${baseUrl}${path}?page=2&per_page=2>; rel="next"`)
  })

  it('answers 404 for a cluster of another organization', async () => {
    const [mine, theirs] = [await aPlace(), await aPlace()]
    const path = `${mine.org.path}/clusters/${theirs.cluster.id}/maintainers`
    const answer = await app.request('GET', path, { token: mine.admin.token })
    expect([answer.status, answer.body]).toEqual([404, { message: 'No cluster found' }])
  })
})

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/maintainers/{id}', () => {
  it('answers the maintainer, and 404 for any other id', async () => {
    const { org, admin, path, add } = await aPlace()
    const added = (await add({ user: admin.id })).body
    const { token } = await aMember(app, org)
    expect((await app.request('GET', `${path}/${added.id}`, { token })).body).toEqual(added)
    const other = await aCluster(app, org, admin)
    for (const missing of [`${path}/${unknownId}`, `${path}/x`, `${other.path}/maintainers/${added.id}`]) {
      const answer = await app.request('GET', missing, { token })
      expect([answer.status, answer.body]).toEqual([404, { message: 'No maintainer found' }])
    }
  })
})

describe('POST /v2/organizations/{org.slug}/clusters/{cluster.id}/maintainers', () => {
  it('answers 201 and lets the user manage the cluster', async () => {
    const { org, cluster, add } = await aPlace()
    const member = await aMember(app, org)
    const rename = () => app.request('PUT', cluster.path, { token: member.token, body: { name: 'Mine' } })
    expect((await rename()).status).toBe(403)
    const answer = await add({ user: member.id, team: '' })
    expect(answer.status).toBe(201)
    expect((await rename()).status).toBe(200)
    expect(await auditTrail(app, org, 'CLUSTER_PERMISSION_CREATED')).toMatchObject([
      {
        subject: { type: 'ClusterPermission', uuid: answer.body.id, name: member.name },
        data: { cluster_id: cluster.id, user_id: member.id },
      },
    ])
  })

  it('lets the members of a team manage the cluster', async () => {
    const { org, admin, cluster, add } = await aPlace()
    const member = await aMember(app, org)
    const team = await aTeam(app, org, admin)
    await inTeam(app, team, admin, member)
    await add({ team: team.id })
    const body = { name: 'Ours' }
    expect((await app.request('PUT', cluster.path, { token: member.token, body })).status).toBe(200)
    expect(await auditTrail(app, org, 'CLUSTER_PERMISSION_CREATED')).toMatchObject([
      { data: { cluster_id: cluster.id, team_id: team.id } },
    ])
  })

  it.each([
    ['nothing', {}, 'must name a user or a team'],
    ['a user and a team', { user: unknownId, team: unknownId }, 'must name a user or a team, not both'],
    ['a user that is no UUID', { user: 'ada' }, 'user must be a UUID'],
    ['a user that is no string', { user: 7 }, 'user must be a string'],
    ['an unknown user', { user: unknownId }, `no user with the id ${unknownId} in this organization`],
    ['an unknown team', { team: unknownId }, `no team with the id ${unknownId} in this organization`],
  ])('answers 422 for %s', async (_, body, reason) => {
    const { add } = await aPlace()
    const answer = await add(body)
    expect([answer.status, answer.body]).toEqual([422, { message: `Validation failed: ${reason}` }])
  })

  it('answers 422 for a user or a team of another organization', async () => {
    const { add } = await aPlace()
    const theirs = await aPlace()
    expect((await add({ user: theirs.admin.id })).status).toBe(422)
    expect((await add({ team: (await aTeam(app, theirs.org, theirs.admin)).id })).status).toBe(422)
  })

  it('adds a user once when two requests arrive at the same time', async () => {
    const { org, admin, add } = await aPlace()
    const answers = await Promise.all([1, 2, 3].map(() => add({ user: admin.id })))
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 422, 422])
    expect(await auditTrail(app, org, 'CLUSTER_PERMISSION_CREATED')).toHaveLength(1)
  })

  it('needs write_clusters and the permission to manage the cluster', async () => {
    const { org, admin, add } = await aPlace()
    const member = await aMember(app, org)
    expect((await add({ user: member.id }, member.token)).status).toBe(403)
    const reader = await aToken(app, admin, { scopes: ['read_clusters'] })
    expect((await add({ user: member.id }, reader)).status).toBe(403)
  })
})

describe('DELETE /v2/organizations/{org.slug}/clusters/{cluster.id}/maintainers/{id}', () => {
  it('answers 204, ends the right to manage, and is audited once', async () => {
    const { org, admin, cluster, path, add } = await aPlace()
    const member = await aMember(app, org)
    const added = (await add({ user: member.id })).body
    const answers = await Promise.all(
      [1, 2].map(() => app.request('DELETE', `${path}/${added.id}`, { token: admin.token })),
    )
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([204, 404])
    const body = { name: 'Still mine?' }
    expect((await app.request('PUT', cluster.path, { token: member.token, body })).status).toBe(403)
    expect(await auditTrail(app, org, 'CLUSTER_PERMISSION_DELETED')).toMatchObject([
      { subject: { uuid: added.id, name: member.name }, data: { cluster_id: cluster.id } },
    ])
  })

  it('answers 403 to members and 404 for the maintainer of another cluster', async () => {
    const { org, admin, path, add } = await aPlace()
    const added = (await add({ user: admin.id })).body
    const member = await aMember(app, org)
    expect((await app.request('DELETE', `${path}/${added.id}`, { token: member.token })).status).toBe(403)
    const other = await aCluster(app, org, admin)
    const elsewhere = `${other.path}/maintainers/${added.id}`
    expect((await app.request('DELETE', elsewhere, { token: admin.token })).status).toBe(404)
  })
})
