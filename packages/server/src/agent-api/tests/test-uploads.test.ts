import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp, type Json } from '../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  type TestOrganization,
  type TestUser,
} from '../../../test/builders.ts'
import { aBuild, jobNamed, runJob, type TestBuild } from '../../../test/runs.ts'
import { flushTokenCaches } from '../../auth/access-watch.ts'
import { storeResults } from '../../resources/tests/test_runs/store.ts'

const app = useApp()

let org: TestOrganization
let admin: TestUser
let pipeline: { id: string; slug: string; path: string }
let suite: { slug: string; token: string }

async function aSuite(of: TestOrganization, by: TestUser, name: string): Promise<typeof suite> {
  const { body } = await app.request('POST', `${of.path}/suites`, { token: by.token, body: { name } })
  return { slug: String(body.slug), token: String(body.api_token) }
}

beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
  pipeline = await aPipeline(app, org, 'steps: [{ command: one }]')
  suite = await aSuite(org, admin, 'unit')
})

const newBuild = () => aBuild(app, org, pipeline)

interface Posted {
  status: number
  body: Json
}

async function post(
  body: string | Buffer | FormData,
  headers: Record<string, string> = {},
  token = suite.token,
): Promise<Posted> {
  const response = await fetch(`${app.address}/v1/uploads`, {
    method: 'POST',
    headers: { Authorization: `Token token="${token}"`, ...headers },
    body,
  })
  return { status: response.status, body: (await response.json()) as Json }
}

const sendJson = (env: object, data: unknown, token?: string) =>
  post(JSON.stringify({ format: 'json', run_env: env, data }), { 'Content-Type': 'application/json' }, token)

function aForm(fields: Record<string, string>, data: string): FormData {
  const form = new FormData()
  form.set('data', new Blob([data]), 'report.xml')
  for (const [key, value] of Object.entries(fields)) form.set(key, value)
  return form
}

const result = (name: string, given: object = {}) => ({
  id: randomUUID(),
  scope: 'Cart',
  name,
  location: 'cart.test.ts:3',
  file_name: 'cart.test.ts',
  result: 'passed',
  history: { section: 'top', start_at: 1, end_at: 1.5, duration: 0.5 },
  ...given,
})

const runsOf = async (build: TestBuild, token = admin.token) =>
  (await app.request('GET', `${pipeline.path}/builds/${build.number}/test_runs`, { token })).list

describe('results of a suite that is deleted while they are read', () => {
  it('are refused with 404', async () => {
    const gone = { id: randomUUID(), slug: 'gone', organizationId: org.id, organizationSlug: org.slug }
    const env = { key: 'one', branch: null, commitSha: null, jobId: null }
    await expect(storeResults(app.ctx, gone, env, [])).rejects.toMatchObject({ status: 404 })
  })
})

describe('POST /v1/uploads with JSON', () => {
  it('keeps results under the build whose id is the key, and says where', async () => {
    const build = await newBuild()
    const failure = {
      result: 'failed',
      failure_reason: 'expected 2 to be 3',
      failure_expanded: [{ expanded: ['- 3', '+ 2'], backtrace: ['cart.test.ts:4'] }],
    }
    const env = {
      ci: 'buildkite',
      key: build.id,
      branch: 'main',
      commit_sha: 'abc',
      number: 1,
      url: 'http://x',
    }
    const { status, body } = await sendJson(env, [
      result('adds'),
      result('removes', failure),
      result('waits', { result: 'skipped', history: { start_at: 0, duration: null } }),
      result('dreams', { result: 'pending' }),
      result('wonders', { result: 'strange' }),
    ])
    expect([status, body]).toEqual([
      202,
      {
        id: expect.any(String),
        run_id: expect.any(String),
        queued: 5,
        skipped: 0,
        errors: [],
        run_url: `${app.ctx.config.url}${org.path}/suites/unit/test_runs/${body.run_id}`,
      },
    ])
    expect(await runsOf(build)).toEqual([
      {
        id: body.run_id,
        web_url: `${app.ctx.config.url}/${org.slug}/${pipeline.slug}/builds/${build.number}`,
        url: body.run_url,
        suite: { id: expect.any(String), slug: 'unit' },
        build_id: build.id,
        state: 'running',
        result: 'failed',
        branch: 'main',
        commit_sha: 'abc',
        results_count: 5,
        passed_count: 1,
        failed_count: 1,
        skipped_count: 2,
        unknown_count: 1,
        duration: 2,
        failures: [
          {
            scope: 'Cart',
            name: 'removes',
            location: 'cart.test.ts:3',
            file_name: 'cart.test.ts',
            failure_reason: 'expected 2 to be 3',
            duration: 0.5,
          },
        ],
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ])
    const path = `${org.path}/suites/unit/test_runs/${body.run_id}`
    const shown = await app.request('GET', path, { token: admin.token })
    expect(shown.body.failures).toMatchObject([{ failure_expanded: failure.failure_expanded }])
  })

  it('finds the build by the job when the key is something else', async () => {
    const build = await newBuild()
    await sendJson({ key: randomUUID(), job_id: await jobNamed(app, build, 'one') }, [result('a')])
    expect(await runsOf(build)).toMatchObject([{ passed_count: 1 }])
  })

  it('adds uploads with the same key to one run, also those that come at once', async () => {
    const build = await newBuild()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => sendJson({ key: build.id }, [result(`a${n}`), result(`b${n}`)])),
    )
    expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1)
    expect(await runsOf(build)).toMatchObject([{ results_count: 16, passed_count: 16, duration: 8 }])
  })

  it('keeps a result once that is sent again', async () => {
    const build = await newBuild()
    const results = [result('a'), result('b')]
    await Promise.all([sendJson({ key: build.id }, results), sendJson({ key: build.id }, results)])
    expect(await runsOf(build)).toMatchObject([{ results_count: 2 }])
  })

  it('passes over what is no result, and cuts what is too long', async () => {
    const build = await newBuild()
    const { history: _history, ...timeless } = result('timeless')
    const odd = [null, 1, 'x', [], {}, timeless, result(''), result('x', { history: { start_at: 'now' } })]
    const text = 'x\0\ud800'.repeat(100_000)
    const long = result(text, {
      result: 'failed',
      failure_reason: text,
      failure_expanded: [{ expanded: [text, text] }],
    })
    const { body } = await sendJson({ key: build.id }, [
      ...odd,
      long,
      result('no scope', { scope: null, id: 'odd' }),
    ])
    expect(body).toMatchObject({ queued: 2, skipped: 8 })
    const [run] = await runsOf(build)
    expect(run).toMatchObject({ results_count: 2, failed_count: 1 })
    expect(JSON.stringify(run).length).toBeLessThan(10_000)
  })

  it('takes compressed bodies, up to a size', async () => {
    const build = await newBuild()
    const send = (zipped: Buffer) =>
      post(zipped, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' })
    const body = { format: 'json', run_env: { key: build.id }, data: [result('a')] }
    expect((await send(gzipSync(JSON.stringify(body)))).status).toBe(202)
    const mebibyte = gzipSync(' '.repeat(1024 * 1024))
    expect(await send(Buffer.concat(Array.from({ length: 65 }, () => mebibyte)))).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('cannot be decompressed') },
    })
    expect((await post('x', { 'Content-Encoding': 'gzip' })).status).toBe(400)
    expect((await post('x', { 'Content-Encoding': 'br' })).status).toBe(400)
  })

  it('takes 5000 results, and of 5001 none', async () => {
    const build = await newBuild()
    const many = Array.from({ length: 5001 }, (_, n) => result(`test ${n}`))
    expect((await sendJson({ key: build.id }, many)).status).toBe(422)
    expect(await runsOf(build)).toEqual([])
    expect((await sendJson({ key: build.id }, many.slice(1))).status).toBe(202)
    expect(await runsOf(build)).toMatchObject([{ results_count: 5000 }])
  })

  it.each([
    [{ run_env: {}, data: [] }, 422],
    [{ data: [] }, 422],
    [{ run_env: { key: 'k' } }, 422],
    [{ run_env: { key: 'k' }, data: {} }, 422],
    [{ format: 'rspec-json', run_env: { key: 'k' }, data: [] }, 422],
    [[], 422],
    [null, 422],
  ])('refuses %j', async (body, status) => {
    const answer = await post(JSON.stringify(body), { 'Content-Type': 'application/json' })
    expect([answer.status, Object.keys(answer.body)]).toEqual([status, ['message']])
  })

  it('refuses what is not JSON', async () => {
    expect((await post('{', { 'Content-Type': 'application/json' })).status).toBe(400)
  })

  it('refuses a token that is missing or unknown, and takes it with and without quotes', async () => {
    const body = JSON.stringify({ run_env: { key: 'quotes' }, data: [] })
    const statusWith = async (header: string) => (await post(body, { Authorization: header })).status
    expect(await statusWith(`Token token="${suite.token}"`)).toBe(202)
    expect(await statusWith(`Token token=${suite.token}`)).toBe(202)
    expect(await statusWith(`Token ${suite.token}`)).toBe(202)
    expect(await statusWith('Token token="mrst_nope"')).toBe(401)
    expect(await statusWith(`Token token="${admin.token}"`)).toBe(401)
    expect(await statusWith(`Bearer ${suite.token}`)).toBe(401)
    expect(app.logLines.join('\n')).not.toContain(suite.token)
  })

  it('links no run to a build of another organization', async () => {
    const theirs = await anOrganization(app)
    const other = await aSuite(theirs, await anAdmin(app, theirs), 'unit')
    const build = await newBuild()
    const env = { key: build.id, job_id: await jobNamed(app, build, 'one') }
    expect((await sendJson(env, [result('a')], other.token)).status).toBe(202)
    expect(await runsOf(build)).toEqual([])
  })
})

describe('POST /v1/uploads with a form', () => {
  const junit = `<?xml version="1.0"?><testsuites><testsuite name="s">
    <testcase classname="Cart" name="adds" time="0.25"/>
    <testcase classname="Cart" name="removes"><failure message="1 != 2">at line 3</failure></testcase>
    <testcase name="nowhere"/></testsuite></testsuites>`

  it('reads JUnit', async () => {
    const build = await newBuild()
    const fields = {
      format: 'junit',
      'run_env[CI]': 'buildkite',
      'run_env[key]': build.id,
      'tags[team]': 'a',
    }
    const { status, body } = await post(aForm({ ...fields, 'run_env[branch]': 'main' }, junit))
    expect([status, body.queued, body.skipped]).toEqual([202, 2, 1])
    expect(await runsOf(build)).toMatchObject([
      {
        branch: 'main',
        passed_count: 1,
        failed_count: 1,
        failures: [{ name: 'removes', failure_reason: '1 != 2' }],
      },
    ])
  })

  it('reads JSON', async () => {
    const build = await newBuild()
    const form = aForm({ format: 'json', 'run_env[key]': build.id }, JSON.stringify([result('a')]))
    expect((await post(form)).body).toMatchObject({ queued: 1 })
  })

  it.each([
    [{ format: 'junit', 'run_env[key]': 'k' }, '<testsuite>', 422],
    [
      { format: 'junit', 'run_env[key]': 'k' },
      '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a/>',
      422,
    ],
    [{ format: 'junit' }, '<testsuite/>', 422],
    [{ 'run_env[key]': 'k' }, '<testsuite/>', 422],
    [{ format: 'json', 'run_env[key]': 'k' }, 'nonsense', 400],
  ])('refuses %j with %j', async (fields, data, status) => {
    expect((await post(aForm(fields, data))).status).toBe(status)
  })

  it('refuses a form that cannot be read, and a body that is too large', async () => {
    const headers = { 'Content-Type': 'multipart/form-data; boundary=x' }
    expect((await post('--y nonsense', headers)).status).toBe(400)
    expect((await post(Buffer.alloc(33 * 1024 * 1024), headers)).status).toBe(413)
  })
})

describe('GET …/builds/:build?include_test_analytics=true', () => {
  it('shows the runs of the build, under either name', async () => {
    const build = await newBuild()
    const second = await aSuite(org, admin, 'browser')
    await sendJson({ key: build.id }, [result('a')])
    await sendJson({ key: build.id }, [result('b', { result: 'failed' })], second.token)
    const path = `${pipeline.path}/builds/${build.number}`
    const query = 'include_test_analytics=true&include_test_engine=true'
    const { body } = await app.request('GET', `${path}?${query}`, { token: admin.token })
    expect(body.test_analytics).toMatchObject({
      runs: [
        { suite: { slug: 'unit' }, result: 'pending', passed_count: 1, failures: [] },
        { suite: { slug: 'browser' }, result: 'failed', failed_count: 1, failures: [{ name: 'b' }] },
      ],
    })
    expect(body.test_engine).toEqual(body.test_analytics)
  })
})

describe('GET …/builds/:build/test_runs', () => {
  it('ends a run with its build', async () => {
    const build = await newBuild()
    await sendJson({ key: build.id }, [result('a')])
    expect(await runsOf(build)).toMatchObject([{ state: 'running', result: 'pending' }])
    await runJob(app, build, 'one')
    expect(await runsOf(build)).toMatchObject([{ state: 'finished', result: 'passed' }])
    const empty = await newBuild()
    await sendJson({ key: empty.id }, [])
    await runJob(app, empty, 'one')
    expect(await runsOf(empty)).toMatchObject([{ state: 'finished', result: 'stale' }])
  })

  it('goes with its build', async () => {
    const build = await newBuild()
    const { body } = await sendJson({ key: build.id }, [result('a')])
    await app.db.deleteFrom('builds').where('id', '=', build.id).execute()
    const path = `${org.path}/suites/unit/test_runs/${body.run_id}`
    expect((await app.request('GET', path, { token: admin.token })).status).toBe(404)
  })
})

describe('GET …/suites/:suite/test_runs', () => {
  it('lists runs newest first, those without a build too', async () => {
    const own = await aSuite(org, admin, 'own')
    for (const key of ['first', 'second']) await sendJson({ key, branch: key }, [result('a')], own.token)
    const path = `${org.path}/suites/own/test_runs`
    const { list } = await app.request('GET', path, { token: admin.token })
    expect(list).toMatchObject([
      { branch: 'second', state: 'finished', result: 'passed' },
      { branch: 'first', state: 'finished', result: 'passed' },
    ])
    const paged = await app.request('GET', `${path}?per_page=1`, { token: admin.token })
    expect([paged.list, paged.headers.get('link')]).toMatchObject([
      [{ branch: 'second' }],
      expect.stringContaining('next'),
    ])
    const elsewhere = `${org.path}/suites/unit/test_runs/${list[0]?.id}`
    expect((await app.request('GET', elsewhere, { token: admin.token })).status).toBe(404)
  })

  it('hides runs in builds of pipelines that the member may not see', async () => {
    const own = await aSuite(org, admin, 'hidden')
    const build = await newBuild()
    const { body } = await sendJson({ key: build.id }, [result('a')], own.token)
    await sendJson({ key: 'local' }, [result('a')], own.token)
    const member = await aMember(app, org)
    const count = async () =>
      (await app.request('GET', `${org.path}/suites/hidden/test_runs`, { token: member.token })).list.length
    expect(await count()).toBe(2)
    await app.db
      .updateTable('organizations')
      .set({ teams_enabled_at: new Date().toISOString() })
      .where('id', '=', org.id)
      .execute()
    await flushTokenCaches(app.db)
    expect(await count()).toBe(1)
    const path = `${org.path}/suites/hidden/test_runs/${body.run_id}`
    expect((await app.request('GET', path, { token: member.token })).status).toBe(404)
    expect((await app.request('GET', path, { token: admin.token })).status).toBe(200)
  })
})
