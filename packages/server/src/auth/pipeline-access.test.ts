import { describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aTeam,
  inTeam,
  unique,
  type TestUser,
} from '../../test/builders.ts'

const app = useApp()
const body = { repository: 'https://git.example.com/app.git', configuration: 'steps: []' }
const missing = [404, { message: 'No pipeline found' }]

/** An organization where teams decide, with a member in one of them. */
async function aPlace() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  await aCluster(app, org, admin)
  const member = await aMember(app, org)
  const team = await aTeam(app, org, admin)
  await inTeam(app, team, admin, member)
  await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
  const path = `${org.path}/pipelines`
  const create = (given: object, by: TestUser = admin) =>
    app.request('POST', path, { token: by.token, body: { name: unique('App'), ...body, ...given } })
  const ask = async (method: string, slug: unknown, by: TestUser = member, given?: object) => {
    const answer = await app.request(method, `${path}/${slug}`, { token: by.token, body: given })
    return [answer.status, answer.body]
  }
  return { org, admin, member, team, path, create, ask }
}

describe('access to a pipeline', () => {
  it('is everything for every member while teams are off', async () => {
    const org = await anOrganization(app)
    await aCluster(app, org, await anAdmin(app, org))
    const { token } = await aMember(app, org)
    const made = await app.request('POST', `${org.path}/pipelines`, { token, body: { name: 'App', ...body } })
    expect(made.status).toBe(201)
    const path = `${org.path}/pipelines/app`
    expect((await app.request('PATCH', path, { token, body: { description: 'x' } })).status).toBe(200)
    expect((await app.request('DELETE', path, { token })).status).toBe(204)
  })

  it('is none without a team: it is as if the pipeline did not exist', async () => {
    const { member, path, create, ask } = await aPlace()
    const { slug } = (await create({})).body
    expect(await ask('GET', slug)).toEqual(missing)
    expect(await ask('PATCH', slug, member, { description: 'x' })).toEqual(missing)
    expect(await ask('DELETE', slug)).toEqual(missing)
    expect((await app.request('GET', path, { token: member.token })).list).toEqual([])
  })

  it('is reading with read_only and build_and_read, and everything with manage_build_and_read', async () => {
    const { org, member, team, path, create, ask } = await aPlace()
    for (const level of ['read_only', 'build_and_read']) {
      const { slug } = (await create({ teams: { [team.id]: level } })).body
      expect((await ask('GET', slug))[0]).toBe(200)
      expect(await ask('PATCH', slug, member, { description: 'x' })).toEqual([403, { message: 'Forbidden' }])
    }
    const { slug } = (await create({ teams: { [team.id]: 'manage_build_and_read' } })).body
    expect((await ask('PATCH', slug, member, { description: 'x' }))[0]).toBe(200)
    const listed = await app.request('GET', path, { token: member.token })
    expect(listed.list.map(({ provider }) => String(provider.webhook_url) === '')).toEqual([
      true,
      true,
      false,
    ])
    expect((await app.request('GET', path, { token: (await aMember(app, org)).token })).list).toEqual([])
  })

  it('is the highest that any of the teams gives', async () => {
    const { org, admin, member, team, create, ask } = await aPlace()
    const second = await aTeam(app, org, admin)
    await inTeam(app, second, admin, member)
    const teams = { [team.id]: 'read_only', [second.id]: 'manage_build_and_read' }
    const { slug } = (await create({ teams })).body
    expect((await ask('PATCH', slug, member, { description: 'x' }))[0]).toBe(200)
  })

  it('is reading for every member when the pipeline is public', async () => {
    const { org, admin, member, path, create, ask } = await aPlace()
    await app.request('PUT', `${org.path}/pipeline-settings/public-pipelines`, { token: admin.token })
    const { slug } = (await create({ visibility: 'public' })).body
    expect((await ask('GET', slug))[0]).toBe(200)
    expect((await ask('PATCH', slug, member, { description: 'x' }))[0]).toBe(403)
    expect((await app.request('GET', path, { token: member.token })).list).toMatchObject([{ slug }])
  })

  it('is everything for administrators', async () => {
    const { admin, create, ask } = await aPlace()
    const { slug } = (await create({})).body
    expect((await ask('PATCH', slug, admin, { description: 'x' }))[0]).toBe(200)
  })
})

describe('creating a pipeline where teams decide', () => {
  it('is for administrators and for teams that let their members', async () => {
    const { admin, member, team, create } = await aPlace()
    const teams = { [team.id]: 'manage_build_and_read' }
    const refused = await create({ teams }, member)
    expect([refused.status, refused.body]).toEqual([403, { message: 'Forbidden' }])
    const right = { members_can_create_pipelines: true }
    await app.request('PATCH', team.path, { token: admin.token, body: right })
    expect((await create({ teams }, member)).status).toBe(201)
    expect((await create({ team_uuids: [team.id] }, member)).status).toBe(201)
  })

  it('keeps the pipeline within such a team', async () => {
    const { org, admin, member, team, create } = await aPlace()
    const right = { members_can_create_pipelines: true }
    await app.request('PATCH', team.path, { token: admin.token, body: right })
    const [foreign, secret] = [
      await aTeam(app, org, admin, right),
      await aTeam(app, org, admin, { privacy: 'secret' }),
    ]
    for (const given of [{}, { teams: {} }, { teams: { [foreign.id]: 'read_only' } }]) {
      const answer = await create(given, member)
      const code = 'must name a team of yours that lets its members create pipelines'
      expect([answer.status, answer.body.errors]).toEqual([422, [{ field: 'teams', code }]])
    }
    const hidden = await create({ team_uuids: [team.id, secret.id] }, member)
    expect(hidden.body.errors).toMatchObject([
      { field: 'team_uuids', code: `has "${secret.id}", which is no team of this organization` },
    ])
  })
})
