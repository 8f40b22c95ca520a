import { beforeAll, describe, expect, it } from 'vitest'
import { useApp, type Json } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aQueue,
  aTeam,
  aToken,
  inTeam,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { aBuild, jobNamed, runJob, startJob, applyEvent } from '../../../../test/runs.ts'
import { hashToken, newId } from '../../../lib/ids.ts'

const app = useApp()

let org: TestOrganization
let admin: TestUser
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org, { name: 'Grace Example' })
})

const get = (path: string, token = admin.token) => app.request('GET', path, { token })

/** A build as the API shows it. */
async function show(pipeline: { path: string }, number: number, query = ''): Promise<Json> {
  const answer = await get(`${pipeline.path}/builds/${number}${query}`)
  expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.any(String)])
  return answer.body
}

const jobsOf = (build: Json) => build.jobs as unknown as Json[]

describe('GET /organizations/{org.slug}/pipelines/{pipeline.slug}/builds/{number}', () => {
  it('shows every field of a build', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: make }]')
    const { number, id } = await aBuild(app, org, pipeline, {
      creatorId: admin.id,
      author: { name: 'Ada', email: 'ada@example.com' },
      commit: 'abc123',
      branch: 'feature/"quoted"',
      tag: 'v1',
      message: 'Line one\nLine "two" \\ 🎉',
      env: { DEPLOY: '1' },
      metaData: { 'release:name': 'one', another: 'two' },
      pullRequest: { id: '8902', base: 'main', repository: 'git://x/y.git', labels: ['bug'], draft: false },
    })
    const { jobs: _jobs, pipeline: _pipeline, ...build } = await show(pipeline, number)
    const url = `http://millrace.test${pipeline.path}/builds/${number}`
    expect(build).toEqual({
      id,
      graphql_id: Buffer.from(`Build---${id}`).toString('base64'),
      url,
      web_url: `http://millrace.test/${org.slug}/${pipeline.slug}/builds/${number}`,
      number,
      state: 'scheduled',
      blocked: false,
      blocked_state: '',
      cancel_reason: null,
      message: 'Line one\nLine "two" \\ 🎉',
      commit: 'abc123',
      branch: 'feature/"quoted"',
      tag: 'v1',
      env: { DEPLOY: '1' },
      source: 'api',
      author: { name: 'Ada', email: 'ada@example.com' },
      creator: {
        id: admin.id,
        graphql_id: Buffer.from(`User---${admin.id}`).toString('base64'),
        name: 'Grace Example',
        email: admin.email,
        avatar_url: `http://millrace.test/avatars/${admin.id}`,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      scheduled_at: build.created_at,
      started_at: null,
      failing_at: null,
      finished_at: null,
      meta_data: { another: 'two', 'release:name': 'one' },
      pull_request: { id: '8902', base: 'main', repository: 'git://x/y.git' },
      merge_queue: null,
      rebuilt_from: null,
      triggered_from: null,
      job_state_counts: { total: 1, states: { scheduled: 1 } },
    })
  })

  it('embeds the whole pipeline, the same as the pipeline itself shows', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: make }]')
    const { number } = await aBuild(app, org, pipeline)
    const build = await show(pipeline, number)
    expect(build.pipeline).toEqual((await get(pipeline.path)).body)
    expect(build.pipeline?.scheduled_builds_count).toBe(1)
    expect(build.pipeline?.provider?.webhook_url).toMatch(/^http/)
  })

  it('hides the webhook URL from a token without write_pipelines', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: make }]')
    const { number } = await aBuild(app, org, pipeline)
    const token = await aToken(app, admin, { scopes: ['read_builds'] })
    const answer = await get(`${pipeline.path}/builds/${number}`, token)
    expect(answer.body.pipeline?.provider?.webhook_url).toBe('')
  })

  it('shows every field of a command job', async () => {
    const cluster = await aCluster(app, org, admin)
    const queue = await aQueue(app, cluster, admin, { key: 'big' })
    const pipeline = await aPipeline(
      app,
      org,
      `
steps:
  - label: ":hammer: Build %n"
    key: build
    command: ["make", "make install"]
    agents: { queue: big, os: linux }
    artifact_paths: ["dist/*", "log/*"]
    priority: 5
    parallelism: 2
`,
      { cluster_id: cluster.id },
    )
    const { number } = await aBuild(app, org, pipeline)
    const [, job] = jobsOf(await show(pipeline, number))
    const build = `http://millrace.test${pipeline.path}/builds/${number}`
    const at = expect.stringMatching(/Z$/)
    expect(job).toEqual({
      id: job?.id,
      graphql_id: Buffer.from(`Job---${job?.id}`).toString('base64'),
      type: 'script',
      name: ':hammer: Build 1',
      step_key: 'build',
      step: { id: expect.any(String), signature: null },
      priority: { number: 5 },
      agent_query_rules: ['queue=big', 'os=linux'],
      state: 'scheduled',
      build_url: build,
      web_url: `http://millrace.test/${org.slug}/${pipeline.slug}/builds/${number}#${job?.id}`,
      log_url: `${build}/jobs/${job?.id}/log`,
      raw_log_url: `${build}/jobs/${job?.id}/log.txt`,
      artifact_url: `${build}/jobs/${job?.id}/artifacts`,
      artifacts_url: `${build}/jobs/${job?.id}/artifacts`,
      command: 'make\nmake install',
      soft_failed: false,
      exit_status: null,
      signal: null,
      signal_reason: null,
      broken_reason: null,
      artifact_paths: 'dist/*;log/*',
      agent: null,
      created_at: at,
      scheduled_at: at,
      runnable_at: at,
      started_at: null,
      finished_at: null,
      expired_at: null,
      concurrency_wait_time_ms: null,
      retried: false,
      retried_in_job_id: null,
      retried_by: null,
      retries_count: 0,
      retry_source: null,
      retry_type: null,
      parallel_group_index: 1,
      parallel_group_total: 2,
      matrix: null,
      cluster_id: cluster.id,
      cluster_url: `http://millrace.test${cluster.path}`,
      cluster_queue_id: queue.id,
      cluster_queue_url: `http://millrace.test${queue.path}`,
    })
  })

  it('shows the agent that runs a job', async () => {
    const cluster = await aCluster(app, org, admin)
    const queue = await aQueue(app, cluster, admin)
    const token = await app.request('POST', `${cluster.path}/tokens`, {
      token: admin.token,
      body: { description: 'Agents' },
    })
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a }]', { cluster_id: cluster.id })
    const build = await aBuild(app, org, pipeline)
    const id = newId()
    await app.db
      .insertInto('agents')
      .values({
        id,
        organization_id: org.id,
        cluster_id: cluster.id,
        queue_id: queue.id,
        cluster_token_id: String(token.body.id),
        name: 'agent "one"',
        hostname: 'host',
        connection_state: 'connected',
        ip_address: '10.0.0.1',
        user_agent: 'agent/1.0',
        session_hash: hashToken(id),
        created_at: '2026-01-02T03:04:05.600Z',
      })
      .execute()
    const jobId = await startJob(app, build, 'a')
    await app.db.updateTable('jobs').set({ agent_id: id }).where('id', '=', jobId).execute()
    const [job] = jobsOf(await show(pipeline, build.number))
    expect(job?.agent).toEqual({
      id,
      graphql_id: Buffer.from(`Agent---${id}`).toString('base64'),
      url: `http://millrace.test${org.path}/agents/${id}`,
      web_url: `http://millrace.test/organizations/${org.slug}/clusters/${cluster.id}/queues/${queue.id}/agents/${id}`,
      name: 'agent "one"',
      connection_state: 'connected',
      hostname: 'host',
      ip_address: '10.0.0.1',
      user_agent: 'agent/1.0',
      creator: expect.objectContaining({ id: admin.id }),
      created_at: '2026-01-02T03:04:05.600Z',
    })
  })

  it('shows matrix values, group keys, signatures and why a job is broken', async () => {
    const pipeline = await aPipeline(
      app,
      org,
      `
steps:
  - group: Tests
    key: tests
    steps:
      - command: test {{matrix.os}}
        matrix: { setup: { os: [linux, "mac \\"os\\""] } }
        signature: { algorithm: EdDSA, signed_fields: [command, env], value: "ey..sig" }
  - command: other
    if: build.branch == "other"
`,
    )
    const { number } = await aBuild(app, org, pipeline)
    const [linux, mac, other] = jobsOf(await show(pipeline, number))
    expect([linux?.matrix, mac?.matrix]).toEqual([{ os: 'linux' }, { os: 'mac "os"' }])
    expect([linux?.group_key, mac?.group_key]).toEqual(['tests', 'tests'])
    expect(linux?.step?.signature).toEqual({
      value: 'ey..sig',
      algorithm: 'EdDSA',
      signed_fields: ['command', 'env'],
    })
    expect(other).toMatchObject({ state: 'broken', broken_reason: 'conditional_failed' })
    expect(Object.keys(other ?? {})).not.toContain('group_key')
  })

  it('shows how a job ended, and its promise only once it was made', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a, soft_fail: true }, { command: b }]')
    const build = await aBuild(app, org, pipeline)
    const jobId = await startJob(app, build, 'a')
    await applyEvent(app, build, { type: 'promise', jobId, exitStatus: 3 })
    const [promised] = jobsOf(await show(pipeline, build.number))
    expect(promised).toMatchObject({ state: 'running', promised_exit_status: 3 })
    expect(promised?.promised_exit_status_at).toMatch(/Z$/)
    await applyEvent(app, build, {
      type: 'finish',
      jobId,
      exitStatus: 3,
      signal: 'SIGTERM',
      signalReason: 'agent_stop',
    })
    const [ended, other] = jobsOf(await show(pipeline, build.number))
    expect(ended).toMatchObject({
      state: 'failed',
      soft_failed: true,
      exit_status: 3,
      signal: 'SIGTERM',
      signal_reason: 'agent_stop',
      finished_at: expect.stringMatching(/Z$/),
    })
    expect(Object.keys(other ?? {}).filter((key) => key.startsWith('promised'))).toEqual([])
  })

  it('shows waiter, manual and trigger jobs with the fields of their own', async () => {
    const child = await aPipeline(app, org, 'steps: [{ command: make }]')
    const pipeline = await aPipeline(
      app,
      org,
      `
steps:
  - trigger: ${child.slug}
    label: Child
    async: true
  - wait
  - block: "Ship it?"
`,
    )
    const build = await aBuild(app, org, pipeline)
    const [trigger, waiter, manual] = jobsOf(await show(pipeline, build.number))
    expect(trigger).toMatchObject({
      type: 'trigger',
      name: 'Child',
      async: true,
      log_url: null,
      command: null,
    })
    const [made] = (await get(`${child.path}/builds`)).list
    expect(trigger?.triggered_build).toEqual({
      id: made?.id,
      number: 1,
      url: `http://millrace.test${child.path}/builds/1`,
      web_url: `http://millrace.test/${org.slug}/${child.slug}/builds/1`,
    })
    expect(made).toMatchObject({
      source: 'trigger_job',
      triggered_from: {
        build_id: build.id,
        build_number: build.number,
        build_pipeline_slug: pipeline.slug,
      },
    })
    expect(waiter).toMatchObject({ type: 'waiter', state: 'passed', retries_count: null })
    expect(manual).toMatchObject({
      type: 'manual',
      name: 'Ship it?',
      label: 'Ship it?',
      state: 'blocked',
      unblockable: true,
      unblock_url: `http://millrace.test${pipeline.path}/builds/${build.number}/jobs/${manual?.id}/unblock`,
      unblocked_by: null,
      unblocked_at: null,
    })
    await applyEvent(app, build, { type: 'unblock', jobId: String(manual?.id), answers: {}, by: admin.id })
    const [, , unblocked] = jobsOf(await show(pipeline, build.number))
    expect(unblocked).toMatchObject({
      state: 'unblocked',
      unblockable: false,
      unblocked_by: { id: admin.id, email: admin.email },
      unblocked_at: expect.stringMatching(/Z$/),
    })
  })

  it('keeps the state a blocked build counts as, and says that it is blocked', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ block: Ship?, blocked_state: failed }]')
    const { number } = await aBuild(app, org, pipeline)
    expect(await show(pipeline, number)).toMatchObject({
      state: 'failed',
      blocked: true,
      blocked_state: 'failed',
    })
  })

  it('says when the build first failed, also after a retry has passed', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a }, { command: b }]')
    const build = await aBuild(app, org, pipeline)
    await runJob(app, build, 'a', 1)
    const failing = await show(pipeline, build.number)
    expect(failing).toMatchObject({ state: 'failing', started_at: expect.any(String) })
    await applyEvent(app, build, {
      type: 'retry',
      jobId: await jobNamed(app, build, 'a'),
      parentCanceled: false,
    })
    await runJob(app, build, 'a')
    await runJob(app, build, 'b')
    expect(await show(pipeline, build.number)).toMatchObject({
      state: 'passed',
      failing_at: failing.failing_at,
      finished_at: expect.any(String),
    })
  })

  it('shows limiting and reserved jobs as scheduled', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a }]')
    const build = await aBuild(app, org, pipeline)
    await applyEvent(app, build, { type: 'reserve', jobId: await jobNamed(app, build, 'a') })
    const shown = await show(pipeline, build.number, '?job_states[]=scheduled')
    expect(jobsOf(shown).map(({ state }) => state)).toEqual(['scheduled'])
    expect(shown.job_state_counts).toEqual({ total: 1, states: { scheduled: 1 } })
  })

  it('leaves out jobs and pipeline when asked to', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a }]')
    const { number } = await aBuild(app, org, pipeline)
    const whole = Object.keys(await show(pipeline, number))
    const without = (key: string) => whole.filter((name) => name !== key)
    expect(Object.keys(await show(pipeline, number, '?exclude_jobs=true'))).toEqual(without('jobs'))
    expect(Object.keys(await show(pipeline, number, '?exclude_pipeline=TRUE'))).toEqual(without('pipeline'))
    expect(await show(pipeline, number, '?exclude_jobs=true')).toMatchObject({
      job_state_counts: { total: 1 },
    })
  })

  it('shows only the latest run of a job unless include_retried_jobs asks for all', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a, retry: { automatic: true } }]')
    const build = await aBuild(app, org, pipeline)
    await runJob(app, build, 'a', 1)
    const [latest, ...none] = jobsOf(await show(pipeline, build.number))
    expect([latest?.state, latest?.retries_count, none]).toEqual(['scheduled', 1, []])
    const shown = await show(pipeline, build.number, '?include_retried_jobs=true')
    const [first, second] = jobsOf(shown)
    expect(first).toMatchObject({
      state: 'failed',
      retried: true,
      retried_in_job_id: latest?.id,
      retry_type: 'automatic',
      retries_count: 0,
    })
    expect(second).toMatchObject({
      id: latest?.id,
      retried: false,
      retry_source: { job_id: first?.id, retry_type: 'automatic' },
    })
    expect(shown.job_state_counts).toEqual({ total: 2, states: { failed: 1, scheduled: 1 } })
  })

  it('shows only jobs in the states that job_states[] names, and counts them all', async () => {
    const pipeline = await aPipeline(
      app,
      org,
      'steps: [{ command: a }, { command: b }, wait, { command: c }]',
    )
    const build = await aBuild(app, org, pipeline)
    await runJob(app, build, 'a')
    const shown = await show(pipeline, build.number, '?job_states[]=passed&job_states[]=waiting')
    expect(jobsOf(shown).map(({ state, type }) => [state, type])).toEqual([
      ['passed', 'script'],
      ['waiting', 'waiter'],
      ['waiting', 'script'],
    ])
    expect(shown.job_state_counts).toEqual({ total: 4, states: { passed: 1, scheduled: 1, waiting: 2 } })
    const answer = await get(`${pipeline.path}/builds/${build.number}?job_states[]=sleeping`)
    expect(answer.status).toBe(422)
    expect(answer.body.message).toMatch(/^Unknown job_states "sleeping"; accepted are pending, waiting, /)
  })

  it('adds test data under either name when asked for', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a }]')
    const { number } = await aBuild(app, org, pipeline)
    const shown = await show(pipeline, number, '?include_test_analytics=true')
    expect([shown.test_analytics, shown.test_engine]).toEqual([{ runs: [] }, undefined])
    expect((await show(pipeline, number, '?include_test_engine=true')).test_engine).toEqual({ runs: [] })
  })

  it('answers 404 to numbers that name no build of the pipeline', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a }]')
    const other = await aPipeline(app, org, 'steps: [{ command: a }]')
    const build = await aBuild(app, org, other)
    for (const name of [build.number, 0, -1, '1.5', 'abc', 99_999_999_999, build.id]) {
      const answer = await get(`${pipeline.path}/builds/${name}`)
      expect([answer.status, answer.body.message]).toEqual([404, 'No build found'])
    }
    const answer = await get(`${org.path}/pipelines/nothing/builds/1`)
    expect([answer.status, answer.body.message]).toEqual([404, 'No pipeline found'])
  })

  it('answers 404 to members whose teams may not see the pipeline, and 403 without the scope', async () => {
    const elsewhere = await anOrganization(app)
    const owner = await anAdmin(app, elsewhere)
    const member = await aMember(app, elsewhere)
    const team = await aTeam(app, elsewhere, owner)
    await inTeam(app, team, owner, member)
    const [hidden, seen] = [
      await aPipeline(app, elsewhere, 'steps: [{ command: a }]'),
      await aPipeline(app, elsewhere, 'steps: [{ command: a }]'),
    ]
    await app.db
      .updateTable('organizations')
      .set({ teams_enabled_at: new Date().toISOString() })
      .where('id', '=', elsewhere.id)
      .execute()
    await app.db
      .insertInto('team_pipelines')
      .values({
        organization_id: elsewhere.id,
        team_id: team.id,
        pipeline_id: seen.id,
        access_level: 'read_only',
      })
      .execute()
    await aBuild(app, elsewhere, hidden)
    await aBuild(app, elsewhere, seen)
    expect((await get(`${hidden.path}/builds/1`, member.token)).body.message).toBe('No pipeline found')
    const shown = await get(`${seen.path}/builds/1`, member.token)
    expect([shown.status, shown.body.pipeline?.provider?.webhook_url]).toEqual([200, ''])
    const create = await app.request('POST', `${seen.path}/builds`, {
      token: member.token,
      body: { commit: 'HEAD', branch: 'main' },
    })
    expect([create.status, create.body.message]).toEqual([403, 'Forbidden'])
    for (const verb of ['cancel', 'rebuild', 'retry_failed_jobs']) {
      const answer = await app.request('PUT', `${seen.path}/builds/1/${verb}`, { token: member.token })
      expect([verb, answer.status]).toEqual([verb, 403])
    }
    for (const path of [`${elsewhere.path}/builds`, '/v2/builds']) {
      const listed = await get(path, member.token)
      expect(listed.list.map(({ pipeline }) => pipeline?.id)).toEqual([seen.id])
    }
    const scopeless = await aToken(app, admin, { scopes: ['read_pipelines'] })
    expect((await get(`${org.path}/builds`, scopeless)).body.message).toBe(
      "Your access token doesn't have the read_builds scope",
    )
  })
})
