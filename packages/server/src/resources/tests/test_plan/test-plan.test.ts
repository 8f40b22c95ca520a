import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp, type TestAnswer } from '../../../../test/app.ts'
import { anAdmin, anOrganization } from '../../../../test/builders.ts'

const app = useApp()

let token: string
let suite: string

/** Seconds of the tests of each file, as collectors name it. */
const times: Record<string, number[]> = {
  './spec/slow_spec.rb': [40, 20],
  'spec/a_spec.rb': [10],
  'spec/b_spec.rb': [12],
  'spec/c_spec.rb': [8],
}

beforeAll(async () => {
  const org = await anOrganization(app)
  token = (await anAdmin(app, org)).token
  const analytics = `/v2/analytics/organizations/${org.slug}`
  const made = await app.request('POST', `${analytics}/suites`, { token, body: { name: 'Unit' } })
  suite = `${analytics}/suites/unit`
  const data = Object.entries(times).flatMap(([file, durations]) =>
    durations.map((duration, index) => ({
      scope: file,
      name: `test ${index}`,
      file_name: file,
      result: 'passed',
      history: { start_at: 0, duration },
    })),
  )
  for (const key of ['first', 'second']) {
    const sent = await app.request('POST', '/v1/uploads', {
      headers: { authorization: `Token token="${String(made.body.api_token)}"` },
      body: { format: 'json', run_env: { key }, data },
    })
    expect(sent.status).toBe(202)
  }
})

const post = (path: string, body: object | string): Promise<TestAnswer> =>
  app.request('POST', `${suite}/${path}`, { token, body })

const get = (identifier: string): Promise<TestAnswer> =>
  app.request('GET', `${suite}/test_plan?identifier=${encodeURIComponent(identifier)}&job_retry_count=1`, {
    token,
  })

interface Task {
  node_number: number
  tests: Array<{ path: string; format: string; estimated_duration: number; timing_sample_size: number }>
}

const tasksOf = ({ body }: TestAnswer): Task[] => Object.values(body['tasks'] ?? {}) as unknown as Task[]
const pathsOf = (answer: TestAnswer) => tasksOf(answer).map(({ tests }) => tests.map(({ path }) => path))
const files = (...paths: string[]) => ({ files: paths.map((path) => ({ path })) })

describe('POST /v2/analytics/organizations/:org/suites/:suite/test_plan', () => {
  it('divides files by their expected time, and takes the median for new ones', async () => {
    const tests = files(
      'spec/a_spec.rb',
      'spec/b_spec.rb',
      'spec/c_spec.rb',
      'spec/new_spec.rb',
      'spec/slow_spec.rb',
    )
    const answer = await post('test_plan', { identifier: 'build/step', parallelism: 2, tests })
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        muted_tests: [],
        identifier: 'build/step',
        parallelism: 2,
        tasks: expect.any(Object),
        experiment: '',
        skipped_tests: [],
        timing_metadata: { file: { median_duration: 11_000, default_duration: 1000 } },
      },
    ])
    expect(tasksOf(answer)).toMatchObject([
      { node_number: 0, tests: [{ path: 'spec/slow_spec.rb', format: 'file', estimated_duration: 60_000 }] },
      {
        node_number: 1,
        tests: [
          { estimated_duration: 10_000, timing_sample_size: 2 },
          { estimated_duration: 12_000 },
          { estimated_duration: 8000 },
          { path: 'spec/new_spec.rb', estimated_duration: 11_000, timing_sample_size: 0 },
        ],
      },
    ])
  })

  it('gives all that ask with one identifier the same plan', async () => {
    const ask = (parallelism: number, ...paths: string[]) =>
      post('test_plan', { identifier: 'same', parallelism, tests: files(...paths) })
    expect((await get('same')).status).toBe(404)
    const answers = await Promise.all([ask(2, 'a', 'b', 'c'), ask(2, 'a', 'b', 'c'), ask(3, 'd')])
    const plan = await get('same')
    expect(plan.status).toBe(200)
    for (const answer of answers) expect(answer.body).toEqual(plan.body)
  })

  it('divides by number where nothing has run', async () => {
    const answer = await post('test_plan', {
      identifier: 'unknown',
      parallelism: 3,
      tests: files('1', '2', '3', '4', '5', '6', '7'),
    })
    expect(pathsOf(answer).map(({ length }) => length)).toEqual([3, 2, 2])
    expect(answer.body['timing_metadata']).toEqual({
      file: { median_duration: null, default_duration: 1000 },
    })
  })

  it('knows selectors with their prefix, and single tests', async () => {
    const answer = await post('test_plan', {
      identifier: 'mixed',
      parallelism: 1,
      location_prefix: 'spec',
      tests: {
        selectors: [{ value: './a_spec.rb' }],
        examples: [
          {
            format: 'example',
            path: 'slow[1:1]',
            scope: './spec/slow_spec.rb',
            name: 'test 0',
            identifier: '1',
          },
          { path: 'slow[1:9]', scope: './spec/slow_spec.rb', name: 'is new' },
        ],
      },
    })
    expect(tasksOf(answer)[0]?.tests).toEqual([
      {
        format: 'example',
        path: 'slow[1:1]',
        scope: './spec/slow_spec.rb',
        name: 'test 0',
        identifier: '1',
        estimated_duration: 40_000,
        timing_sample_size: 2,
      },
      expect.objectContaining({ path: 'slow[1:9]', estimated_duration: 40_000, timing_sample_size: 0 }),
      {
        format: 'selector',
        path: './a_spec.rb',
        value: './a_spec.rb',
        estimated_duration: 10_000,
        timing_sample_size: 2,
      },
    ])
  })

  it('takes as few jobs as keep to the time', async () => {
    const tests = files('spec/a_spec.rb', 'spec/b_spec.rb', 'spec/c_spec.rb', 'spec/slow_spec.rb')
    const ask = async (identifier: string, target: number) =>
      (await post('test_plan', { identifier, max_parallelism: 10, target_time: target, tests })).body[
        'parallelism'
      ]
    expect([await ask('loose', 60), await ask('tight', 1), await ask('ample', 3600)]).toEqual([2, 4, 1])
  })

  it('mutes and skips what is in quarantine, until that expires', async () => {
    const skipped = { scope: './spec/slow_spec.rb', name: 'test 1' }
    const tests = { examples: [{ path: 'slow[1:1]', ...skipped }, { path: 'new' }] }
    const setState = (state: string, name: string, hours: number) =>
      sql`
      update tests set state = ${state}, quarantine_expires_at = ${app.ctx.now().toISOString()}::timestamptz + make_interval(hours => ${hours})
      where scope = './spec/slow_spec.rb' and name = ${name}`.execute(app.db)
    await setState('skipped', 'test 1', 1)
    await setState('muted', 'test 0', 1)
    const answer = await post('test_plan', { identifier: 'quarantine', tests })
    expect(pathsOf(answer)).toEqual([['new']])
    expect(answer.body).toMatchObject({
      skipped_tests: [{ path: 'slow[1:1]', ...skipped }],
      muted_tests: [{ scope: './spec/slow_spec.rb', name: 'test 0', path: './spec/slow_spec.rb' }],
    })
    const all = files('spec/a_spec.rb', 'spec/slow_spec.rb')
    expect((await post('test_plan/filter_tests', all)).body).toEqual({
      tests: [{ path: 'spec/slow_spec.rb' }],
    })
    await setState('skipped', 'test 1', -1)
    await setState('muted', 'test 0', -1)
    expect((await get('quarantine')).body).toMatchObject({ muted_tests: [], skipped_tests: [skipped] })
    expect(pathsOf(await post('test_plan', { identifier: 'expired', tests }))).toEqual([['slow[1:1]', 'new']])
    expect((await post('test_plan/filter_tests', all)).body).toEqual({ tests: [] })
  })

  it('is a plan of its suite and organization only', async () => {
    const other = await anOrganization(app)
    const admin = await anAdmin(app, other)
    const theirs = `/v2/analytics/organizations/${other.slug}/suites`
    await app.request('POST', theirs, { token: admin.token, body: { name: 'Unit' } })
    await post('test_plan', { identifier: 'ours', tests: files('a') })
    const asked = await app.request('GET', `${theirs}/unit/test_plan?identifier=ours`, { token: admin.token })
    expect(asked.status).toBe(404)
    expect(
      (await app.request('GET', `${suite}/test_plan?identifier=ours`, { token: admin.token })).status,
    ).toBe(404)
  })

  it.each([
    ['no identifier', { tests: {} }],
    ['no tests', { identifier: 'a' }],
    ['too many jobs', { identifier: 'a', parallelism: 1001, tests: {} }],
    ['a selection', { identifier: 'a', tests: {}, selection: { strategy: 'random' } }],
    ['a name of a megabyte', { identifier: 'a', tests: files('x'.repeat(1_000_000)) }],
    ['too many files', { identifier: 'a', tests: files(...Array.from({ length: 100_001 }, () => 'a')) }],
  ])('refuses %s', async (_, body) => {
    expect((await post('test_plan', body)).status).toBe(422)
  })

  it('takes 100,000 files', async () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `spec/models/number_${index}_spec.rb`)
    const answer = await post('test_plan', { identifier: 'large', parallelism: 1000, tests: files(...names) })
    expect(pathsOf(answer).map(({ length }) => length)).toEqual(Array.from({ length: 1000 }, () => 100))
  })

  it('keeps the plans of a week', async () => {
    await post('test_plan', { identifier: 'old', tests: files('a') })
    await sql`update test_plans set created_at = created_at - interval '8 days' where identifier = 'old'`.execute(
      app.db,
    )
    await post('test_plan', { identifier: 'newer', tests: files('a') })
    expect([(await get('old')).status, (await get('newer')).status]).toEqual([404, 200])
  })
})

describe('POST …/test_plan/filter_tests', () => {
  it('names slow files where the client divides them', async () => {
    const tests = files(...Object.keys(times))
    const env = { BUILDKITE_PARALLEL_JOB_COUNT: 3, BUILDKITE_TEST_ENGINE_SPLIT_BY_EXAMPLE: true }
    const ask = async (body: object) => (await post('test_plan/filter_tests', { ...tests, ...body })).body
    expect(await ask({ env })).toEqual({ tests: [{ path: 'spec/slow_spec.rb' }] })
    expect(await ask({ max_parallelism: 10, target_time: 30, env })).toEqual({
      tests: [{ path: 'spec/slow_spec.rb' }],
    })
    expect(await ask({ env: { ...env, BUILDKITE_PARALLEL_JOB_COUNT: 1 } })).toEqual({ tests: [] })
    expect(await ask({})).toEqual({ tests: [] })
  })
})

describe('POST …/test_files', () => {
  it('knows the times of files, in milliseconds', async () => {
    const answer = await post('test_files', {
      paths: ['spec/a_spec.rb', 'spec/slow_spec.rb', 'spec/new_spec.rb'],
    })
    expect([answer.status, answer.body]).toEqual([
      200,
      { 'spec/a_spec.rb': 10_000, 'spec/slow_spec.rb': 60_000 },
    ])
  })
})

it('POST …/test_plan_metadata takes what a client says', async () => {
  const answer = await post('test_plan_metadata', {
    version: '2.11.0',
    timeline: [],
    statistics: { total: 1 },
  })
  expect([answer.status, answer.body]).toEqual([200, {}])
})
