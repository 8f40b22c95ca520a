import { beforeAll, describe, expect, it } from 'vitest'
import { sortedStatuses, useApp, type Json } from '../../../../test/app.ts'
import {
  anAdmin,
  anOrganization,
  aMember,
  aPipeline,
  aToken,
  auditTrail,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import {
  aBuild,
  buildState,
  jobNamed,
  jobsOf,
  runJob,
  startJob,
  statesOf,
  applyEvent,
} from '../../../../test/runs.ts'

const app = useApp()

let org: TestOrganization
let admin: TestUser
let pipeline: { id: string; slug: string; path: string }
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org, { name: 'Grace Example' })
  pipeline = await aPipeline(app, org, 'steps: [{ command: a }]')
})

const post = (body: unknown, path = pipeline.path, token = admin.token) =>
  app.request('POST', `${path}/builds`, { token, body })

const put = (path: string, body?: unknown, token = admin.token) =>
  app.request('PUT', path, { token, ...(body === undefined ? {} : { body }) })

const minimal = { commit: 'HEAD', branch: 'main' }

describe('POST /organizations/{org.slug}/pipelines/{pipeline.slug}/builds', () => {
  it('creates a scheduled build of the commit and branch', async () => {
    const answer = await post(minimal)
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      state: 'scheduled',
      source: 'api',
      commit: 'HEAD',
      branch: 'main',
      message: null,
      env: {},
      meta_data: {},
      pull_request: null,
      creator: { id: admin.id },
      author: { name: 'Grace Example', email: admin.email },
      pipeline: { id: pipeline.id },
      jobs: [{ command: 'a', state: 'scheduled' }],
    })
    const got = await app.request('GET', `${pipeline.path}/builds/${String(answer.body.number)}`, {
      token: admin.token,
    })
    expect({ ...answer.body, job_state_counts: got.body.job_state_counts }).toEqual(got.body)
  })

  it('takes every field', async () => {
    const answer = await post({
      ...minimal,
      author: { name: 'Ada', email: 'ada@example.com' },
      clean_checkout: true,
      env: { TEXT: 'x', COUNT: 3, RATE: 0.5, ON: true },
      ignore_pipeline_branch_filters: true,
      message: 'Hello',
      meta_data: { text: 'x', count: 3, on: false },
      pull_request_base_branch: 'main',
      pull_request_id: 8902,
      pull_request_labels: ['bug', 'urgent'],
      pull_request_repository: 'git://host/org/repo.git',
      unknown: 1,
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      author: { name: 'Ada', email: 'ada@example.com' },
      env: { TEXT: 'x', COUNT: '3', RATE: '0.5', ON: 'true' },
      message: 'Hello',
      meta_data: { text: 'x', count: '3', on: 'false' },
      pull_request: { id: '8902', base: 'main', repository: 'git://host/org/repo.git' },
    })
    const kept = await app.db
      .selectFrom('builds')
      .select(['clean_checkout', 'pull_request'])
      .where('id', '=', String(answer.body.id))
      .executeTakeFirstOrThrow()
    expect(kept).toMatchObject({ clean_checkout: true, pull_request: { labels: ['bug', 'urgent'] } })
  })

  it('takes what clients send for fields they leave empty', async () => {
    const answer = await post({
      ...minimal,
      message: '',
      author: {},
      clean_checkout: false,
      env: null,
      meta_data: null,
      pull_request_id: 0,
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({ author: { email: admin.email }, pull_request: null, env: {} })
  })

  // Errors, Create build, 422: validation failure with `errors` array.
  it.each([
    [{}, 'commit', 'is required'],
    [{ commit: 'HEAD' }, 'branch', 'is required'],
    [{ ...minimal, commit: '' }, 'commit', 'must not be empty'],
    [{ ...minimal, branch: '  ' }, 'branch', 'must not be blank'],
    [{ ...minimal, commit: 12 }, 'commit', 'must be a string'],
    [{ ...minimal, branch: 'x'.repeat(501) }, 'branch', 'must have at most 500 characters'],
    [{ ...minimal, message: 12 }, 'message', 'must be a string or null'],
    [{ ...minimal, clean_checkout: 'yes' }, 'clean_checkout', 'must be a boolean or null'],
    [{ ...minimal, env: { A: { b: 1 } } }, 'env.A', 'must be a string, a number or a boolean'],
    [{ ...minimal, env: { A: null } }, 'env.A', 'must be a string, a number or a boolean'],
    [{ ...minimal, env: ['A'] }, 'env', 'must be an object or null'],
    [
      { ...minimal, env: { 'A=B': '1' } },
      'env.A=B',
      'must have a name of 1 to 255 characters without an equals sign',
    ],
    [{ ...minimal, meta_data: { a: [] } }, 'meta_data.a', 'must be a string, a number or a boolean'],
    [{ ...minimal, meta_data: { ' ': 'x' } }, 'meta_data. ', 'must have a key of 1 to 255 characters'],
    [{ ...minimal, meta_data: { a: 'x'.repeat(102_401) } }, 'meta_data.a', 'must have at most 102400 bytes'],
    [{ ...minimal, pull_request_id: '12' }, 'pull_request_id', 'must be an integer or null'],
    [{ ...minimal, pull_request_labels: [1] }, 'pull_request_labels[0]', 'must be a string'],
    [{ ...minimal, author: 'ada@example.com' }, 'author', 'must be an object or null'],
  ])('answers 422 with the field and what is wrong with it: %#', async (body, field, code) => {
    const answer = await post(body)
    expect([answer.status, answer.body]).toEqual([
      422,
      { message: `Validation Failed: ${field} ${code}`, errors: [{ field, code }] },
    ])
  })

  it('answers 422 with errors when the configuration cannot be read', async () => {
    const broken = await aPipeline(app, org, 'steps: [{ comand: a }]')
    const answer = await post(minimal, broken.path)
    expect([answer.status, answer.body.message]).toEqual([
      422,
      expect.stringMatching(/^Validation Failed: configuration line 1, /),
    ])
    expect(answer.body.errors?.[0]).toMatchObject({
      field: 'configuration',
      code: expect.stringContaining('line 1'),
    })
    expect(
      await post(minimal, (await aPipeline(app, org, 'steps: [{ command: a, parallelism: 9999 }]')).path),
    ).toMatchObject({
      status: 422,
      body: { message: expect.stringMatching(/^Validation Failed: ./) },
    })
  })

  // Errors, Create build, 422: a message giving the reason the build could not be created.
  it('answers 422 with the reason when the branch filter or an archived pipeline refuses', async () => {
    const filtered = await aPipeline(app, org, 'steps: [{ command: a }]', { branch_configuration: 'main' })
    const refused = await post({ ...minimal, branch: 'other' }, filtered.path)
    expect([refused.status, Object.keys(refused.body)]).toEqual([422, ['message']])
    expect(refused.body.message).toMatch(/branch "other"/)
    const ignoring = { ...minimal, branch: 'other', ignore_pipeline_branch_filters: true }
    expect((await post(ignoring, filtered.path)).status).toBe(201)
    const archived = await aPipeline(app, org, 'steps: [{ command: a }]', {
      archived_at: '2026-01-01T00:00:00Z',
    })
    const late = await post(minimal, archived.path)
    expect([late.status, late.body.message]).toEqual([422, expect.stringMatching(/archived/)])
  })

  it('gives 50 parallel builds of one pipeline 50 distinct numbers', async () => {
    const own = await aPipeline(app, org, 'steps: [{ command: a }]')
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(minimal, own.path)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    const numbers = answers.map(({ body }) => Number(body.number)).sort((a, b) => a - b)
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
    const { body } = await app.request('GET', own.path, { token: admin.token })
    expect([body.scheduled_builds_count, body.scheduled_jobs_count]).toEqual([50, 50])
  })

  it('makes one build for one Idempotency-Key, and answers the same again', async () => {
    const own = await aPipeline(app, org, 'steps: [{ command: a }]')
    const ask = () =>
      app.request('POST', `${own.path}/builds`, {
        token: admin.token,
        body: minimal,
        headers: { 'Idempotency-Key': `key of ${own.slug}` },
      })
    const first = await ask()
    const again = await ask()
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text])
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect((await app.request('GET', `${own.path}/builds`, { token: admin.token })).list).toHaveLength(1)
  })

  it('needs write_builds, and leaves an audit event', async () => {
    const reader = await aToken(app, admin, { scopes: ['read_builds'] })
    expect((await post(minimal, pipeline.path, reader)).status).toBe(403)
    const { body } = await post(minimal)
    expect((await auditTrail(app, org, 'BUILD_CREATED')).at(-1)).toMatchObject({
      actor: { uuid: admin.id },
      subject: { type: 'Build', uuid: body.id, name: `${pipeline.slug} #${String(body.number)}` },
      data: { branch: 'main', commit: 'HEAD' },
    })
  })
})

describe('PUT /organizations/{org.slug}/pipelines/{pipeline.slug}/builds/{number}/cancel', () => {
  it('cancels at once a build that no agent works on', async () => {
    const build = await aBuild(app, org, pipeline)
    const answer = await put(`${pipeline.path}/builds/${build.number}/cancel`)
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { id: build.id, state: 'canceled', cancel_reason: null, jobs: [{ state: 'canceled' }] },
    ])
    const kept = await app.db
      .selectFrom('builds')
      .select('canceled_by')
      .where('id', '=', build.id)
      .executeTakeFirstOrThrow()
    expect(kept.canceled_by).toBe(admin.id)
    expect((await auditTrail(app, org, 'BUILD_CANCELED')).at(-1)).toMatchObject({
      subject: { uuid: build.id },
      data: { reason: null },
    })
  })

  it('shows canceling until the last agent lets go, and keeps the reason', async () => {
    const build = await aBuild(app, org, pipeline)
    const jobId = await startJob(app, build, 'a')
    const path = `${pipeline.path}/builds/${build.number}`
    const answer = await put(`${path}/cancel`, { reason: 'Wrong branch' })
    expect([answer.status, answer.body.state, answer.body.cancel_reason]).toEqual([
      200,
      'canceling',
      'Wrong branch',
    ])
    await applyEvent(app, build, {
      type: 'finish',
      jobId,
      exitStatus: 1,
      signal: 'SIGTERM',
      signalReason: 'cancel',
    })
    expect((await app.request('GET', path, { token: admin.token })).body).toMatchObject({
      state: 'canceled',
      cancel_reason: 'Wrong branch',
    })
  })

  it('cancels a blocked and a failing build', async () => {
    const blocked = await aPipeline(app, org, 'steps: [{ block: b }]')
    await aBuild(app, org, blocked)
    expect((await put(`${blocked.path}/builds/1/cancel`)).body).toMatchObject({
      state: 'canceled',
      blocked: false,
    })
    const failing = await aPipeline(app, org, 'steps: [{ command: a }, { command: b }]')
    await runJob(app, await aBuild(app, org, failing), 'a', 1)
    expect((await put(`${failing.path}/builds/1/cancel`)).body.state).toBe('canceled')
  })

  // Errors, Cancel build, 422.
  it('answers 422 with the reason when the build is finished, canceled or skipped', async () => {
    const cancel = (number: number) => put(`${pipeline.path}/builds/${number}/cancel`)
    const finished = await aBuild(app, org, pipeline)
    await runJob(app, finished, 'a')
    const canceled = await aBuild(app, org, pipeline)
    await cancel(canceled.number)
    const canceling = await aBuild(app, org, pipeline)
    await startJob(app, canceling, 'a')
    await cancel(canceling.number)
    const skipped = await aBuild(app, org, pipeline)
    await applyEvent(app, skipped, { type: 'skip_build' })
    const answers = await Promise.all(
      [finished, canceled, canceling, skipped].map(({ number }) => cancel(number)),
    )
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [422, { message: 'The build is already passed.' }],
      [422, { message: 'The build is already canceled.' }],
      [422, { message: 'The build is already being canceled.' }],
      [422, { message: 'The build is already skipped.' }],
    ])
  })

  it('refuses a reason that is no text', async () => {
    const build = await aBuild(app, org, pipeline)
    const answer = await put(`${pipeline.path}/builds/${build.number}/cancel`, { reason: 1 })
    expect([answer.status, answer.body.message]).toEqual([
      422,
      'Validation failed: reason must be a string or null',
    ])
    expect(await buildState(app, build)).toBe('scheduled')
  })

  it('has one winner when several cancel at once', async () => {
    const build = await aBuild(app, org, pipeline)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => put(`${pipeline.path}/builds/${build.number}/cancel`)),
    )
    expect(sortedStatuses(answers)).toEqual([200, 422, 422, 422, 422])
    expect(
      await auditTrail(app, org, 'BUILD_CANCELED').then((all) =>
        all.filter(({ subject }) => (subject as Json)['uuid'] === (build.id as unknown)),
      ),
    ).toHaveLength(1)
  })

  it('against an agent that starts the job ends in a legal state in either order', async () => {
    const own = await aPipeline(app, org, 'steps: [{ command: a }]')
    for (let round = 0; round < 10; round++) {
      const build = await aBuild(app, org, own)
      const jobId = await jobNamed(app, build, 'a')
      await applyEvent(app, build, { type: 'assign', jobId })
      await applyEvent(app, build, { type: 'accept', jobId })
      const [started, canceled] = await Promise.all([
        applyEvent(app, build, { type: 'start', jobId }),
        put(`${own.path}/builds/${build.number}/cancel`),
      ])
      // Accepted or running, the job is on an agent: the build waits for it. Only the start can come too late.
      expect(canceled.status).toBe(200)
      expect([await buildState(app, build), await statesOf(app, build)]).toEqual([
        'canceling',
        { a: 'canceling' },
      ])
      expect(started.ok || started.reason === 'wrong_state').toBe(true)
    }
  })
})

describe('PUT /organizations/{org.slug}/pipelines/{pipeline.slug}/builds/{number}/rebuild', () => {
  it('makes a new build of the same commit, branch, message, env and pull request', async () => {
    const pull = {
      pull_request_id: 7,
      pull_request_base_branch: 'main',
      pull_request_repository: 'git://x/y.git',
      pull_request_labels: ['bug'],
    }
    const author = { name: 'Ada', email: 'ada@example.com' }
    const original = (
      await post({
        ...minimal,
        ...pull,
        author,
        message: 'Hello',
        env: { A: '1' },
        meta_data: { k: 'v' },
        branch: 'topic',
        commit: 'abc',
      })
    ).body
    const member = await aMember(app, org)
    const path = `${pipeline.path}/builds/${String(original.number)}`
    const answer = await put(`${path}/rebuild`, undefined, member.token)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      state: 'scheduled',
      source: 'api',
      number: Number(original.number) + 1,
      commit: 'abc',
      branch: 'topic',
      message: 'Hello',
      env: { A: '1' },
      meta_data: {},
      author,
      creator: { id: member.id },
      pull_request: { id: '7', base: 'main', repository: 'git://x/y.git' },
      rebuilt_from: { id: original.id, number: original.number, url: original.url },
    })
    const kept = await app.db
      .selectFrom('builds')
      .select('pull_request')
      .where('id', '=', String(answer.body.id))
      .executeTakeFirstOrThrow()
    expect(kept.pull_request).toMatchObject({ labels: ['bug'] })
    const unchanged = (await app.request('GET', path, { token: admin.token })).body
    expect(unchanged).toMatchObject({ id: original.id, state: 'scheduled', rebuilt_from: null })
    expect((await auditTrail(app, org, 'BUILD_REBUILT')).at(-1)).toMatchObject({
      actor: { uuid: member.id },
      data: { rebuilt_from: original.id },
    })
  })

  it('rebuilds from any state, and although the branch filter would now refuse', async () => {
    const own = await aPipeline(app, org, 'steps: [{ command: a }]')
    const build = await aBuild(app, org, own, { branch: 'old' })
    await applyEvent(app, build, { type: 'cancel_build', reason: null })
    await app.db
      .updateTable('pipelines')
      .set({ branch_configuration: 'main' })
      .where('id', '=', own.id)
      .execute()
    expect((await put(`${own.path}/builds/1/rebuild`)).body).toMatchObject({ number: 2, branch: 'old' })
  })

  it('answers 422 with the reason when the pipeline allows none or is archived', async () => {
    const own = await aPipeline(app, org, 'steps: [{ command: a }]')
    await aBuild(app, org, own)
    const set = (change: { allow_rebuilds: boolean; archived_at: string | null }) =>
      app.db.updateTable('pipelines').set(change).where('id', '=', own.id).execute()
    await set({ allow_rebuilds: false, archived_at: null })
    const forbidden = await put(`${own.path}/builds/1/rebuild`)
    expect([forbidden.status, forbidden.body]).toEqual([
      422,
      { message: 'The pipeline does not allow builds to be rebuilt.' },
    ])
    await set({ allow_rebuilds: true, archived_at: '2026-01-01T00:00:00Z' })
    const archived = await put(`${own.path}/builds/1/rebuild`)
    expect([archived.status, archived.body.message]).toEqual([422, expect.stringMatching(/archived/)])
    expect((await put(`${own.path}/builds/2/rebuild`)).status).toBe(404)
  })
})

describe('PUT /organizations/{org.slug}/pipelines/{pipeline.slug}/builds/{number}/retry_failed_jobs', () => {
  const commands = `
steps:
  - command: good
  - command: bad
  - command: soft
    soft_fail: true
  - command: stopped
  - command: fixed
    retry: { manual: false }
`
  async function aFailedBuild() {
    const own = await aPipeline(app, org, commands)
    const build = await aBuild(app, org, own)
    await runJob(app, build, 'good')
    for (const name of ['bad', 'soft', 'fixed']) await runJob(app, build, name, 1)
    await applyEvent(app, build, { type: 'cancel_job', jobId: await jobNamed(app, build, 'stopped') })
    return { build, path: `${own.path}/builds/${build.number}` }
  }

  it('answers 202 and retries every failure that can be retried', async () => {
    const { build, path } = await aFailedBuild()
    const answer = await put(`${path}/retry_failed_jobs`)
    expect([answer.status, answer.body.retried_jobs_count, answer.body.state]).toEqual([202, 3, 'failing'])
    expect(await statesOf(app, build)).toEqual({
      good: 'passed',
      bad: 'scheduled',
      soft: 'scheduled',
      stopped: 'scheduled',
      fixed: 'failed',
    })
    const all = (await app.request('GET', `${path}?include_retried_jobs=true`, { token: admin.token })).body
    const old = (all.jobs as unknown as Json[]).find(
      ({ command, retried }) => String(command) === 'bad' && Boolean(retried),
    )
    expect(old).toMatchObject({ retried_by: { id: admin.id }, retry_type: 'manual' })
    expect((await auditTrail(app, org, 'BUILD_FAILED_JOBS_RETRIED')).at(-1)).toMatchObject({
      subject: { uuid: build.id },
      data: { retried_jobs_count: 3 },
    })
    expect((await put(`${path}/retry_failed_jobs`)).body.retried_jobs_count).toBe(0)
  })

  it.each([
    [{ states: 'failed' }, ['bad']],
    [{ states: 'soft_failed' }, ['soft']],
    [{ states: 'canceled, failed' }, ['bad', 'stopped']],
    [{ states: 'expired,timed_out' }, []],
    [{ states: '' }, ['bad', 'soft', 'stopped']],
  ])('retries those that %j names', async (body, retried) => {
    const { build, path } = await aFailedBuild()
    const answer = await put(`${path}/retry_failed_jobs`, body)
    expect([answer.status, answer.body.retried_jobs_count]).toEqual([202, retried.length])
    const scheduled = (await jobsOf(app, build)).filter(({ state }) => state === 'scheduled')
    expect(scheduled.map(({ name }) => name)).toEqual(retried)
  })

  it('answers 400 to states it does not know', async () => {
    const { path } = await aFailedBuild()
    for (const answer of [
      await put(`${path}/retry_failed_jobs`, { states: 'passed,failed,odd' }),
      await put(`${path}/retry_failed_jobs?states=passed,odd`),
    ]) {
      expect([answer.status, answer.body]).toEqual([
        400,
        {
          message:
            'Invalid states: passed, odd. Valid states are canceled, expired, failed, soft_failed, timed_out.',
        },
      ])
    }
  })

  it('answers 422 for a canceled build', async () => {
    const build = await aBuild(app, org, pipeline)
    const path = `${pipeline.path}/builds/${build.number}`
    await put(`${path}/cancel`)
    const answer = await put(`${path}/retry_failed_jobs`)
    expect([answer.status, answer.body.message]).toEqual([422, 'Jobs of a canceled build cannot be retried.'])
  })

  it('against a cancel has one outcome, and each job is retried once', async () => {
    for (let round = 0; round < 5; round++) {
      const own = await aPipeline(app, org, 'steps: [{ command: a }, { command: b }, { command: c }]')
      const build = await aBuild(app, org, own)
      await runJob(app, build, 'a', 1)
      await runJob(app, build, 'b', 1)
      const path = `${own.path}/builds/${build.number}`
      const [retried, again, canceled] = await Promise.all([
        put(`${path}/retry_failed_jobs`),
        put(`${path}/retry_failed_jobs`),
        put(`${path}/cancel`),
      ])
      expect([202, 422]).toContain(retried.status)
      expect([202, 422]).toContain(again.status)
      expect(canceled.status).toBe(200)
      expect(await buildState(app, build)).toBe('canceled')
      const counts = [retried, again].map(({ body }) => Number(body.retried_jobs_count ?? 0))
      expect([0, 2]).toContain(counts.reduce((sum, count) => sum + count, 0))
    }
  })
})
