import { beforeAll, describe, expect, it } from 'vitest'
import { useApp, type Json } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aToken,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { aBuild, applyEvent, runJob, startJob } from '../../../../test/runs.ts'
import { uploadSteps } from '../../../conductor/upload.ts'
import { newId } from '../../../lib/ids.ts'

const app = useApp()

let org: TestOrganization
let admin: TestUser

beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
})

const get = (path: string, token = admin.token) => app.request('GET', path, { token })

async function aGraph(configuration: string) {
  const pipeline = await aPipeline(app, org, configuration)
  const build = await aBuild(app, org, pipeline, { message: 'Say "hello"' })
  const path = `${pipeline.path}/builds/${build.number}/graph`
  const read = async () => readGraph((await get(path)).body)
  return { pipeline, build, path, read }
}

type Tuple = Array<string | number | null>

function readGraph(body: Json) {
  const steps = body.steps as unknown as Array<Record<string, string | null>>
  const jobs = body.jobs as unknown as Tuple[]
  const edges = body.edges as unknown as Array<[string, string]>
  const nameOf = new Map(steps.map((step) => [step['id'], step['key'] ?? step['label'] ?? step['kind']]))
  return {
    body,
    steps,
    edges: edges.map(([from, to]) => `${nameOf.get(from)} > ${nameOf.get(to)}`).sort(),
    jobs,
    jobsOf: (name: string) => jobs.filter((job) => nameOf.get(job[1] as string) === name),
  }
}

describe('GET B/graph', () => {
  it('shows steps, edges through one barrier, and jobs in short form', async () => {
    const { build, pipeline, read } = await aGraph(`
      steps:
        - { command: make, key: a, label: Compile }
        - { command: test, key: b, parallelism: 2, label: "Test %N" }
        - wait
        - group: Ship
          key: ship
          steps:
            - { command: push, key: c }
            - { command: "echo {{matrix}}", key: d, matrix: [x, y], label: "For {{matrix}}" }
        - { block: Sure?, key: e, depends_on: ship }
        - { trigger: other, key: f, depends_on: e }
    `)
    const { body, steps, edges, jobs, jobsOf } = await read()
    expect(body.build).toEqual({
      id: build.id,
      pipeline_id: pipeline.id,
      pipeline_slug: pipeline.slug,
      number: build.number,
      state: 'scheduled',
      blocked: false,
      message: 'Say "hello"',
      branch: 'main',
      commit: 'HEAD',
      created_at: expect.any(Number),
      started_at: null,
      finished_at: null,
      worked_before_seconds: 0,
    })
    expect(steps.map(({ kind, key }) => [kind, key])).toEqual([
      ['command', 'a'],
      ['command', 'b'],
      ['wait', null],
      ['group', 'ship'],
      ['command', 'c'],
      ['command', 'd'],
      ['block', 'e'],
      ['trigger', 'f'],
    ])
    expect(steps[0]).toMatchObject({ label: 'Compile', command: 'make', parallelism: null, matrix: false })
    expect(steps[1]).toMatchObject({ label: 'Test %N', parallelism: 2 })
    expect(steps[4]).toMatchObject({ group_id: steps[3]?.['id'] })
    expect(steps[5]).toMatchObject({ matrix: true })
    expect(edges).toEqual(['a > wait', 'b > wait', 'e > f', 'ship > e', 'wait > c', 'wait > d'])
    expect(jobsOf('a')).toEqual([
      [
        expect.any(String),
        steps[0]?.['id'],
        'scheduled',
        null,
        null,
        0,
        expect.any(Number),
        expect.any(Number),
        null,
        null,
        null,
        0,
        null,
        null,
        null,
        0,
      ],
    ])
    expect(jobsOf('b').map((job) => [job[3], job[4]])).toEqual([
      ['Test 1', 0],
      ['Test 2', 1],
    ])
    expect(jobsOf('d').map((job) => job[3])).toEqual(['For x', 'For y'])
    expect(jobs).toHaveLength(9)
  })

  it('shows the states of REST, attempts, exits and why jobs failed or were left out', async () => {
    const { pipeline, build, read } = await aGraph(`
      steps:
        - { command: a, key: a, retry: { automatic: { exit_status: 3, limit: 1 } } }
        - { command: b, key: b, soft_fail: true }
        - { command: c, key: c, if: "false" }
        - { command: d, key: d, depends_on: a }
        - { block: Go, key: e, depends_on: b }
    `)
    await runJob(app, build, 'a', 3)
    await runJob(app, build, 'a', 1)
    await runJob(app, build, 'b', 2)
    const { jobsOf, body } = await read()
    const [first, second] = jobsOf('a')
    expect(first).toMatchObject({ 2: 'failed', 5: 0, 10: 3, 12: second?.[0], 14: 'exit 3' })
    expect(second).toMatchObject({ 2: 'failed', 5: 1, 10: 1, 12: null, 14: 'exit 1' })
    expect(jobsOf('b')[0]).toMatchObject({ 2: 'failed', 11: 1, 14: 'exit 2' })
    expect(jobsOf('c')[0]).toMatchObject({ 2: 'broken' })
    expect(jobsOf('c')[0]?.[14]).toEqual(expect.any(String))
    expect(jobsOf('d')[0]).toMatchObject({ 2: 'waiting_failed' })
    expect(jobsOf('e')[0]).toMatchObject({ 2: 'blocked', 15: 1 })
    const rest = await get(`${pipeline.path}/builds/${build.number}?include_retried_jobs=true`)
    const shown = rest.body.jobs as unknown as Array<{ id: string; state: string }>
    expect((body.jobs as unknown as Tuple[]).map((job) => [job[0], job[2]])).toEqual(
      shown.map(({ id, state }) => [id, state]),
    )
    expect([body.build?.state, body.build?.blocked]).toEqual([rest.body.state, rest.body.blocked])
  })

  it('shows signals, lost agents, keys that no step has, and steps added later', async () => {
    const { build, read } = await aGraph(`
      steps: [{ command: a, key: a }, { command: b, key: b }, { command: c, key: c, depends_on: nowhere }]
    `)
    const a = await startJob(app, build, 'a')
    await uploadSteps(app.ctx, org.id, {
      uploadId: newId(),
      jobId: a,
      steps: { text: 'steps: [{ command: late, key: late }]' },
      replace: false,
    })
    const b = await startJob(app, build, 'b')
    await applyEvent(app, build, {
      type: 'finish',
      jobId: a,
      exitStatus: -1,
      signal: 'SIGKILL',
      signalReason: null,
    })
    await applyEvent(app, build, { type: 'lose_agent', jobId: b })
    const { jobsOf, edges } = await read()
    expect(jobsOf('a')[0]?.[14]).toBe('signal KILL')
    expect(jobsOf('b')[0]?.[14]).toBe('agent lost')
    expect(edges).toContain('a > late')
    expect(jobsOf('c')[0]).toMatchObject({ 2: 'waiting_failed', 14: 'no step has the key "nowhere"' })
  })

  it('takes a build of 4,000 jobs in one answer', async () => {
    const steps = Array.from({ length: 8 }, (_, n) => `{ command: c${n}, parallelism: 500 }`)
    const { path, read } = await aGraph(`steps: [${steps.join(', ')}]`)
    const { jobs } = await read()
    expect(jobs).toHaveLength(4000)
    const { text } = await get(path)
    expect(text.length).toBeLessThan(800_000)
  })

  it('answers 404 to other tenants and to pipelines one may not read, 403 without the scope', async () => {
    const { path } = await aGraph('steps: [{ command: a }]')
    const stranger = await anAdmin(app, await anOrganization(app))
    expect((await get(path, stranger.token)).status).toBe(404)
    expect((await get(path.replace(/builds\/\d+/, 'builds/77'))).status).toBe(404)
    const scoped = await aToken(app, admin, { scopes: ['read_pipelines'] })
    expect((await get(path, scoped)).status).toBe(403)
    const member = await aMember(app, org)
    expect((await get(path, member.token)).status).toBe(200)
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    expect((await get(path, member.token)).status).toBe(404)
    expect((await get(path)).status).toBe(200)
  })
})
