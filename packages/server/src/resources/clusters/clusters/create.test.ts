import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aTeam,
  aToken,
  auditTrail,
  inTeam,
  tokenId,
} from '../../../../test/builders.ts'

const app = useApp()

async function anOrg() {
  const org = await anOrganization(app)
  return { org, admin: await anAdmin(app, org) }
}

const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'

describe('POST /v2/organizations/{org.slug}/clusters', () => {
  const create = (org: { path: string }, token: string, body: unknown) =>
    app.request('POST', `${org.path}/clusters`, { token, body })

  it('answers 201 with empty maintainers and no default queue when only a name is given', async () => {
    const { org, admin } = await anOrg()
    const answer = await create(org, admin.token, { name: 'Plain', unknown: 'ignored' })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      name: 'Plain',
      description: '',
      emoji: null,
      color: null,
      default_queue_id: null,
      default_queue_url: null,
      maintainers: { users: [], teams: [] },
      created_by: { id: admin.id },
    })
  })

  it('makes users and teams maintainers, who may then manage the cluster', async () => {
    const { org, admin } = await anOrg()
    const [byUser, byTeam] = [await aMember(app, org), await aMember(app, org)]
    const team = await aTeam(app, org, admin)
    await inTeam(app, team, admin, byTeam)
    const maintainers = [{ user: byUser.id }, { team: team.id }]
    const { body } = await create(org, admin.token, { name: 'Kept', maintainers })
    for (const { token } of [byUser, byTeam]) {
      const path = `${org.path}/clusters/${body.id}`
      expect((await app.request('PUT', path, { token, body: { color: '#000' } })).status).toBe(200)
    }
  })

  it('does not apply the hosted cache fields', async () => {
    const { org, admin } = await anOrg()
    const answer = await create(org, admin.token, {
      name: 'A',
      hosted_git_mirror_enabled: true,
      hosted_container_cache_enabled: true,
    })
    expect(answer.status).toBe(201)
    const got = await app.request('GET', `${org.path}/clusters/${answer.body.id}`, { token: admin.token })
    expect(got.body).toMatchObject({
      hosted_git_mirror_enabled: false,
      hosted_container_cache_enabled: false,
    })
  })

  it.each([
    ['no name', {}, 'name is required'],
    ['an empty name', { name: '' }, 'name must not be empty'],
    ['a blank name', { name: '  ' }, 'name must not be blank'],
    ['a name that is not a string', { name: 7 }, 'name must be a string'],
    ['a long name', { name: 'x'.repeat(256) }, 'name must have at most 255 characters'],
    ['a wrong emoji', { name: 'A', emoji: 'rocket' }, 'emoji must be an emoji in colon syntax'],
    ['a wrong color', { name: 'A', color: 'red' }, 'color must be a hex color'],
    ['a description that is not a string', { name: 'A', description: 1 }, 'description must be'],
    ['maintainers that are no list', { name: 'A', maintainers: {} }, 'maintainers must be an array'],
    [
      'a maintainer of both kinds',
      { name: 'A', maintainers: [{ user: unknownId, team: unknownId }] },
      'not both',
    ],
    [
      'a maintainer of no kind',
      { name: 'A', maintainers: [{}] },
      'maintainers[0] must name a user or a team',
    ],
    ['a maintainer that is no UUID', { name: 'A', maintainers: [{ user: 'x' }] }, 'user must be a UUID'],
    ['an unknown maintainer', { name: 'A', maintainers: [{ team: unknownId }] }, 'no team with the id'],
    ['hosted without a driver', { name: 'A', hosted: true }, 'runs no hosted clusters'],
  ])('Create cluster 422: validation failure, %s', async (_, body, reason) => {
    const { org, admin } = await anOrg()
    const answer = await create(org, admin.token, body)
    expect(answer.status).toBe(422)
    expect(answer.body.message).toMatch(/^Validation failed: /)
    expect(answer.body.message).toContain(reason)
    expect((await app.request('GET', `${org.path}/clusters`, { token: admin.token })).list).toEqual([])
  })

  it('Create cluster 422: a maintainer of another organization, and nothing is created', async () => {
    const { org, admin } = await anOrg()
    const other = await anOrg()
    const maintainers = [{ user: admin.id }, { user: other.admin.id }]
    expect((await create(org, admin.token, { name: 'A', maintainers })).status).toBe(422)
    expect(await auditTrail(app, org, 'CLUSTER_CREATED')).toEqual([])
    expect(await auditTrail(app, org, 'CLUSTER_PERMISSION_CREATED')).toEqual([])
  })

  it('answers 403 to members and to tokens without write_clusters', async () => {
    const { org, admin } = await anOrg()
    const member = await create(org, (await aMember(app, org)).token, { name: 'A' })
    expect([member.status, member.body]).toEqual([403, { message: 'Forbidden' }])
    const token = await aToken(app, admin, { scopes: ['read_clusters'] })
    expect((await create(org, token, { name: 'A' })).status).toBe(403)
  })

  it('writes CLUSTER_CREATED with the initial attributes and the context of the request', async () => {
    const { org, admin } = await anOrg()
    const answer = await app.request('POST', `${org.path}/clusters`, {
      token: admin.token,
      body: { name: 'A', color: '#fff' },
      headers: { 'User-Agent': 'a test' },
    })
    const events = await app.db
      .selectFrom('audit_events')
      .select(['actor', 'subject', 'context', 'data'])
      .where('organization_id', '=', org.id)
      .where('type', '=', 'CLUSTER_CREATED')
      .execute()
    expect(events).toEqual([
      {
        actor: { type: 'User', uuid: admin.id, name: admin.name },
        subject: { type: 'Cluster', uuid: answer.body.id, name: 'A' },
        context: {
          type: 'APIContext',
          request_ip: '127.0.0.1',
          request_user_agent: 'a test',
          api_access_token_uuid: await tokenId(app, admin.token),
        },
        data: { name: 'A', description: '', emoji: null, color: '#fff', hosted: false },
      },
    ])
  })
})
