import { beforeAll, describe, expect, it } from 'vitest'
import { useApp, type TestAnswer } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, aPipeline, type TestUser } from '../../../../test/builders.ts'
import { aBuild } from '../../../../test/runs.ts'
import { aWorld, type World } from '../../../../test/world.ts'
import { newId } from '../../../lib/ids.ts'

const app = useApp()

const result = (name: string, ended: string, duration: number, more: object = {}) => ({
  scope: 'Basket',
  name,
  location: `basket.spec:${name.length}`,
  file_name: 'basket.spec',
  result: ended,
  history: { start_at: 0, duration },
  ...more,
})

let world: World
let analytics: string
let suitePath: string

/** Two runs of one suite; the second belongs to the build of the test world. */
beforeAll(async () => {
  world = await aWorld(app)
  analytics = `/v2/analytics/organizations/${world.org.slug}`
  suitePath = `${analytics}/suites/unit`
  const suite = await app.request('POST', `${analytics}/suites`, {
    token: world.admin.token,
    body: { name: 'Unit', default_branch: 'main', show_api_token: true, team_ids: [] },
  })
  const send = (key: string, data: object[]) =>
    app.request('POST', '/v1/uploads', {
      headers: { authorization: `Token token="${String(suite.body.api_token)}"` },
      body: { format: 'json', run_env: { key, branch: 'main', commit_sha: 'a'.repeat(40) }, data },
    })
  await send('first', [result('adds', 'passed', 1), result('empties', 'skipped', 0)])
  await send(world.ids['build_uuid'] ?? '', [
    result('adds', 'failed', 3, {
      failure_reason: 'expected 1, got 2',
      failure_expanded: [{ expanded: ['expected 1'], backtrace: ['basket.spec:4'] }],
    }),
    result('removes', 'passed', 0.5),
  ])
})

const get = (path: string, user: TestUser = world.admin): Promise<TestAnswer> =>
  app.request('GET', path, { token: user.token })

describe('/v2/analytics/organizations/:org/suites', () => {
  it('answers as /v2/organizations/:org/suites does', async () => {
    for (const path of ['/suites', '/suites/unit', '/suites/unit/tests']) {
      const [here, there] = [await get(analytics + path), await get(world.org.path + path)]
      expect([here.status, here.body]).toEqual([200, there.body])
    }
    const runs = await get(`${suitePath}/runs`)
    expect(runs.body).toEqual((await get(`${world.org.path}/suites/unit/test_runs`)).body)
    expect(runs.list).toHaveLength(2)
    const run = await get(`${suitePath}/runs/${String(runs.list[0]?.id)}`)
    expect(run.body).toMatchObject({ id: runs.list[0]?.id, build_id: world.ids['build_uuid'] })
  })

  it('creates and deletes', async () => {
    const body = { name: 'Short lived' }
    const made = await app.request('POST', `${analytics}/suites`, { token: world.admin.token, body })
    expect(made.status).toBe(201)
    const path = `${analytics}/suites/short-lived`
    expect((await app.request('DELETE', path, { token: world.admin.token })).status).toBe(204)
    expect((await get(path)).status).toBe(404)
  })
})

describe('GET /v2/analytics/organizations/:org/suites/:suite/runs/:run/failed_executions', () => {
  it('lists the failures of the run, with their full text on request', async () => {
    const runs = await get(`${suitePath}/runs`)
    const path = `${suitePath}/runs/${String(runs.list[0]?.id)}/failed_executions`
    const plain = await get(path)
    expect(plain.list).toEqual([
      {
        execution_id: expect.any(String),
        run_id: runs.list[0]?.id,
        run_name: world.ids['build_uuid'],
        run_url: runs.list[0]?.url,
        test_id: expect.any(String),
        test_name: 'Basket adds',
        test_url: expect.stringMatching(/\/suites\/unit\/tests\/[\w-]{36}$/),
        test_execution_url: expect.stringMatching(/\/tests\/[\w-]{36}\?execution_id=[\w-]{36}$/),
        tags: {},
        branch: 'main',
        commit_sha: 'a'.repeat(40),
        created_at: expect.any(String),
        duration: 3,
        location: 'basket.spec:4',
        failure_reason: 'expected 1, got 2',
      },
    ])
    const [expanded] = (await get(`${path}?include_failure_expanded=true`)).list
    expect(expanded?.failure_expanded).toEqual([{ expanded: ['expected 1'], backtrace: ['basket.spec:4'] }])
    expect((await get(`${suitePath}/runs/${String(runs.list[1]?.id)}/failed_executions`)).list).toEqual([])
  })
})

describe('?branch', () => {
  it('filters runs and the executions of a test, whose figures stay those of all branches', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const made = await app.request('POST', `${org.path}/suites`, {
      token: admin.token,
      body: { name: 'unit', default_branch: 'main' },
    })
    for (const [key, branch] of ['main', 'next', 'main'].entries()) {
      await app.request('POST', '/v1/uploads', {
        headers: { authorization: `Token token="${String(made.body.api_token)}"` },
        body: { format: 'json', run_env: { key: `${key}`, branch }, data: [result('adds', 'passed', 1)] },
      })
    }
    const path = `${org.path}/suites/unit`
    const branches = async (of: string) =>
      (await get(`${path}/${of}`, admin)).list.map(({ branch }) => branch)
    const [test] = (await get(`${path}/tests`, admin)).list
    expect(test).toMatchObject({ executions_count: 3 })
    for (const of of ['test_runs', `tests/${String(test?.id)}/executions`]) {
      expect(await branches(of)).toEqual(['main', 'next', 'main'])
      expect(await branches(`${of}?branch=main`)).toEqual(['main', 'main'])
      expect(await branches(`${of}?branch=next`)).toEqual(['next'])
      expect(await branches(`${of}?branch=nex`)).toEqual([])
    }
  })
})

describe('GET /v2/analytics/organizations/:org/suites/:suite/tests', () => {
  it('lists tests with their figures, slowest first, page by page', async () => {
    const { list } = await get(`${suitePath}/tests`)
    expect(list).toMatchObject([
      {
        scope: 'Basket',
        name: 'adds',
        file_name: 'basket.spec',
        executions_count: 2,
        executions_count_by_result: { passed: 1, failed: 1 },
        reliability: 0.5,
        duration_avg: 2,
        duration_sum: 4,
        duration_min: 1,
        duration_max: 3,
      },
      { name: 'removes', reliability: 1 },
      {
        name: 'empties',
        reliability: null,
        executions_count_by_result: { passed: 0, failed: 0, skipped: 1 },
      },
    ])
    const second = await get(`${suitePath}/tests?per_page=1&page=2`)
    expect(second.list).toMatchObject([{ name: 'removes' }])
    expect(second.headers.get('link')).toContain('rel="next"')
  })

  it('serves each test at its own URL, and finds it by scope and name', async () => {
    const [test] = (await get(`${suitePath}/tests`)).list
    expect((await get(`${suitePath}/tests/${String(test?.id)}`)).body).toEqual(test)
    const find = (body: object) =>
      app.request('POST', `${suitePath}/tests/find`, { token: world.admin.token, body })
    expect((await find({ scope: 'Basket', name: 'adds' })).body).toEqual(test)
    expect((await find({ name: 'adds' })).status).toBe(404)
    expect((await find({})).status).toBe(422)
  })
})

describe('GET /v2/analytics/organizations/:org/builds/:uuid/tests', () => {
  const path = () => `${analytics}/builds/${world.ids['build_uuid']}/tests`

  it('lists the tests of the build, those that failed first', async () => {
    const { list } = await get(path())
    expect(list).toMatchObject([
      { name: 'adds', state: 'enabled', executions_count: 1, reliability: 0 },
      { name: 'removes', reliability: 1 },
    ])
    expect(list[0]).not.toHaveProperty('latest_fail')
  })

  it('filters by result and state, and adds the last failure', async () => {
    const names = async (query: string) => (await get(`${path()}?${query}`)).list.map(({ name }) => name)
    expect(await names('result=failed')).toEqual(['adds'])
    expect(await names('result=%5Epassed')).toEqual(['removes'])
    expect(await names('state=muted')).toEqual([])
    expect(await names('labels=!slow')).toEqual(['adds', 'removes'])
    expect(await names('labels=slow')).toEqual([])
    expect(await names('owners=@acme/web')).toEqual([])
    expect(await names('sort_by=duration_avg&order=asc')).toEqual(['removes', 'adds'])
    expect(await names('sort_by=reliability')).toEqual(['removes', 'adds'])
    expect((await get(`${path()}?sort_by=first_seen`)).status).toBe(400)
    expect((await get(`${path()}?result=odd`)).status).toBe(400)
    const { list } = await get(`${path()}?include=latest_fail`)
    expect(list.map(({ latest_fail }) => latest_fail)).toEqual([
      {
        id: expect.any(String),
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/),
        duration: 3,
        failure_reason: 'expected 1, got 2',
        failure_expanded: [{ expanded: ['expected 1'], backtrace: ['basket.spec:4'] }],
      },
      null,
    ])
  })

  it('answers 404 for a build that the caller may not see', async () => {
    const stranger = await anAdmin(app, await anOrganization(app))
    expect((await get(path(), stranger)).status).toBe(404)
    const member = await aMember(app, world.org)
    await app.db
      .updateTable('organizations')
      .set({ teams_enabled_at: new Date().toISOString() })
      .where('id', '=', world.org.id)
      .execute()
    const hidden = await get(path(), member)
    expect([hidden.status, hidden.body]).toEqual([404, { message: 'No build found' }])
    expect((await get(`${suitePath}/tests`, member)).list.map(({ name }) => name)).toEqual([
      'adds',
      'empties',
    ])
  })
})

describe('the tests of a suite', () => {
  const upload = async (token: string, key: string, data: object[], more: object = {}) => {
    const answer = await app.request('POST', '/v1/uploads', {
      headers: { authorization: `Token token="${token}"` },
      body: { format: 'json', run_env: { key, branch: 'main', ...more }, data },
    })
    expect(answer.status).toBe(202)
  }

  async function aSuite() {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const made = await app.request('POST', `${org.path}/suites`, {
      token: admin.token,
      body: { name: 'Known' },
    })
    return { org, admin, path: `${org.path}/suites/known`, token: String(made.body.api_token) }
  }

  it('keep their id and their first day, and count each result once', async () => {
    const { path, token, admin } = await aSuite()
    const first = { ...result('adds', 'passed', 1), id: newId() }
    await upload(token, 'one', [first, result('adds', 'passed', 3)])
    const [before] = (await get(`${path}/tests`, admin)).list
    await upload(token, 'one', [first])
    await upload(token, 'two', [result('adds', 'failed', 8), result('removes', 'passed', 1e-300)])
    const { list } = await get(`${path}/tests`, admin)
    expect(list).toMatchObject([
      {
        id: before?.id,
        executions_count_by_result: { passed: 2, failed: 1 },
        duration_avg: 4,
        duration_sum: 12,
        duration_min: 1,
        duration_max: 8,
      },
      { name: 'removes', executions_count: 1 },
    ])
  })

  it('are stored by uploads at the same time that name them in another order', async () => {
    const { path, token, admin } = await aSuite()
    const names = Array.from({ length: 300 }, (_, index) => `test ${(index * 7919) % 300}`)
    const long = { failure_reason: 'x'.repeat(4000) }
    const results = (order: readonly string[]) => order.map((name) => result(name, 'failed', 1, long))
    await Promise.all(
      [names, names.toReversed(), names.toSorted()].map((order, index) =>
        upload(token, String(index), results(order)),
      ),
    )
    const { list } = await get(`${path}/tests?per_page=100&page=3`, admin)
    expect(list.map((test) => test.executions_count)).toEqual(Array.from({ length: 100 }, () => 3))
  })

  it('are listed when they ran in the period, and found also when they did not', async () => {
    const { path, token, admin } = await aSuite()
    await upload(token, 'one', [result('adds', 'passed', 1)])
    const [test] = (await get(`${path}/tests?period=1hour`, admin)).list
    await app.db
      .updateTable('test_days')
      .set({ day: '2020-01-02' })
      .where('test_id', '=', String(test?.id))
      .execute()
    expect((await get(`${path}/tests?period=90days`, admin)).list).toEqual([])
    const window = 'min_timestamp=2020-01-02T10:00:00Z&max_timestamp=2020-01-03'
    expect((await get(`${path}/tests?${window}`, admin)).list).toEqual([test])
    expect((await get(`${path}/tests/${String(test?.id)}`, admin)).body).toEqual({
      ...test,
      executions_count: 0,
      executions_count_by_result: { passed: 0, failed: 0 },
      reliability: null,
      duration_avg: null,
      duration_sum: null,
      duration_min: null,
      duration_max: null,
      duration_p50: null,
      duration_p95: null,
    })
    for (const [query, status] of [
      ['period=odd', 400],
      ['period=7days&min_timestamp=2020-01-01', 400],
      ['min_timestamp=2020-01-03&max_timestamp=2020-01-02', 400],
      ['min_timestamp=yesterday', 422],
      ['max_timestamp=0001-01-01', 200],
    ] as const) {
      expect([query, (await get(`${path}/tests?${query}`, admin)).status]).toEqual([query, status])
    }
  })

  it('are neither made nor changed nor counted by a build of a fork', async () => {
    const { org, path, token, admin } = await aSuite()
    await upload(token, 'one', [result('adds', 'passed', 1)])
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: one }]'))
    await app.db.updateTable('builds').set({ from_fork: true }).where('id', '=', build.id).execute()
    const before = (await get(`${path}/tests`, admin)).list
    await upload(token, build.id, [
      { ...result('adds', 'failed', 9), location: 'mine:1', file_name: 'mine' },
      result('made up', 'failed', 9),
    ])
    expect((await get(`${path}/tests`, admin)).list).toEqual(before)
    const ofBuild = await get(`/v2/analytics/organizations/${org.slug}/builds/${build.id}/tests`, admin)
    expect(ofBuild.list.map(({ name, known }) => [name, known])).toEqual([
      ['adds', true],
      ['made up', false],
    ])
    const [run] = (await get(`${path}/test_runs?build_id=${build.id}`, admin)).list
    const failures = await get(`${path}/test_runs/${String(run?.id)}/failed_executions`, admin)
    const ofTest = failures.list.map(({ test_name: name, test_url: url, test_execution_url: page }) => [
      name,
      url,
      String(page).replace(/execution_id=.*/, ''),
    ])
    const known = before[0]
    expect(ofTest).toEqual([
      ['Basket adds', known?.url, `${String(known?.web_url)}?`],
      ['Basket made up', null, 'null'],
    ])
  })

  it('have names of a limited length, and are no more than the results of one upload', async () => {
    const { path, token, admin } = await aSuite()
    await upload(token, 'long', [result('x'.repeat(1_000_000), 'passed', 1)])
    const { list } = await get(`${path}/tests`, admin)
    expect(list.map(({ name }) => String(name).length)).toEqual([1000])
    const many = Array.from({ length: 100_000 }, (_, index) => result(`new ${index}`, 'passed', 1))
    const refused = await app.request('POST', '/v1/uploads', {
      headers: { authorization: `Token token="${token}"` },
      body: { format: 'json', run_env: { key: 'many' }, data: many },
    })
    expect([refused.status, refused.body]).toEqual([422, { message: 'An upload has at most 5000 results.' }])
    expect((await get(`${path}/tests`, admin)).list).toEqual(list)
  })
})
