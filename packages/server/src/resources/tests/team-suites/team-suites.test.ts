import { describe, expect, it } from 'vitest'
import { baseUrl, sortedStatuses, useApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, aTeam, auditTrail, inTeam } from '../../../../test/builders.ts'

const app = useApp()
const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'

async function aPlace() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const team = await aTeam(app, org, admin)
  const made = await app.request('POST', `${org.path}/suites`, { token: admin.token, body: { name: 'unit' } })
  const suite = { id: String(made.body.id), path: `${org.path}/suites/unit` }
  const path = `${team.path}/suites`
  const add = (body: object, token = admin.token) => app.request('POST', path, { token, body })
  const ask = (method: string, id: string, body?: object, token = admin.token) =>
    app.request(method, `${path}/${id}`, { token, body })
  return { org, admin, team, suite, path, add, ask }
}

describe('/v2/organizations/{org.slug}/teams/{team.uuid}/suites', () => {
  it('are added, listed, fetched, changed and removed', async () => {
    const { org, admin, team, suite, path, add, ask } = await aPlace()
    const added = await add({ suite_id: suite.id, access_level: ['read'] })
    expect([added.status, added.body]).toEqual([
      201,
      {
        suite_id: suite.id,
        suite_url: `${baseUrl}${suite.path}`,
        access_level: ['read'],
        created_at: expect.any(String),
      },
    ])
    expect((await app.request('GET', path, { token: admin.token })).list).toEqual([added.body])
    expect((await app.request('GET', `${suite.path}/teams`, { token: admin.token })).list).toEqual([
      {
        team: { id: team.id, graphql_id: btoa(`Team---${team.id}`), name: team.name, slug: team.slug },
        access_level: ['read'],
        created_at: added.body.created_at,
      },
    ])
    expect((await ask('GET', suite.id)).body).toEqual(added.body)
    const changed = await ask('PATCH', suite.id, { access_level: ['edit'] })
    expect([changed.status, changed.body]).toEqual([200, { ...added.body, access_level: ['read', 'edit'] }])
    await ask('PATCH', suite.id, { access_level: ['read', 'edit'] })
    expect(sortedStatuses(await Promise.all([ask('DELETE', suite.id), ask('DELETE', suite.id)]))).toEqual([
      204, 404,
    ])
    expect((await ask('GET', suite.id)).body).toEqual({ message: 'No team suite found' })
    const data = { team_id: team.id, suite_id: suite.id }
    const trail = async (type: Parameters<typeof auditTrail>[2]) =>
      (await auditTrail(app, org, type)).map((event) => event.data)
    expect(await trail('TEAM_SUITE_CREATED')).toEqual([{ ...data, access_level: 'read_only' }])
    expect(await trail('TEAM_SUITE_UPDATED')).toEqual([{ ...data, access_level: 'manage_and_read' }])
    expect(await trail('TEAM_SUITE_DELETED')).toEqual([data])
  })

  it('answer 422 to what is not a suite here, not a level, or there already', async () => {
    const [mine, theirs] = [await aPlace(), await aPlace()]
    for (const suite_id of [theirs.suite.id, unknownId]) {
      expect(await mine.add({ suite_id, access_level: ['read'] })).toMatchObject({
        status: 422,
        body: { message: 'Validation failed: suite_id is not a suite of this organization' },
      })
    }
    for (const access_level of [[], ['all'], 'read']) {
      expect((await mine.add({ suite_id: mine.suite.id, access_level })).status).toBe(422)
    }
    const body = { suite_id: mine.suite.id, access_level: ['read'] }
    expect(sortedStatuses(await Promise.all([mine.add(body), mine.add(body)]))).toEqual([201, 422])
  })

  it('are given by maintainers of the team only as far as they manage the suite', async () => {
    const { org, admin, team, suite, add, ask } = await aPlace()
    const maintainer = await aMember(app, org)
    await inTeam(app, team, admin, maintainer, 'maintainer')
    const body = { suite_id: suite.id, access_level: ['read', 'edit'] }
    expect((await add(body, maintainer.token)).status).toBe(403)
    await add({ ...body, access_level: ['read'] })
    expect((await ask('PATCH', suite.id, { access_level: ['edit'] }, maintainer.token)).status).toBe(403)
    await ask('PATCH', suite.id, { access_level: ['edit'] })
    expect((await ask('PATCH', suite.id, { access_level: ['read'] }, maintainer.token)).status).toBe(200)
    const foreign = await aPlace()
    const elsewhere = `${org.path}/teams/${foreign.team.id}/suites`
    expect(await app.request('GET', elsewhere, { token: admin.token })).toMatchObject({
      status: 404,
      body: { message: 'No team found' },
    })
  })
})
