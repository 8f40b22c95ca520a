import { describe, expect, it } from 'vitest'
import { baseUrl, sortedStatuses, useApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aTeam,
  auditTrail,
  inTeam,
  withoutFeature,
} from '../../../../test/builders.ts'

const app = useApp()
const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'

async function aPlace() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const team = await aTeam(app, org, admin)
  const pipeline = await aPipeline(app, org, 'steps: []')
  const path = `${team.path}/pipelines`
  const add = (body: object, token = admin.token) => app.request('POST', path, { token, body })
  const ask = (method: string, id: string, body?: object, token = admin.token) =>
    app.request(method, `${path}/${id}`, { token, body })
  return { org, admin, team, pipeline, path, add, ask }
}

describe('/v2/organizations/{org.slug}/teams/{team.uuid}/pipelines', () => {
  it('are added, listed oldest first, fetched, changed and removed', async () => {
    const { org, admin, pipeline, path, add, ask } = await aPlace()
    const second = await aPipeline(app, org, 'steps: []')
    const added = await add({ pipeline_id: pipeline.id, access_level: 'read_only' })
    expect([added.status, added.body]).toEqual([
      201,
      {
        pipeline_id: pipeline.id,
        pipeline_url: `${baseUrl}${pipeline.path}`,
        pipeline_name: expect.any(String),
        pipeline_slug: pipeline.slug,
        access_level: 'read_only',
        created_at: expect.any(String),
      },
    ])
    await add({ pipeline_id: second.id, access_level: 'build_and_read' })
    const list = await app.request('GET', `${path}?per_page=1`, { token: admin.token })
    expect([list.body, list.headers.get('link')]).toEqual([
      [added.body],
      expect.stringContaining('rel="next"'),
    ])
    expect((await ask('GET', pipeline.id)).body).toEqual(added.body)
    const changed = await ask('PATCH', pipeline.id, { access_level: 'manage_build_and_read' })
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...added.body, access_level: 'manage_build_and_read' },
    ])
    expect((await ask('DELETE', pipeline.id)).status).toBe(204)
    expect((await ask('GET', pipeline.id)).body).toEqual({ message: 'No team pipeline found' })
  })

  it('are audited, each change once', async () => {
    const { org, team, pipeline, add, ask } = await aPlace()
    await add({ pipeline_id: pipeline.id, access_level: 'read_only' })
    await ask('PATCH', pipeline.id, { access_level: 'read_only' })
    await ask('PATCH', pipeline.id, { access_level: 'build_and_read' })
    expect(
      sortedStatuses(await Promise.all([ask('DELETE', pipeline.id), ask('DELETE', pipeline.id)])),
    ).toEqual([204, 404])
    const data = { team_id: team.id, pipeline_id: pipeline.id }
    const trail = async (type: Parameters<typeof auditTrail>[2]) =>
      (await auditTrail(app, org, type)).map((event) => event.data)
    expect(await trail('TEAM_PIPELINE_CREATED')).toEqual([{ ...data, access_level: 'read_only' }])
    expect(await trail('TEAM_PIPELINE_UPDATED')).toEqual([{ ...data, access_level: 'build_and_read' }])
    expect(await trail('TEAM_PIPELINE_DELETED')).toEqual([data])
  })

  it('are added once when two add at the same time', async () => {
    const { pipeline, add } = await aPlace()
    const body = { pipeline_id: pipeline.id, access_level: 'read_only' }
    const answers = await Promise.all([add(body), add(body)])
    expect(sortedStatuses(answers)).toEqual([201, 422])
    expect(answers.find(({ status }) => status === 422)?.body).toEqual({
      message: `Validation failed: the team has the pipeline "${pipeline.slug}" already`,
    })
  })

  it('answer 422 to what is not a pipeline here, or not a level', async () => {
    const [mine, theirs] = [await aPlace(), await aPlace()]
    for (const pipeline_id of [theirs.pipeline.id, unknownId]) {
      const answer = await mine.add({ pipeline_id, access_level: 'read_only' })
      expect([answer.status, answer.body]).toEqual([
        422,
        { message: 'Validation failed: pipeline_id is not a pipeline of this organization' },
      ])
    }
    expect((await mine.add({ pipeline_id: mine.pipeline.id, access_level: 'all' })).status).toBe(422)
    expect((await mine.add({ pipeline_id: mine.pipeline.id })).status).toBe(422)
  })

  it('answer 404 for another team, and for a pipeline that the team does not have', async () => {
    const [mine, theirs] = [await aPlace(), await aPlace()]
    const foreign = `${mine.org.path}/teams/${theirs.team.id}/pipelines`
    const answer = await app.request('GET', foreign, { token: mine.admin.token })
    expect([answer.status, answer.body]).toEqual([404, { message: 'No team found' }])
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { access_level: 'read_only' } : undefined
      expect((await mine.ask(method, mine.pipeline.id, body)).body).toEqual({
        message: 'No team pipeline found',
      })
    }
  })

  it('are given by maintainers of the team only as far as the pipeline is theirs to give', async () => {
    const { org, admin, team, pipeline, path, add, ask } = await aPlace()
    const [maintainer, member] = [await aMember(app, org), await aMember(app, org)]
    await inTeam(app, team, admin, maintainer, 'maintainer')
    await inTeam(app, team, admin, member)
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    const body = { pipeline_id: pipeline.id, access_level: 'manage_build_and_read' }
    expect((await add(body, member.token)).status).toBe(403)
    expect((await add(body, maintainer.token)).status).toBe(422)
    await add({ ...body, access_level: 'build_and_read' })
    const raise = { access_level: 'manage_build_and_read' }
    expect((await ask('PATCH', pipeline.id, raise, maintainer.token)).status).toBe(403)
    await ask('PATCH', pipeline.id, raise)
    expect((await ask('PATCH', pipeline.id, { access_level: 'read_only' }, maintainer.token)).status).toBe(
      200,
    )
    expect((await ask('DELETE', pipeline.id, undefined, maintainer.token)).status).toBe(204)
    await add(body)
    const outside = await aMember(app, org)
    expect((await app.request('GET', path, { token: outside.token })).body).toEqual([])
  })
})

describe('GET /v2/organizations/{org.slug}/pipelines/{pipeline.slug}/teams', () => {
  it('lists the teams of a pipeline that the caller may see, oldest first', async () => {
    const { org, admin, team, pipeline, add } = await aPlace()
    const added = await add({ pipeline_id: pipeline.id, access_level: 'build_and_read' })
    const secret = await aTeam(app, org, admin, { privacy: 'secret' })
    const body = { pipeline_id: pipeline.id, access_level: 'read_only' }
    await app.request('POST', `${secret.path}/pipelines`, { token: admin.token, body })
    const path = `${pipeline.path}/teams`
    const all = await app.request('GET', path, { token: admin.token })
    expect([all.status, all.list.map((row) => [row.team?.id, row.access_level])]).toEqual([
      200,
      [
        [team.id, 'build_and_read'],
        [secret.id, 'read_only'],
      ],
    ])
    expect(all.list[0]).toEqual({
      team: { id: team.id, graphql_id: btoa(`Team---${team.id}`), name: team.name, slug: team.slug },
      access_level: 'build_and_read',
      created_at: added.body.created_at,
    })
    const member = await aMember(app, org)
    const seen = await app.request('GET', path, { token: member.token })
    expect(seen.list.map((row) => row.team?.id)).toEqual([team.id])
    await withoutFeature(app, org, 'members_view_teams')
    expect((await app.request('GET', path, { token: member.token })).status).toBe(403)
  })
})
