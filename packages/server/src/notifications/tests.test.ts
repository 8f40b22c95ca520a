import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../test/app.ts'
import { aPipeline, type TestOrganization, type TestUser } from '../../test/builders.ts'
import { useNotifications, type TestService } from '../../test/notifications.ts'
import { handlers } from '../worker.ts'

const { app, anOrg, aService } = useNotifications()

const events = ['test.flaky', 'test.muted', 'test.skipped', 'test.enabled', 'test.quarantine_expired']

const eventsOf = (service: TestService, count: number) =>
  eventually(`${count} events`, async () => service.events().length >= count && service.events())

async function aSuite(org: TestOrganization, admin: TestUser, name = 'Known') {
  const ask = (method: string, path: string, body?: object) =>
    app.request(method, path, { token: admin.token, ...(body === undefined ? {} : { body }) })
  const made = await ask('POST', `${org.path}/suites`, { name, default_branch: 'main' })
  const path = `${org.path}/suites/${String(made.body.slug)}`
  return {
    id: String(made.body.id),
    path,
    /** Each letter is a result: `P` passed, `F` failed. */
    async upload(test: string, results: string) {
      const data = Array.from(results, (letter) => ({
        scope: 'Basket',
        name: test,
        location: 'basket.spec:4',
        result: letter === 'P' ? 'passed' : 'failed',
        history: { start_at: 0, duration: 1 },
      }))
      const answer = await app.request('POST', '/v1/uploads', {
        headers: { authorization: `Token token="${String(made.body.api_token)}"` },
        body: { format: 'json', run_env: { key: test, branch: 'main', commit_sha: 'a' }, data },
      })
      expect(answer.status).toBe(202)
      const { list } = await ask('GET', `${path}/tests?search=${test}`)
      return String(list[0]?.id)
    },
    quarantine: async (id: string, verb: string, body: object = {}) =>
      expect((await ask('PUT', `${path}/tests/${id}/${verb}`, body)).status).toBe(200),
    label: async (id: string, labels: string[]) =>
      expect((await ask('PATCH', `${path}/tests/${id}/labels`, { operator: 'add', labels })).status).toBe(
        200,
      ),
  }
}

describe('a webhook that listens to tests', () => {
  it('gets an event for each change of a state, once, in order, with who made it', async () => {
    const { org, admin } = await anOrg()
    const service = await aService(org, admin, { settings: { events } })
    const suite = await aSuite(org, admin)
    const id = await suite.upload('adds', 'F')
    await suite.quarantine(id, 'mute', { reason: 'Port is taken.' })
    await suite.quarantine(id, 'mute', { reason: 'It still is.' })
    await suite.quarantine(id, 'skip')
    await suite.quarantine(id, 'enable')
    await suite.quarantine(id, 'enable')
    await suite.quarantine(id, 'mute')
    const bodies = await eventsOf(service, 4)
    expect(bodies.map(({ event, test }) => [event, test.state])).toEqual([
      ['test.muted', 'muted'],
      ['test.skipped', 'skipped'],
      ['test.enabled', 'enabled'],
      ['test.muted', 'muted'],
    ])
    expect(bodies[3]).toMatchObject({
      sender: { id: admin.id },
      test: {
        id,
        scope: 'Basket',
        name: 'adds',
        location: 'basket.spec:4',
        url: expect.stringContaining(`${suite.path}/tests/${id}`),
        web_url: expect.stringContaining(`/analytics/suites/known/tests/${id}`),
        quarantine: { by: { id: admin.id }, owner: { id: admin.id }, expires_at: expect.any(String) },
      },
      suite: { id: suite.id, slug: 'known', name: 'Known' },
    })
  })

  it('gets an event when a quarantine has expired', async () => {
    const { org, admin } = await anOrg()
    const service = await aService(org, admin, { settings: { events: ['test.quarantine_expired'] } })
    const suite = await aSuite(org, admin)
    const id = await suite.upload('adds', 'F')
    await suite.quarantine(id, 'mute')
    await sql`update tests set quarantine_expires_at = now() where suite_id = ${suite.id}`.execute(app.db)
    await handlers.end_quarantines(app.ctx, {})
    await handlers.end_quarantines(app.ctx, {})
    await eventsOf(service, 1)
    const other = await suite.upload('removes', 'F')
    await suite.quarantine(other, 'mute')
    await sql`update tests set quarantine_expires_at = now() where suite_id = ${suite.id} and id = ${other}`.execute(
      app.db,
    )
    await handlers.end_quarantines(app.ctx, {})
    const bodies = await eventsOf(service, 2)
    expect(bodies.map(({ test }) => [test.id, test.state, test.quarantine])).toEqual([
      [id, 'enabled', null],
      [other, 'enabled', null],
    ])
    // The server did it, so the creator of the service is named.
    expect(bodies[0]?.sender).toMatchObject({ id: admin.id })
  })

  it('gets an event when a test has become flaky, by its results or by a person, and when a rule mutes it', async () => {
    const { org, admin } = await anOrg()
    const service = await aService(org, admin, { settings: { events } })
    const suite = await aSuite(org, admin)
    await sql`update test_suites set quarantine_rule = 'muted' where id = ${suite.id}`.execute(app.db)
    const detected = await suite.upload('wobbles', 'FP')
    await handlers.label_tests(app.ctx, {})
    await handlers.label_tests(app.ctx, {})
    const named = await suite.upload('steady', 'P')
    await suite.label(named, ['flaky', 'slow'])
    await suite.label(named, ['flaky'])
    await suite.quarantine(named, 'mute')
    const bodies = await eventsOf(service, 4)
    const seen = bodies.map(({ event, test }) => `${String(event)} ${String(test.id)}`).toSorted()
    expect(seen).toEqual(
      [
        `test.flaky ${detected}`,
        `test.muted ${detected}`,
        `test.flaky ${named}`,
        `test.muted ${named}`,
      ].toSorted(),
    )
    expect(bodies.find(({ test }) => String(test.id) === named)?.test.labels).toEqual(['flaky', 'slow'])
  })

  it('gets only events of suites in its scope', async () => {
    const { org, admin } = await anOrg()
    const pipeline = await aPipeline(app, org, 'steps: [{ command: one }]')
    const [ours, other] = [await aSuite(org, admin), await aSuite(org, admin, 'Other')]
    await sql`update test_suites set pipeline_id = ${pipeline.id} where id = ${ours.id}`.execute(app.db)
    const scoped = await aService(org, admin, {
      settings: { events },
      scope: 'some_projects',
      scope_uuids: [pipeline.id],
      branch_configuration: 'main',
    })
    await other.quarantine(await other.upload('theirs', 'F'), 'mute')
    const id = await ours.upload('ours', 'F')
    await ours.quarantine(id, 'mute')
    await ours.quarantine(id, 'enable')
    const bodies = await eventsOf(scoped, 2)
    expect(bodies.map(({ test }) => String(test.name))).toEqual(['ours', 'ours'])
  })
})
