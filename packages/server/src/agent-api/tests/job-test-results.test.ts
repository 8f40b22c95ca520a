import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { anAgent } from '../../../test/agent-client.ts'
import { aFile, upload } from '../../../test/artifact-files.ts'
import { useApp } from '../../../test/app.ts'
import { aMember } from '../../../test/builders.ts'
import { aRunningJob, type RunningScene } from '../../../test/job-runs.ts'
import { aBuild } from '../../../test/runs.ts'
import { deleteBuilds } from '../../conductor/delete-builds.ts'
import { flushTokenCaches } from '../../auth/access-watch.ts'

const app = useApp()

const junit = `<?xml version="1.0"?><testsuites><testsuite name="s">
  <testcase classname="Cart" name="adds" time="0.25"/>
  <testcase classname="Cart" name="removes"><failure message="1 != 2">at line 3</failure></testcase>
  <testcase name="nowhere"/></testsuite></testsuites>`

const aSuiteOf = (...names: string[]) =>
  `<testsuite>${names.map((name) => `<testcase classname="c" name="${name}"/>`).join('')}</testsuite>`

async function send(
  { id, token }: { id: string; token: string },
  xml: string,
  path: string | null = 'report.xml',
) {
  const query = path === null ? '' : `?path=${encodeURIComponent(path)}`
  const response = await fetch(`${app.address}/v3/jobs/${id}/test_results${query}`, {
    method: 'POST',
    headers: {
      Authorization: `Token ${token}`,
      'Content-Type': 'application/xml',
      'Content-Encoding': 'gzip',
    },
    body: gzipSync(xml),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const runsOf = async ({ buildPath, admin }: RunningScene) =>
  (await app.request('GET', `${buildPath}/test_runs`, { token: admin.token })).list

const withReports = (patterns: string) =>
  `{steps: [{label: Tests, key: tests, command: make, test_results: ${patterns}}]}`

describe('POST /v3/jobs/:id/test_results', () => {
  it("shows the results with the job's build, in the suite of its pipeline", async () => {
    const scene = await aRunningJob(app)
    const { status, body } = await send(scene.run, junit)
    expect([status, body]).toEqual([
      202,
      { run_id: expect.any(String), queued: 2, failed: 1, skipped: 1, quarantined: [] },
    ])
    expect(await runsOf(scene)).toMatchObject([
      {
        id: body['run_id'],
        build_id: scene.build.id,
        suite: { slug: scene.pipeline.slug },
        passed_count: 1,
        failed_count: 1,
        failures: [{ scope: 'Cart', name: 'removes', failure_reason: '1 != 2' }],
      },
    ])
    const path = `${scene.org.path}/suites/${scene.pipeline.slug}`
    const suite = await app.request('GET', path, { token: scene.admin.token })
    expect(suite.body).toMatchObject({ slug: scene.pipeline.slug, created_by: null })
    expect(JSON.stringify(suite.body)).not.toContain('mrst_')
  })

  it('stores a file once that is sent again, and several files in one run', async () => {
    const scene = await aRunningJob(app)
    const files = ['one.xml', 'two.xml', 'one.xml', 'two.xml']
    const answers = await Promise.all(files.map((path) => send(scene.run, aSuiteOf('a', 'b'), path)))
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202])
    expect(await runsOf(scene)).toMatchObject([{ passed_count: 4, results_count: 4 }])
  })

  it('takes another slug where a suite has the one of the pipeline', async () => {
    const scene = await aRunningJob(app)
    const { slug } = scene.pipeline
    const taken = { token: scene.admin.token, body: { name: slug } }
    expect((await app.request('POST', `${scene.org.path}/suites`, taken)).status).toBe(201)
    expect((await send(scene.run, junit)).status).toBe(202)
    const [run] = await runsOf(scene)
    expect(run).toMatchObject({ suite: { slug: `${slug}-${scene.pipeline.id.slice(0, 8)}` } })
  })

  it.each([
    ['<testsuite>', 'The XML cannot be read'],
    [
      '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><testsuite>&b;</testsuite>',
      'The XML cannot be read',
    ],
    ['<coverage/>', 'The XML is no JUnit'],
    ['', 'The XML'],
  ])('refuses %j with 422, and stores nothing', async (xml, reason) => {
    const scene = await aRunningJob(app)
    const { status, body } = await send(scene.run, xml)
    expect([status, body['message']]).toEqual([422, expect.stringContaining(reason)])
    expect(await runsOf(scene)).toEqual([])
  })

  it('refuses a file without a name, and the token of another job', async () => {
    const scene = await aRunningJob(app)
    const other = await aRunningJob(app, undefined, scene)
    expect((await send(scene.run, junit, null)).status).toBe(400)
    expect((await send(scene.run, junit, 'x'.repeat(4097))).status).toBe(400)
    expect((await send({ id: scene.run.id, token: other.run.token }, junit)).status).toBe(403)
  })

  it('refuses more results than a build may have', async () => {
    const scene = await aRunningJob(app)
    const { body } = await send(scene.run, junit)
    await sql`update test_runs set passed_count = 199998 where id = ${body['run_id']}`.execute(app.db)
    expect((await send(scene.run, aSuiteOf('one more'), 'more.xml')).status).toBe(202)
    const refused = await send(scene.run, aSuiteOf('too many'), 'again.xml')
    expect([refused.status, String(refused.body['message'])]).toEqual([
      422,
      expect.stringContaining('200000'),
    ])
  })

  it('lets a fork neither mute, skip, enable, label nor rename tests of the pipeline', async () => {
    const scene = await aRunningJob(app)
    expect((await send(scene.run, junit)).status).toBe(202)
    const suite = `${scene.org.path}/suites/${scene.pipeline.slug}`
    const list = async () => (await app.request('GET', `${suite}/tests`, { token: scene.admin.token })).list
    const before = await list()
    const build = await aBuild(app, scene.org, scene.pipeline)
    const run = await (await anAgent(app, scene.token)).begin()
    const fork = { id: '7', base: 'main', repository: null, labels: [], draft: false, fork: true }
    await app.db
      .updateTable('builds')
      .set({ pull_request: JSON.stringify(fork), from_fork: true })
      .where('id', '=', build.id)
      .execute()
    const test = `${suite}/tests/${String(before[0]?.id)}`
    for (const [method, path, body] of [
      ['PUT', `${test}/mute`, {}],
      ['PUT', `${test}/skip`, {}],
      ['PUT', `${test}/enable`, {}],
      ['PATCH', `${test}/labels`, { operator: 'add', labels: ['mine'] }],
      ['PATCH', suite, { name: 'Mine' }],
    ] as const) {
      for (const token of [run.token, scene.token]) {
        expect([path, (await app.request(method, path, { token, body })).status]).toEqual([path, 401])
      }
    }
    const renamed = junit.replaceAll('classname="Cart"', 'classname="Cart" file="mine"')
    expect((await send(run, renamed.replace('"removes"', '"mine"'))).status).toBe(202)
    expect(await list()).toEqual(before)
  })

  it('stores results of a fork for its own build', async () => {
    const scene = await aRunningJob(app)
    const fork = { id: '7', base: 'main', repository: null, labels: [], draft: false, fork: true }
    const set = { pull_request: JSON.stringify(fork) }
    await app.db.updateTable('builds').set(set).where('id', '=', scene.build.id).execute()
    expect((await send(scene.run, junit)).status).toBe(202)
    expect(await runsOf(scene)).toMatchObject([{ build_id: scene.build.id, failed_count: 1 }])
  })

  it('hides the suite of a pipeline from those who may not see the pipeline', async () => {
    const scene = await aRunningJob(app)
    await send(scene.run, junit)
    const member = await aMember(app, scene.org)
    const slugs = async (token: string) =>
      (await app.request('GET', `${scene.org.path}/suites`, { token })).list.map(({ slug }) => slug)
    expect(await slugs(member.token)).toEqual([scene.pipeline.slug])
    const enabled = { teams_enabled_at: new Date().toISOString() }
    await app.db.updateTable('organizations').set(enabled).where('id', '=', scene.org.id).execute()
    await flushTokenCaches(app.db)
    expect(await slugs(member.token)).toEqual([])
    expect(await slugs(scene.admin.token)).toEqual([scene.pipeline.slug])
    for (const path of ['', '/tests', '/test_runs']) {
      const at = `${scene.org.path}/suites/${scene.pipeline.slug}${path}`
      expect((await app.request('GET', at, { token: member.token })).status).toBe(404)
    }
  })

  it('deletes the suite with the pipeline', async () => {
    const scene = await aRunningJob(app)
    await send(scene.run, junit)
    expect((await app.request('DELETE', scene.pipeline.path, { token: scene.admin.token })).status).toBe(204)
    const suites = () => app.request('GET', `${scene.org.path}/suites`, { token: scene.admin.token })
    expect((await suites()).list).toEqual([])
    await deleteBuilds(app.ctx)
    const left = await sql`select from test_suites where organization_id = ${scene.org.id}`.execute(app.db)
    expect(left.rows).toEqual([])
  })
})

describe('failures of tests in quarantine', () => {
  const failing =
    '<testsuite><testcase classname="Cart" name="removes"><failure message="1 != 2"/></testcase></testsuite>'

  async function quarantine(scene: RunningScene, action: 'mute' | 'skip', body: object = {}): Promise<void> {
    const { token } = scene.admin
    const suite = `${scene.org.path}/suites/${scene.pipeline.slug}`
    const test = { scope: 'Cart', name: 'removes' }
    const found = await app.request('POST', `${suite}/tests/find`, { token, body: test })
    const path = `${suite}/tests/${found.body.id}/${action}`
    expect((await app.request('PUT', path, { token, body })).status).toBe(200)
  }

  it('are named to the job, and marked where the build shows them', async () => {
    const scene = await aRunningJob(app)
    expect((await send(scene.run, failing, 'first.xml')).body['quarantined']).toEqual([])
    const ends = new Date(Date.now() + 86_400_000).toISOString()
    await quarantine(scene, 'mute', { reason: 'Timing', expires_at: ends })
    const expected = {
      scope: 'Cart',
      name: 'removes',
      state: 'muted',
      reason: 'Timing',
      owner: expect.any(String),
      expires_at: ends,
    }
    const { body } = await send(scene.run, junit, 'report.xml')
    expect([body['failed'], body['quarantined']]).toEqual([1, [expected]])
    const { token } = scene.admin
    const summary = await app.request('GET', `${scene.buildPath}/failure_summary`, { token })
    expect(summary.body['tests']).toMatchObject([{ name: 'removes', quarantine: 'muted', failed_count: 2 }])
    await quarantine(scene, 'skip')
    expect((await send(scene.run, junit, 'report.xml')).body['quarantined']).toMatchObject([
      { state: 'muted' },
    ])
    const skipped = await send(scene.run, failing, 'last.xml')
    expect(skipped.body['quarantined']).toMatchObject([{ state: 'skipped' }])
  })

  it('count again after the end, even before the quarantine is lifted', async () => {
    const scene = await aRunningJob(app)
    await send(scene.run, failing, 'first.xml')
    await quarantine(scene, 'mute')
    const past = new Date(Date.now() - 60_000).toISOString()
    await sql`update tests set quarantine_expires_at = ${past} where organization_id = ${scene.org.id}`.execute(
      app.db,
    )
    expect((await send(scene.run, failing, 'second.xml')).body['quarantined']).toEqual([])
  })

  it('are named to a fork too, which changes nothing of the test', async () => {
    const scene = await aRunningJob(app)
    await send(scene.run, failing, 'first.xml')
    await quarantine(scene, 'mute')
    const fork = { id: '7', base: 'main', repository: null, labels: [], draft: false, fork: true }
    const set = { pull_request: JSON.stringify(fork) }
    await app.db.updateTable('builds').set(set).where('id', '=', scene.build.id).execute()
    const states = () =>
      sql`select state, last_seen_at, quarantined_at from tests where organization_id = ${scene.org.id}`.execute(
        app.db,
      )
    const before = await states()
    expect((await send(scene.run, failing, 'report.xml')).body['quarantined']).toMatchObject([
      { state: 'muted' },
    ])
    expect((await states()).rows).toEqual(before.rows)
  })
})

describe('POST /v3/jobs/:id/test_results?format=json', () => {
  const sendJson = async ({ id, token }: { id: string; token: string }, text: string, format = 'json') => {
    const response = await fetch(`${app.address}/v3/jobs/${id}/test_results?path=r.json&format=${format}`, {
      method: 'POST',
      headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
      body: text,
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  it('takes a list of results once', async () => {
    const scene = await aRunningJob(app)
    const result = (name: string, ended: string) => ({
      name,
      scope: 'Cart',
      result: ended,
      history: { start_at: 0 },
    })
    const list = JSON.stringify([
      result('adds', 'passed'),
      result('removes', 'failed'),
      { name: 'no history' },
    ])
    for (const _ of [1, 2]) {
      const { status, body } = await sendJson(scene.run, list)
      expect([status, body]).toEqual([202, expect.objectContaining({ queued: 2, failed: 1, skipped: 1 })])
    }
    expect(await runsOf(scene)).toMatchObject([{ results_count: 2, failed_count: 1 }])
  })

  it.each([
    ['{}', 'json', 422],
    ['[', 'json', 400],
    ['[]', 'tap', 400],
  ])('refuses %s as %s', async (text, format, status) => {
    const scene = await aRunningJob(app)
    expect((await sendJson(scene.run, text, format)).status).toBe(status)
  })
})

describe('PUT /v3/jobs/:id/artifacts', () => {
  it('reads artifacts that the step names, as if their agent had sent them', async () => {
    const scene = await aRunningJob(app, withReports('["./out/*.xml", "b.xml"]'))
    const files = [aFile('out/a.xml', junit), aFile('b.xml', aSuiteOf('b')), aFile('c.xml', aSuiteOf('c'))]
    await upload(app, scene.run, files)
    expect(await runsOf(scene)).toMatchObject([{ passed_count: 2, failed_count: 1, results_count: 3 }])
    await send(scene.run, junit, 'out/a.xml')
    expect(await runsOf(scene)).toMatchObject([{ results_count: 3 }])
  })

  it('reads artifacts that the pipeline names', async () => {
    const scene = await aRunningJob(app)
    const { token } = scene.admin
    await upload(app, scene.run, [aFile('junit-1.xml', junit)])
    expect(await runsOf(scene)).toEqual([])
    const set = { token, body: { junit_artifacts: '**/junit*.xml; reports/*' } }
    const changed = await app.request('PATCH', scene.pipeline.path, set)
    expect([changed.status, changed.body.junit_artifacts]).toEqual([200, '**/junit*.xml; reports/*'])
    const files = [aFile('a/junit-2.xml', junit), aFile('reports/x', aSuiteOf('x')), aFile('x.xml', junit)]
    await upload(app, scene.run, files)
    expect(await runsOf(scene)).toMatchObject([{ results_count: 3, failed_count: 1 }])
    const off = await app.request('PATCH', scene.pipeline.path, { token, body: { junit_artifacts: '' } })
    expect(off.body.junit_artifacts).toBeNull()
  })

  it('keeps an artifact that is no JUnit', async () => {
    const scene = await aRunningJob(app, withReports('"*.xml"'))
    const ids = await upload(app, scene.run, [
      aFile('broken.xml', '<testsuite>'),
      aFile('good.xml', aSuiteOf('a')),
    ])
    expect(await runsOf(scene)).toMatchObject([{ results_count: 1 }])
    const path = `${scene.short}/artifacts/${ids[0]}`
    const { body } = await app.request('GET', path, { token: scene.admin.token })
    expect(body).toMatchObject({ path: 'broken.xml', state: 'finished' })
  })
})

describe('PATCH …/pipelines/:pipeline', () => {
  it.each(['a[', 7, 'x'.repeat(2001)])('answers 422 to the junit_artifacts %j', async (junit_artifacts) => {
    const scene = await aRunningJob(app)
    const answer = await app.request('PATCH', scene.pipeline.path, {
      token: scene.admin.token,
      body: { junit_artifacts },
    })
    expect([answer.status, answer.body.errors?.[0]?.field]).toEqual([422, 'junit_artifacts'])
  })
})

describe('the answer to an agent that accepts a job', () => {
  it('names the files of test results, with the values of the matrix', async () => {
    const scene = await aRunningJob(
      app,
      '{steps: [{command: make, matrix: [x], test_results: ["{{matrix}}/*.xml", b.xml]}]}',
    )
    expect(scene.run.job.step).toMatchObject({ test_results: ['x/*.xml', 'b.xml'] })
  })
})
