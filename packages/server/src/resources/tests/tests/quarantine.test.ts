import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useOwnApp, type TestAnswer } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  auditTrail,
  type TestUser,
} from '../../../../test/builders.ts'
import { aBuild, jobsOf } from '../../../../test/runs.ts'
import { handlers } from '../../../worker.ts'

const app = useOwnApp()

async function aSuite() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const made = await app.request('POST', `${org.path}/suites`, {
    token: admin.token,
    body: { name: 'Known', default_branch: 'main' },
  })
  const path = `/v2/analytics/organizations/${org.slug}/suites/known`
  return { org, admin, path, id: String(made.body.id), token: String(made.body.api_token) }
}

type Suite = Awaited<ReturnType<typeof aSuite>>

let count = 0

/** Each letter is a test: `P` passed, `F` failed. */
async function upload({ token }: Suite, results: Record<string, string>, env: object = {}) {
  count += 1
  const data = Object.entries(results).flatMap(([name, ended]) =>
    Array.from(ended, (one) => ({
      scope: '',
      name,
      result: one === 'P' ? 'passed' : 'failed',
      history: { start_at: 0, duration: 1 },
    })),
  )
  const answer = await app.request('POST', '/v1/uploads', {
    headers: { authorization: `Token token="${token}"` },
    body: {
      format: 'json',
      run_env: { key: `run ${count}`, branch: 'main', commit_sha: `commit ${count}`, ...env },
      data,
    },
  })
  expect(answer.status).toBe(202)
}

const steady = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`steady ${index}`, 'P']))

const label = () => handlers.label_tests(app.ctx, {})

const ask = (
  method: string,
  path: string,
  { token }: Pick<TestUser, 'token'>,
  body?: object,
): Promise<TestAnswer> => app.request(method, path, { token, ...(body === undefined ? {} : { body }) })

const names = async ({ path, admin }: Suite, query: string) =>
  (await ask('GET', `${path}/tests?per_page=100&${query}`, admin)).list.map(({ name }) => String(name))

const idOf = async ({ path, admin }: Suite, name: string) =>
  String((await ask('POST', `${path}/tests/find`, admin, { name })).body.id)

describe('the label flaky', () => {
  it('is set on tests that failed and passed on one commit, and on no other', async () => {
    const suite = await aSuite()
    await upload(suite, { ...steady, wobbles: 'FP', broken: 'F' }, { commit_sha: 'one' })
    await upload(suite, { ...steady, wobbles: 'P', repaired: 'F', broken: 'F' }, { commit_sha: 'two' })
    await upload(suite, { ...steady, repaired: 'P', broken: 'F' }, { commit_sha: 'three' })
    await label()
    expect(await names(suite, 'label=flaky')).toEqual(['wobbles'])
    expect(await names(suite, 'labels=!flaky')).not.toContain('wobbles')
    const { list } = await ask('GET', `${suite.path}/flaky-tests`, suite.admin)
    expect(list).toMatchObject([{ name: 'wobbles', instances: 1, ownership_team_ids: [] }])
    await label()
    expect(await names(suite, 'label=flaky')).toEqual(['wobbles'])
  })

  it('is set on tests that change often on the default branch', async () => {
    const suite = await aSuite()
    for (const wobbles of 'PFPFP') await upload(suite, { ...steady, wobbles })
    await label()
    expect(await names(suite, 'label=flaky')).toEqual(['wobbles'])
  })

  it('is set after the run in which the test passed later', async () => {
    const suite = await aSuite()
    await upload(suite, { ...steady, wobbles: 'P' })
    await upload(suite, { ...steady, wobbles: 'F' }, { commit_sha: 'same', branch: 'topic' })
    await label()
    expect(await names(suite, 'label=flaky')).toEqual([])
    await upload(suite, { ...steady, wobbles: 'P' }, { commit_sha: 'same', branch: 'topic' })
    await label()
    expect(await names(suite, 'label=flaky')).toEqual(['wobbles'])
  })

  it('is not set by a run in which most tests failed, nor by a build of a fork', async () => {
    const suite = await aSuite()
    const all = { ...Object.fromEntries(Object.keys(steady).map((name) => [name, 'F'])), one: 'F' }
    await upload(suite, all, { commit_sha: 'down' })
    await upload(suite, { ...steady, one: 'P', two: 'P' }, { commit_sha: 'down' })
    const build = await aBuild(app, suite.org, await aPipeline(app, suite.org, 'steps: [{ command: one }]'))
    await app.db.updateTable('builds').set({ from_fork: true }).where('id', '=', build.id).execute()
    await upload(suite, { ...steady, two: 'F' }, { commit_sha: 'down', key: build.id })
    await label()
    expect(await names(suite, 'label=flaky')).toEqual([])
  })

  it('comes off without new evidence, and when a person removes it', async () => {
    const suite = await aSuite()
    await upload(suite, { ...steady, old: 'FP', seen: 'FP' }, { commit_sha: 'one' })
    await label()
    expect((await names(suite, 'label=flaky')).toSorted()).toEqual(['old', 'seen'])
    const seen = await idOf(suite, 'seen')
    const removed = await ask('PATCH', `${suite.path}/tests/${seen}/labels`, suite.admin, {
      operator: 'remove',
      labels: ['flaky'],
    })
    expect([removed.status, removed.body.labels]).toEqual([200, []])
    await sql`update test_results set created_at = created_at - interval '8 days' where test_id = ${await idOf(suite, 'old')}`.execute(
      app.db,
    )
    await upload(suite, steady)
    await label()
    expect(await names(suite, 'label=flaky')).toEqual([])
  })

  it('mutes the test where the suite has that rule, once', async () => {
    const suite = await aSuite()
    await sql`update test_suites set quarantine_rule = 'muted' where id = ${suite.id}`.execute(app.db)
    await upload(suite, { ...steady, wobbles: 'FP', broken: 'F' })
    await upload(suite, { ...steady, broken: 'F' })
    await label()
    const muted = await ask('GET', `${suite.path}/tests/muted`, suite.admin)
    expect(muted.list).toMatchObject([
      {
        name: 'wobbles',
        labels: ['flaky'],
        quarantine: {
          by: null,
          owner: null,
          reason: 'The test has become flaky.',
          expires_at: expect.any(String),
        },
      },
    ])
    expect(await auditTrail(app, suite.org, 'TEST_MUTED')).toMatchObject([{ actor: null }])
    await ask('PUT', `${suite.path}/tests/${await idOf(suite, 'wobbles')}/enable`, suite.admin)
    await upload(suite, { ...steady, wobbles: 'FP' })
    await label()
    expect((await ask('GET', `${suite.path}/tests/muted`, suite.admin)).list).toEqual([])
  })
})

describe('PUT /v2/analytics/organizations/:org/suites/:suite/tests/:test/mute', () => {
  it('mutes, skips and enables, as clients ask, and lists which are', async () => {
    const suite = await aSuite()
    await upload(suite, { one: 'F', two: 'P' })
    const one = `${suite.path}/tests/${await idOf(suite, 'one')}`
    const muted = await ask('PUT', `${one}/mute`, suite.admin)
    expect([muted.status, muted.body]).toMatchObject([
      200,
      {
        name: 'one',
        state: 'muted',
        web_url: expect.stringMatching(
          /\/organizations\/[\w-]+\/analytics\/suites\/known\/tests\/[\w-]{36}$/,
        ),
        quarantine: {
          by: { id: suite.admin.id },
          owner: { id: suite.admin.id },
          reason: null,
          expires_at: expect.any(String),
        },
      },
    ])
    const days =
      (new Date(String(muted.body.quarantine.expires_at)).getTime() - Date.now()) / (24 * 60 * 60 * 1000)
    expect(Math.round(days)).toBe(14)
    const lists = async () =>
      Promise.all(
        ['muted', 'skipped'].map(async (state) =>
          (await ask('GET', `${suite.path}/tests/${state}`, suite.admin)).list.map(({ name }) => name),
        ),
      )
    expect(await lists()).toEqual([['one'], []])
    expect(await names(suite, 'state=muted')).toEqual(['one'])
    const body = { reason: 'Port is taken.', expires_at: null }
    expect((await ask('PUT', `${one}/skip`, suite.admin, body)).body.quarantine).toMatchObject(body)
    expect(await lists()).toEqual([[], ['one']])
    const enabled = await ask('PUT', `${one}/enable`, suite.admin)
    expect(enabled.body).toMatchObject({ state: 'enabled', quarantine: null })
    expect(await lists()).toEqual([[], []])
    expect(await auditTrail(app, suite.org, 'TEST_SKIPPED')).toMatchObject([
      { subject: { name: 'one' }, data: { reason: 'Port is taken.', previous: { state: 'muted' } } },
    ])
    expect(await auditTrail(app, suite.org, 'TEST_ENABLED')).toHaveLength(1)
  })

  it('ends by itself', async () => {
    const suite = await aSuite()
    await upload(suite, { one: 'F' })
    const one = `${suite.path}/tests/${await idOf(suite, 'one')}`
    await ask('PUT', `${one}/mute`, suite.admin)
    await handlers.end_quarantines(app.ctx, {})
    expect((await ask('GET', one, suite.admin)).body.state).toBe('muted')
    await sql`update tests set quarantine_expires_at = now() where suite_id = ${suite.id}`.execute(app.db)
    await handlers.end_quarantines(app.ctx, {})
    expect((await ask('GET', one, suite.admin)).body).toMatchObject({ state: 'enabled', quarantine: null })
    expect(await auditTrail(app, suite.org, 'TEST_ENABLED')).toMatchObject([{ actor: null }])
  })

  it('is for those who manage the suite or its pipeline, with an end that they may choose', async () => {
    const suite = await aSuite()
    await upload(suite, { one: 'F' })
    const member = await aMember(app, suite.org)
    const mute = `${suite.path}/tests/${await idOf(suite, 'one')}/mute`
    expect((await ask('PUT', mute, member)).status).toBe(403)
    const pipeline = await aPipeline(app, suite.org, 'steps: [{ command: one }]')
    await sql`update test_suites set pipeline_id = ${pipeline.id} where id = ${suite.id}`.execute(app.db)
    const inDays = (days: number) => new Date(Date.now() + days * 24 * 60 * 60 * 1000).toISOString()
    for (const [user, body, status] of [
      [member, {}, 200],
      [member, { expires_at: inDays(89) }, 200],
      [member, { expires_at: inDays(91) }, 422],
      [member, { expires_at: null }, 422],
      [suite.admin, { expires_at: inDays(91) }, 200],
      [suite.admin, { expires_at: inDays(-1) }, 422],
      [suite.admin, { owner_id: member.id }, 200],
      [suite.admin, { owner_id: (await anAdmin(app, await anOrganization(app))).id }, 422],
      [suite.admin, { reason: 'x'.repeat(1001) }, 422],
    ] as const) {
      expect([body, (await ask('PUT', mute, user, body)).status]).toEqual([body, status])
    }
    const nowhere = `${suite.path}/tests/${suite.id}/mute`
    expect((await ask('PUT', nowhere, suite.admin)).status).toBe(404)
    const stranger = await anAdmin(app, await anOrganization(app))
    expect((await ask('PUT', mute, stranger)).status).toBe(404)
  })

  it('shows nothing of a suite to those who may not read its pipeline', async () => {
    const suite = await aSuite()
    await upload(suite, { one: 'F' })
    const one = await idOf(suite, 'one')
    const pipeline = await aPipeline(app, suite.org, 'steps: [{ command: one }]')
    await sql`update test_suites set pipeline_id = ${pipeline.id} where id = ${suite.id}`.execute(app.db)
    await ask('POST', `${suite.org.path}/teams/enable`, suite.admin)
    const outside = await aMember(app, suite.org)
    for (const [method, path] of [
      ['GET', '/tests'],
      ['GET', '/tests/muted'],
      ['GET', '/flaky-tests'],
      ['GET', `/tests/${one}`],
      ['PUT', `/tests/${one}/mute`],
      ['PUT', `/tests/${one}/enable`],
      ['PUT', `/tests/${one}/skip`],
      ['GET', '/tests/skipped'],
      ['GET', '/runs'],
      ['GET', ''],
    ] as const) {
      expect([path, (await ask(method, suite.path + path, outside)).status]).toEqual([path, 404])
    }
    const labels = { operator: 'add', labels: ['mine'] }
    expect((await ask('PATCH', `${suite.path}/tests/${one}/labels`, outside, labels)).status).toBe(404)
    const [there, name] = [`${suite.org.path}/suites/known`, { name: 'one' }]
    expect((await ask('GET', `${there}/tests/${one}/executions`, outside)).status).toBe(404)
    expect((await ask('POST', `${suite.path}/tests/find`, outside, name)).status).toBe(404)
    expect((await ask('PATCH', there, outside, { name: 'Mine' })).status).toBe(404)
  })
})

describe('PATCH /v2/analytics/organizations/:org/suites/:suite/tests/:test/labels', () => {
  it('adds and removes labels', async () => {
    const suite = await aSuite()
    await upload(suite, { one: 'F', two: 'P' })
    const path = `${suite.path}/tests/${await idOf(suite, 'one')}/labels`
    const change = async (operator: string, labels: string[]) =>
      ask('PATCH', path, suite.admin, { operator, labels })
    expect((await change('add', ['slow', 'flaky', 'slow'])).body.labels).toEqual(['flaky', 'slow'])
    expect((await change('remove', ['slow', 'unknown'])).body.labels).toEqual(['flaky'])
    await upload(suite, steady)
    await label()
    expect(await names(suite, 'label=flaky')).toEqual(['one'])
    expect(
      (
        await change(
          'add',
          Array.from({ length: 20 }, (_, index) => `l${index}`),
        )
      ).status,
    ).toBe(422)
    expect((await change('add', ['a,b'])).status).toBe(422)
    expect((await change('rename', ['a'])).status).toBe(422)
    expect((await names(suite, 'labels=flaky,!slow')).length).toBe(1)
    expect((await ask('GET', `${suite.path}/tests?label=a&labels=b`, suite.admin)).status).toBe(400)
    expect(await auditTrail(app, suite.org, 'TEST_LABELS_UPDATED')).toHaveLength(2)
  })
})

describe('GET /v2/analytics/organizations/:org/suites/:suite/tests', () => {
  it('is searched, filtered by results and sorted', async () => {
    const suite = await aSuite()
    await upload(suite, { always: 'FF', at_times: 'FPP', 'never_%': 'P' })
    const list = async (query: string) => names(suite, query)
    expect(await list('tags=result:~failed&sort_by=reliability&order=asc')).toEqual(['always', 'at_times'])
    expect(await list('tags=result:%5Efailed')).toEqual(['always'])
    expect(await list('tags=result:%5Epassed')).toEqual(['never_%'])
    expect(await list('search=_%25')).toEqual(['never_%'])
    expect((await list('sort_by=last_failed')).slice(0, 2).toSorted()).toEqual(['always', 'at_times'])
    expect(await list('sort_by=duration_sum')).toEqual(['at_times', 'always', 'never_%'])
    const [test] = (await ask('GET', `${suite.path}/tests?search=always`, suite.admin)).list
    expect(test).toMatchObject({ duration_p50: 1, duration_p95: 1, last_failed_on: expect.any(String) })
    expect(await list('tags=os:linux')).toEqual([])
    expect((await ask('GET', `${suite.path}/tests?tags=os`, suite.admin)).status).toBe(400)
    expect((await ask('GET', `${suite.path}/tests?sort_by=odd`, suite.admin)).status).toBe(400)
  })
})

describe('GET /v2/organizations/:org/suites/:suite/tests/:test/executions', () => {
  it('lists what the caller may see, newest first, with the build', async () => {
    const suite = await aSuite()
    const pipeline = await aPipeline(app, suite.org, 'steps: [{ command: one }]')
    const build = await aBuild(app, suite.org, pipeline)
    await upload(suite, { one: 'P' })
    const [job] = await jobsOf(app, build)
    await upload(suite, { one: 'F' }, { key: build.id, job_id: job?.id })
    const path = `${suite.org.path}/suites/known/tests/${await idOf(suite, 'one')}/executions`
    const { list } = await ask('GET', path, suite.admin)
    expect(list).toMatchObject([
      {
        result: 'failed',
        duration: 1,
        job_id: job?.id,
        build: { number: build.number, pipeline_slug: pipeline.slug },
      },
      { result: 'passed', branch: 'main', job_id: null, build: null },
    ])
    await ask('POST', `${suite.org.path}/teams/enable`, suite.admin)
    const outside = await ask('GET', path, await aMember(app, suite.org))
    expect(outside.list).toMatchObject([{ result: 'passed' }])
    const stranger = await anAdmin(app, await anOrganization(app))
    expect((await ask('GET', path, stranger)).status).toBe(404)
  })

  it('says who may quarantine', async () => {
    const suite = await aSuite()
    const may = async (user: TestUser) =>
      (await ask('GET', `${suite.path}?include_viewer=true`, user)).body.viewer
    expect(await may(suite.admin)).toEqual({ may: { manage: true, quarantine: true } })
    expect(await may(await aMember(app, suite.org))).toEqual({ may: { manage: false, quarantine: false } })
  })
})
