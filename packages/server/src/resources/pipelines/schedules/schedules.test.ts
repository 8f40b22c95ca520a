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
} from '../../../../test/builders.ts'
import { graphqlId } from '../../../lib/ids.ts'

const app = useApp()
const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'

async function aPlace() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const pipeline = await aPipeline(app, org, 'steps:\n  - command: make\n', { default_branch: 'trunk' })
  const path = `${pipeline.path}/schedules`
  const post = (body: object = {}, token = admin.token) =>
    app.request('POST', path, { token, body: { cronline: '@daily', ...body } })
  const ask = (method: string, id: unknown, body?: object, token = admin.token) =>
    app.request(method, `${path}/${id}`, { token, body })
  return { org, admin, pipeline, path, post, ask }
}

const tomorrow = () => {
  const now = app.ctx.now()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)).toISOString()
}

describe('POST /v2/organizations/{org.slug}/pipelines/{slug}/schedules', () => {
  it('answers 201 with the schedule and its next time', async () => {
    const { admin, pipeline, path, post } = await aPlace()
    const before = tomorrow()
    const answer = await post({ label: 'Nightly', message: 'Good night', env: { A: 'x', B: 1 } })
    expect(answer.status).toBe(201)
    // The day may end meanwhile.
    expect([before, tomorrow()]).toContain(answer.body.next_build_at)
    const id = String(answer.body.id)
    expect(answer.body).toEqual({
      id,
      graphql_id: graphqlId('PipelineSchedule', id),
      url: `${baseUrl}${path}/${id}`,
      label: 'Nightly',
      cronline: '@daily',
      message: 'Good night',
      commit: 'HEAD',
      branch: 'trunk',
      env: { A: 'x', B: '1' },
      enabled: true,
      next_build_at: expect.any(String),
      failed_message: null,
      failed_at: null,
      created_at: expect.any(String),
      created_by: expect.objectContaining({ id: admin.id }),
      pipeline: { id: pipeline.id, slug: pipeline.slug, url: `${baseUrl}${pipeline.path}` },
    })
  })

  it('shows no next time while it is disabled', async () => {
    const { post } = await aPlace()
    expect((await post({ enabled: false })).body).toMatchObject({ enabled: false, next_build_at: null })
  })

  it.each([
    [{ cronline: undefined }, 'cronline is required'],
    [{ cronline: 'daily' }, 'cronline must have five fields and may have a time zone after them'],
    [{ cronline: '*/5 * * * *' }, 'cronline must not run more often than every 10 minutes'],
    [{ cronline: '0~9 * * * *' }, 'cronline must not contain "~": random times are not supported'],
    [{ cronline: '0 0 31 2 *' }, 'cronline names a day that never comes'],
    [{ enabled: 'yes' }, 'enabled must be a boolean'],
  ])('answers 422 to %o', async (body, reason) => {
    const { post } = await aPlace()
    const answer = await post(body)
    expect([answer.status, answer.body]).toEqual([422, { message: `Validation failed: ${reason}` }])
  })

  it('is for those who may edit the pipeline', async () => {
    const { org, admin, pipeline, path, post } = await aPlace()
    const made = (await post()).body
    const [reader, outsider] = [await aMember(app, org), await aMember(app, org)]
    const team = await aTeam(app, org, admin)
    await inTeam(app, team, admin, reader)
    const body = { pipeline_id: pipeline.id, access_level: 'build_and_read' }
    await app.request('POST', `${team.path}/pipelines`, { token: admin.token, body })
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    expect((await app.request('GET', path, { token: reader.token })).list).toMatchObject([{ id: made.id }])
    expect((await post({}, reader.token)).status).toBe(403)
    expect((await app.request('GET', path, { token: outsider.token })).body).toEqual({
      message: 'No pipeline found',
    })
  })
})

describe('GET /v2/organizations/{org.slug}/pipelines/{slug}/schedules', () => {
  it('lists newest first, in pages', async () => {
    const { admin, path, post } = await aPlace()
    for (const label of ['One', 'Two', 'Three']) await post({ label })
    const answer = await app.request('GET', `${path}?per_page=2`, { token: admin.token })
    expect(answer.list.map(({ label }) => label)).toEqual(['Three', 'Two'])
    expect(answer.headers.get('link')).toContain('rel="next"')
  })

  it('answers a single one, and 404 elsewhere', async () => {
    const { org, post, ask } = await aPlace()
    const made = (await post()).body
    expect((await ask('GET', made.id)).body).toEqual(made)
    const other = await aPipeline(app, org, 'steps: []')
    const theirs = await aPlace()
    const foreign = (await theirs.post()).body
    for (const id of [foreign.id, unknownId, 'x']) {
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const answer = await ask(method, id, method === 'PATCH' ? {} : undefined)
        expect([answer.status, answer.body]).toEqual([404, { message: 'No schedule found' }])
      }
    }
    const { token } = await anAdmin(app, org)
    expect((await app.request('GET', `${other.path}/schedules/${made.id}`, { token })).status).toBe(404)
  })
})

describe('GET /v2/organizations/{org.slug}/pipelines/{slug}/schedules/preview', () => {
  it('answers the next five times of a cron line, or why it cannot be read', async () => {
    const { admin, path } = await aPlace()
    const ask = (cronline: string) =>
      app.request('GET', `${path}/preview?cronline=${encodeURIComponent(cronline)}`, { token: admin.token })
    const times = async (cronline: string) =>
      Object.values((await ask(cronline)).body.builds_at ?? {}).map((time) => new Date(String(time)))
    const first = await times('30 9 * * mon Europe/Berlin')
    expect(first).toHaveLength(5)
    const dayOf = (time: Date) =>
      time.toLocaleString('en-GB', { timeZone: 'Europe/Berlin', weekday: 'short' })
    const hourOf = (time: Date) => time.toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin' })
    expect(first.map((time) => `${dayOf(time)} ${hourOf(time)}`)).toEqual(Array(5).fill('Mon 09:30:00'))
    expect(new Set(first.map(Number)).size).toBe(5)
    expect(first[0]?.getTime()).toBeGreaterThan(app.ctx.now().getTime() - 60_000)
    const minutes = (await times('*/15 8-9 * * *')).map((time) => time.getUTCMinutes() % 15)
    expect(minutes).toEqual([0, 0, 0, 0, 0])
    const refused = await ask('*/5 * * * *')
    expect([refused.status, refused.body]).toEqual([
      422,
      { message: 'Validation failed: cronline must not run more often than every 10 minutes' },
    ])
    expect((await app.request('GET', `${path}/preview`, { token: admin.token })).status).toBe(400)
  })
})

describe('PUT /v2/organizations/{org.slug}/pipelines/{slug}/schedules/{id}', () => {
  it('changes what is given and keeps the rest, by PATCH too', async () => {
    const { post, ask } = await aPlace()
    const made = (await post({ label: 'Old', branch: 'main', env: { A: 'x' } })).body
    const changed = await ask('PUT', made.id, { label: 'New', branch: '', commit: 'abc' })
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...made, label: 'New', branch: 'trunk', commit: 'abc' },
    ])
    expect((await ask('PATCH', made.id, { env: {}, message: null })).body).toMatchObject({
      env: {},
      label: 'New',
    })
    expect((await ask('PATCH', made.id, { cronline: '* * * * *' })).status).toBe(422)
  })

  it('belongs to the last person who edits it, and the audit event says so (abuse case R4)', async () => {
    const { org, admin, post, ask, path } = await aPlace()
    const { id } = (await post({ label: 'Nightly', enabled: false })).body
    const editor = await aMember(app, org)
    const edited = await app.request('PATCH', `${path}/${id}`, {
      token: editor.token,
      body: { enabled: true },
    })
    expect([edited.status, edited.body.created_by.id]).toEqual([200, editor.id])
    expect((await ask('PATCH', id, { label: 'Mine' })).body.created_by.id).toBe(admin.id)
    const events = await auditTrail(app, org, 'PIPELINE_SCHEDULE_UPDATED')
    expect(events.map(({ data }) => data)).toEqual([
      { enabled: true, owner_id: editor.id, previous: { enabled: false, owner_id: admin.id } },
      { label: 'Mine', owner_id: admin.id, previous: { label: 'Nightly', owner_id: editor.id } },
    ])
  })

  it('counts the next time anew for a new cron line and when enabled again', async () => {
    const { post, ask } = await aPlace()
    const { id } = (await post()).body
    expect((await ask('PUT', id, { cronline: '@yearly' })).body.next_build_at).toMatch(
      /-01-01T00:00:00.000Z$/,
    )
    expect((await ask('PUT', id, { enabled: false })).body.next_build_at).toBeNull()
    const before = tomorrow()
    const { body } = await ask('PUT', id, { enabled: true, cronline: '@daily' })
    expect([before, tomorrow()]).toContain(body.next_build_at)
  })

  it('clears the failure when enabled again, and only then', async () => {
    const { post, ask } = await aPlace()
    const { id } = (await post()).body
    const failure = { failed_message: 'No.', failed_at: '2026-01-01T00:00:00.000Z' }
    await app.db.updateTable('pipeline_schedules').set(failure).where('id', '=', String(id)).execute()
    expect((await ask('PUT', id, { enabled: true })).body).toMatchObject(failure)
    expect((await ask('PUT', id, { enabled: false })).body).toMatchObject(failure)
    expect((await ask('PUT', id, { enabled: true })).body).toMatchObject({
      failed_message: null,
      failed_at: null,
    })
  })

  it('is audited without variables', async () => {
    const { org, post, ask } = await aPlace()
    const { id } = (await post({ label: 'L', env: { SECRET: 'hush' } })).body
    await ask('PUT', id, { enabled: false, env: { SECRET: 'hush!' } })
    expect(sortedStatuses(await Promise.all([ask('DELETE', id), ask('DELETE', id)]))).toEqual([204, 404])
    const events = [
      ...(await auditTrail(app, org, 'PIPELINE_SCHEDULE_CREATED')),
      ...(await auditTrail(app, org, 'PIPELINE_SCHEDULE_UPDATED')),
      ...(await auditTrail(app, org, 'PIPELINE_SCHEDULE_DELETED')),
    ]
    expect(events).toMatchObject([
      { subject: { type: 'PipelineSchedule', uuid: id, name: 'L' }, data: { cronline: '@daily' } },
      { data: { enabled: false } },
      { data: {} },
    ])
    expect(JSON.stringify(events)).not.toContain('hush')
  })
})
