import { describe, expect, it } from 'vitest'
import { eventually, type Json } from '../../../../test/app.ts'
import {
  aMember,
  aPipeline,
  withFeature,
  withoutFeature,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { aBuild, runJob } from '../../../../test/runs.ts'
import { useNotifications } from '../../../../test/notifications.ts'
import { expireDeliveries } from '../../../notifications/delivery/expire.ts'

const notifications = useNotifications()
const { app, anOrg } = notifications

async function aLog(org: TestOrganization, admin: TestUser, events: string[]) {
  await withFeature(app, org, 'event_log_api')
  const body = { provider: 'event_log_api', settings: { events } }
  const answer = await app.request('POST', `${org.path}/services`, { token: admin.token, body })
  expect([answer.status, answer.text]).toEqual([201, answer.text])
  return { id: String(answer.body.id), path: `${org.path}/services/${answer.body.id}/events` }
}

/** The path of a link. */
const pathOf = (link: Json | undefined) => String(link).replace(/^https?:\/\/[^/]+/, '')

describe('GET /v2/organizations/{org.slug}/services/{uuid}/events', () => {
  it('returns the chosen events in order, page by page, and continues at the last cursor', async () => {
    const { org, admin } = await anOrg()
    const log = await aLog(org, admin, ['build.scheduled', 'job.finished', 'build.finished'])
    const read = (path: string) => app.request('GET', path, { token: admin.token })
    const empty = await read(log.path)
    expect([empty.status, empty.list]).toEqual([200, []])
    const pipeline = await aPipeline(app, org, 'steps: [{command: turn}]')
    const first = await aBuild(app, org, pipeline, { creatorId: admin.id, env: { SECRET: 'x' } })
    await runJob(app, first, 'turn')
    await eventually('three events', async () => (await read(log.path)).list.length === 3)

    const page = await read(`${log.path}?per_page=2`)
    expect(page.list.map(({ event }) => event)).toEqual(['build.scheduled', 'job.finished'])
    const rest = await read(pathOf(page.body.links?.next))
    expect(rest.list.map(({ event }) => event)).toEqual(['build.finished'])
    expect(rest.list[0]).toMatchObject({
      id: expect.any(String),
      occurred_at: expect.any(String),
      build: { id: first.id, state: 'passed' },
      pipeline: { id: pipeline.id },
      sender: { id: admin.id },
    })
    expect(rest.text).not.toContain('SECRET')
    const back = await read(pathOf(rest.body.links?.prev))
    expect(back.list.map(({ id }) => id)).toEqual(page.list.map(({ id }) => id))

    const nothing = await read(pathOf(rest.body.links?.next))
    expect(nothing.list).toEqual([])
    const second = await aBuild(app, org, pipeline)
    await runJob(app, second, 'turn')
    const more = await eventually('three more', async () => {
      const answer = await read(pathOf(nothing.body.links?.next).replace('per_page=2', 'per_page=9'))
      return answer.list.length === 3 && answer
    })
    expect(more.list.map(({ event }) => event)).toEqual(['build.scheduled', 'job.finished', 'build.finished'])
    const whole = await read(log.path)
    expect(new Set(whole.list.map(({ id }) => id)).size).toBe(6)
    await expireDeliveries({ ...app.ctx, now: () => new Date(Date.now() + 8 * 24 * 60 * 60 * 1000) })
    expect((await read(log.path)).list).toEqual([])
  })

  it('does not contain events from while the service was disabled', async () => {
    const { org, admin } = await anOrg()
    const log = await aLog(org, admin, ['build.finished'])
    const other = await aLog(org, admin, ['build.finished'])
    const service = log.path.replace(/\/events$/, '')
    await app.request('PUT', `${service}/disable`, { token: admin.token })
    const pipeline = await aPipeline(app, org, 'steps: [{command: turn}]')
    await runJob(app, await aBuild(app, org, pipeline), 'turn')
    const read = (path: string) => app.request('GET', path, { token: admin.token })
    await eventually('the other log', async () => (await read(other.path)).list.length === 1)
    expect((await read(log.path)).list).toEqual([])
  })

  it('is not for members, nor for services of other providers, nor without the feature', async () => {
    const { org, admin } = await anOrg()
    const log = await aLog(org, admin, ['build.finished'])
    const member = await aMember(app, org)
    expect((await app.request('GET', log.path, { token: member.token })).status).toBe(403)
    const webhook = await notifications.aService(org, admin)
    const answer = await app.request('GET', `${webhook.path}/events`, { token: admin.token })
    expect([answer.status, answer.body.message]).toEqual([
      404,
      'A service of the provider webhook keeps no event log; make an event_log_api one',
    ])
    const both = await app.request('GET', `${log.path}?after=a&before=b`, { token: admin.token })
    expect(both.status).toBe(400)
    await withoutFeature(app, org, 'event_log_api')
    expect((await app.request('GET', log.path, { token: admin.token })).status).toBe(404)
  })
})
