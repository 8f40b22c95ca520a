import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aTeam,
  aToken,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { aBuild, applyEvent, jobNamed, runJob, startJob, type TestBuild } from '../../../../test/runs.ts'
import type { Summary } from './schema.ts'

const app = useApp()

interface Scene {
  org: TestOrganization
  admin: TestUser
  pipeline: { id: string; slug: string; path: string }
}

async function aScene(configuration: string): Promise<Scene> {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  return { org, admin, pipeline: await aPipeline(app, org, configuration) }
}

const pathOf = ({ pipeline }: Scene, build: TestBuild) =>
  `${pipeline.path}/builds/${build.number}/failure_summary`

async function summaryOf(scene: Scene, build: TestBuild, query = ''): Promise<Summary> {
  const answer = await app.request('GET', pathOf(scene, build) + query, { token: scene.admin.token })
  expect(answer.status).toBe(200)
  return answer.body as unknown as Summary
}

const namesOf = (summary: Summary) =>
  summary.jobs.map(({ step_key, name, command }) => step_key ?? name ?? command)

describe('GET B/failure_summary', () => {
  it('shows failed, timed out and expired jobs and lost agents with their reasons, hard failures first', async () => {
    const scene = await aScene(`
      - { command: soft, key: soft, soft_fail: true }
      - { command: plain, key: plain, label: "Plain one" }
      - { command: slow, key: slow }
      - { command: late, key: late }
      - { command: lost, key: lost }
      - { command: killed, key: killed }
      - { command: fine, key: fine }
      - { command: left, key: left, if: "false" }
      - { command: after, key: after, depends_on: plain }`)
    const build = await aBuild(app, scene.org, scene.pipeline, { message: 'Break it\u202E' })
    await runJob(app, build, 'soft', 7)
    await runJob(app, build, 'plain', 1)
    await applyEvent(app, build, { type: 'time_out', jobId: await startJob(app, build, 'slow') })
    await applyEvent(app, build, { type: 'expire', jobId: await jobNamed(app, build, 'late') })
    await applyEvent(app, build, { type: 'lose_agent', jobId: await startJob(app, build, 'lost') })
    const killed = await startJob(app, build, 'killed')
    await applyEvent(app, build, {
      type: 'finish',
      jobId: killed,
      exitStatus: -1,
      signal: 'SIGKILL',
      signalReason: 'process_run_error',
    })
    await runJob(app, build, 'fine')
    const summary = await summaryOf(scene, build)
    expect(namesOf(summary)).toEqual(['plain', 'slow', 'late', 'lost', 'killed', 'soft'])
    const [plain, slow, late, lost, kill, soft] = summary.jobs
    const page = `${baseUrl}/${scene.org.slug}/${scene.pipeline.slug}/builds/${build.number}`
    expect(plain).toMatchObject({
      type: 'script',
      name: 'Plain one',
      state: 'failed',
      soft_failed: false,
      exit_status: 1,
      reason: 'exit 1',
      command: 'plain',
      attempt: 1,
      url: `${baseUrl}${scene.pipeline.path}/builds/${build.number}/jobs/${plain?.id}`,
      web_url: `${page}#${plain?.id}`,
      log: { status: 'empty', rows: [], web_url: null },
    })
    expect(slow).toMatchObject({ state: 'timing_out', reason: 'exceeds its timeout' })
    expect(late).toMatchObject({ state: 'expired', reason: 'no agent took it in time' })
    expect(lost).toMatchObject({ state: 'failed', reason: 'agent lost' })
    expect(kill).toMatchObject({
      signal: 'SIGKILL',
      signal_reason: 'process_run_error',
      reason: 'signal KILL',
    })
    expect(soft).toMatchObject({ state: 'failed', soft_failed: true, exit_status: 7 })
    expect(summary.build).toMatchObject({
      id: build.id,
      number: build.number,
      pipeline_slug: scene.pipeline.slug,
      state: 'failing',
      blocked: false,
      message: 'Break it',
      branch: 'main',
      web_url: page,
    })
    expect(summary.counts).toEqual({
      jobs: 9,
      hard_failures: 5,
      soft_failures: 1,
      passed: 1,
      running: 0,
      waiting: 0,
      canceled: 0,
      not_run: 1,
      left_out: 1,
      annotations: 0,
      error_annotations: 0,
      failed_tests: 0,
    })
    expect(summary.truncated).toBeNull()
  })

  it('leaves out jobs that were retried', async () => {
    const scene = await aScene('[{ command: a, key: a, retry: { automatic: { exit_status: 3, limit: 1 } } }]')
    const build = await aBuild(app, scene.org, scene.pipeline)
    await runJob(app, build, 'a', 3)
    expect(await summaryOf(scene, build)).toMatchObject({
      jobs: [],
      counts: { hard_failures: 0, waiting: 1 },
    })
    await runJob(app, build, 'a', 1)
    const { jobs, counts } = await summaryOf(scene, build)
    expect(jobs).toMatchObject([{ exit_status: 1, attempt: 2 }])
    expect(counts).toMatchObject({ jobs: 1, hard_failures: 1 })
  })

  it('shows a job that waits for a key no step has, and a trigger job with its build', async () => {
    const scene = await aScene('[{ command: a, key: a, depends_on: nowhere }]')
    const build = await aBuild(app, scene.org, scene.pipeline)
    const { jobs } = await summaryOf(scene, build)
    const state = jobs.map(({ reason }) => reason)
    expect(state).toEqual(['no step has the key "nowhere"'])
    const target = await aPipeline(app, scene.org, '[{ command: child }]')
    const parent = {
      ...scene,
      pipeline: await aPipeline(app, scene.org, `[{ trigger: ${target.slug}, key: t }]`),
    }
    const outer = await aBuild(app, scene.org, parent.pipeline)
    const { rows } = await sql<{ id: string; number: number }>`
      select id, number from builds where pipeline_id = ${target.id}`.execute(app.db)
    const [child] = rows
    if (child === undefined) throw new Error('The trigger made no build.')
    await runJob(app, { ...child, organizationId: scene.org.id }, 'child', 1)
    expect((await summaryOf(parent, outer)).jobs).toMatchObject([
      {
        type: 'trigger',
        triggered_build_url: `${baseUrl}${target.path}/builds/${child.number}`,
        log: { status: 'none' },
      },
    ])
  })

  it('shows one job of each step before the second of any, and says how many it left out', async () => {
    const scene = await aScene('[{ command: a, parallelism: 5, key: a }, { command: b, key: b }]')
    const build = await aBuild(app, scene.org, scene.pipeline)
    await sql`update jobs set state = 'failed', exit_status = 1, finished_at = now() where build_id = ${build.id}`.execute(
      app.db,
    )
    const summary = await summaryOf(scene, build, '?max_jobs=3')
    expect(namesOf(summary)).toEqual(['a', 'b', 'a'])
    expect(summary.counts.hard_failures).toBe(6)
    expect(summary.truncated).toMatchObject({ jobs: 3, rows: 0, tests: 0 })
    expect(summary.truncated?.reason).toContain('max_jobs=3 (at most 100)')
    expect((await summaryOf(scene, build, '?max_jobs=0')).jobs).toEqual([])
  })

  it('shows why a build goes no further: unblocking, queues and steps, one entry for each place', async () => {
    const scene = await aScene(
      '[{ block: "Ship it?" }, { command: ship, label: Ship }, { command: now, key: now, depends_on: [], parallelism: 3 }]',
    )
    const build = await aBuild(app, scene.org, scene.pipeline)
    const summary = await summaryOf(scene, build)
    expect(summary.waiting).toMatchObject([
      { name: 'Ship it?', state: 'blocked', code: 'blocked_by', jobs: 1 },
      { step_key: 'now', state: 'scheduled', code: 'no_queue', jobs: 3 },
      { name: 'Ship', code: 'blocked_by', reason: 'The job waits for somebody to unblock "Ship it?".' },
    ])
    expect(summary.counts.waiting).toBe(5)
    expect(summary.waiting[0]?.web_url).toContain(`#${summary.waiting[0]?.job_id}`)
  })

  it('answers for blocked, passed and canceled builds', async () => {
    const scene = await aScene('[{ command: a, key: a }, { block: Go }]')
    const build = await aBuild(app, scene.org, scene.pipeline)
    await runJob(app, build, 'a')
    expect(await summaryOf(scene, build)).toMatchObject({
      build: { state: 'passed', blocked: true },
      jobs: [],
      waiting: [{ code: 'blocked_by' }],
      first_bad: null,
      truncated: null,
    })
    const other = { ...scene, pipeline: await aPipeline(app, scene.org, '[{ command: a }, { command: b }]') }
    const passed = await aBuild(app, scene.org, other.pipeline)
    await runJob(app, passed, 'a')
    await runJob(app, passed, 'b')
    expect(await summaryOf(other, passed)).toMatchObject({
      build: { state: 'passed' },
      jobs: [],
      waiting: [],
    })
    const canceled = await aBuild(app, scene.org, other.pipeline)
    await applyEvent(app, canceled, { type: 'cancel_build', reason: null })
    expect(await summaryOf(other, canceled)).toMatchObject({
      build: { state: 'canceled' },
      jobs: [],
      counts: { canceled: 2, jobs: 2 },
    })
  })

  it('names the last build of the branch that passed and the first one that failed', async () => {
    const scene = await aScene('[{ command: a, key: a }]')
    const run = async (exitStatus: number, given: { commit?: string; branch?: string } = {}) => {
      const build = await aBuild(app, scene.org, scene.pipeline, given)
      await runJob(app, build, 'a', exitStatus)
      return build
    }
    const hash = (digit: string) => digit.repeat(40)
    const alone = await run(1, { commit: hash('1') })
    expect((await summaryOf(scene, alone)).first_bad).toBeNull()
    const passed = await run(0, { commit: hash('2') })
    await run(1, { commit: hash('3'), branch: 'other' })
    const first = await run(1, { commit: hash('4') })
    const newest = await run(1, { commit: hash('5') })
    const expected = {
      last_passed: { number: passed.number, commit: hash('2'), state: 'passed' },
      first_failed: { number: first.number, commit: hash('4'), state: 'failed' },
      commits: `${hash('2')}..${hash('4')}`,
    }
    expect((await summaryOf(scene, newest)).first_bad).toMatchObject(expected)
    expect((await summaryOf(scene, first)).first_bad).toMatchObject(expected)
    expect((await summaryOf(scene, newest)).first_bad?.last_passed.web_url).toBe(
      `${baseUrl}/${scene.org.slug}/${scene.pipeline.slug}/builds/${passed.number}`,
    )
    const unnamed = await run(1, { commit: 'HEAD' })
    await run(0, { commit: hash('6') })
    expect((await summaryOf(scene, unnamed)).first_bad).toMatchObject(expected)
  })

  it('shows annotations with the style error as text', async () => {
    const scene = await aScene('[{ command: a, key: a }]')
    const build = await aBuild(app, scene.org, scene.pipeline)
    const annotate = (body: object) =>
      app.request('POST', `${scene.pipeline.path}/builds/${build.number}/annotations`, {
        token: scene.admin.token,
        body,
      })
    await annotate({
      body: '<p>Expected <b>Vec&lt;T&gt;</b>, got List<String>\u202E</p>\n\n\n- one\n- two',
      style: 'error',
      context: 'types',
    })
    await annotate({ body: 'x'.repeat(5000), style: 'error', context: 'long', priority: 1 })
    await annotate({ body: 'All good', style: 'success', context: 'fine' })
    const summary = await summaryOf(scene, build)
    expect(summary.annotations).toMatchObject([
      { context: 'types', job_id: null, text: 'Expected Vec<T> , got List<String>\n\n- one\n- two' },
      { context: 'long', text: `${'x'.repeat(4000)}…` },
    ])
    expect(summary.counts).toMatchObject({ annotations: 3, error_annotations: 2 })
    expect(summary.truncated).toMatchObject({ texts: 1, annotations: 0 })
  })

  it('is found by those who may read the build, and by nobody else', async () => {
    const scene = await aScene('[{ command: a }]')
    const build = await aBuild(app, scene.org, scene.pipeline)
    const path = pathOf(scene, build)
    const get = async (token: string, at = path) => (await app.request('GET', at, { token })).status
    const stranger = await anAdmin(app, await anOrganization(app))
    expect(await get(stranger.token)).toBe(404)
    expect(await get(scene.admin.token, path.replace(/builds\/\d+/, 'builds/77'))).toBe(404)
    expect(await get(await aToken(app, scene.admin, { scopes: ['read_pipelines', 'read_build_logs'] }))).toBe(
      403,
    )
    const member = await aMember(app, scene.org)
    expect(await get(member.token)).toBe(200)
    await app.request('POST', `${scene.org.path}/teams/enable`, { token: scene.admin.token })
    expect(await get(member.token)).toBe(404)
    await aTeam(app, scene.org, scene.admin)
    expect(await get(scene.admin.token)).toBe(200)
  })

  it.each(['max_bytes=8191', 'max_bytes=262145', 'max_bytes=many', 'max_jobs=-1', 'max_jobs=101'])(
    'refuses %s with 400',
    async (query) => {
      const scene = await aScene('[{ command: a }]')
      const build = await aBuild(app, scene.org, scene.pipeline)
      const answer = await app.request('GET', `${pathOf(scene, build)}?${query}`, {
        token: scene.admin.token,
      })
      expect(answer.status).toBe(400)
    },
  )
})
