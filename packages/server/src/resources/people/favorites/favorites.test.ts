import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aTeam,
  aToken,
  inTeam,
  type TestUser,
} from '../../../../test/builders.ts'
import { newId } from '../../../lib/ids.ts'
import { createMember } from '../members/create.ts'

const app = useApp()
const configuration = 'steps: [{command: a}]'

async function anOrganizationWithMember() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  return { org, admin, member: await aMember(app, org) }
}

const listOf = async ({ token }: { token: string }) =>
  JSON.parse((await app.request('GET', '/v2/user/favorites', { token })).text) as unknown
const mark = (method: 'PUT' | 'DELETE', { token }: { token: string }, id: string) =>
  app.request(method, `/v2/user/favorites/${id}`, { token })

describe('PUT /v2/user/favorites/{pipeline_uuid}', () => {
  it('marks a pipeline for the caller alone, once', async () => {
    const { org, admin, member } = await anOrganizationWithMember()
    const first = await aPipeline(app, org, configuration)
    const second = await aPipeline(app, org, configuration)
    expect((await mark('PUT', member, first.id)).status).toBe(204)
    expect((await mark('PUT', member, first.id)).status).toBe(204)
    await mark('PUT', member, second.id)
    expect(await listOf(member)).toEqual([first.id, second.id])
    expect(await listOf(admin)).toEqual([])
  })

  it('shows as viewer.favorite of the pipeline', async () => {
    const { org, admin, member } = await anOrganizationWithMember()
    const [marked, other] = [
      await aPipeline(app, org, configuration),
      await aPipeline(app, org, configuration),
    ]
    await mark('PUT', member, marked.id)
    const favorites = async ({ token }: TestUser) => {
      const list = await app.request('GET', `${org.path}/pipelines?include_viewer=true`, { token })
      return list.list.flatMap(({ id, viewer }) =>
        Reflect.get(Object(viewer), 'favorite') === true ? [id] : [],
      )
    }
    expect(await favorites(member)).toEqual([marked.id])
    expect(await favorites(admin)).toEqual([])
    const { body } = await app.request(
      'GET',
      `${org.path}/pipelines/${other.slug}?include_viewer=true`,
      member,
    )
    expect(body['viewer']).toMatchObject({ favorite: false })
  })

  it('answers 404 for pipelines of other organizations, hidden ones and unknown ones', async () => {
    const { org, admin, member } = await anOrganizationWithMember()
    const theirs = await anOrganizationWithMember()
    const foreign = await aPipeline(app, theirs.org, configuration)
    const hidden = await aPipeline(app, org, configuration)
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    for (const method of ['PUT', 'DELETE'] as const)
      for (const id of [foreign.id, hidden.id, newId(), 'x']) {
        const { status, body } = await mark(method, member, id)
        expect([id, status, body]).toEqual([id, 404, { message: 'No pipeline found' }])
      }
  })

  it('answers 404 to a token limited to another organization, and 403 to one without the scope', async () => {
    const { org, member } = await anOrganizationWithMember()
    const other = await anOrganization(app)
    await createMember(
      app.db,
      { kind: 'system' },
      { email: member.email, name: 'M', organizationSlug: other.slug, role: 'member', passwordHash: null },
    )
    const pipeline = await aPipeline(app, org, configuration)
    await mark('PUT', member, pipeline.id)
    const limited = { token: await aToken(app, member, { organizations: [other] }) }
    expect((await mark('PUT', limited, pipeline.id)).status).toBe(404)
    expect(await listOf(limited)).toEqual([])
    const narrow = { token: await aToken(app, member, { scopes: ['read_user'] }) }
    expect((await mark('PUT', narrow, pipeline.id)).status).toBe(403)
  })
})

describe('DELETE /v2/user/favorites/{pipeline_uuid}', () => {
  it('removes the mark, and does nothing without one', async () => {
    const { org, member } = await anOrganizationWithMember()
    const { id } = await aPipeline(app, org, configuration)
    await mark('PUT', member, id)
    expect((await mark('DELETE', member, id)).status).toBe(204)
    expect((await mark('DELETE', member, id)).status).toBe(204)
    expect(await listOf(member)).toEqual([])
  })
})

describe('GET /v2/user/favorites', () => {
  it('leaves out a pipeline that the caller may no longer read, until they may again', async () => {
    const { org, admin, member } = await anOrganizationWithMember()
    const { id } = await aPipeline(app, org, configuration)
    const team = await aTeam(app, org, admin)
    await mark('PUT', member, id)
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    expect(await listOf(member)).toEqual([])
    await inTeam(app, team, admin, member)
    const body = { pipeline_id: id, access_level: 'read_only' }
    await app.request('POST', `${team.path}/pipelines`, { token: admin.token, body })
    expect(await listOf(member)).toEqual([id])
  })

  it('ends with the membership and with the pipeline', async () => {
    const { org, admin, member } = await anOrganizationWithMember()
    const pipeline = await aPipeline(app, org, configuration)
    await mark('PUT', member, pipeline.id)
    await mark('PUT', admin, pipeline.id)
    await app.request('DELETE', `${org.path}/members/${member.id}`, { token: admin.token })
    expect(await listOf(member)).toEqual([])
    await app.request('DELETE', `${org.path}/pipelines/${pipeline.slug}`, { token: admin.token })
    expect(await listOf(admin)).toEqual([])
  })
})
