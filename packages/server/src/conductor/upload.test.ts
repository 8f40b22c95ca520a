import { describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { anOrganization, aPipeline, type TestOrganization } from '../../test/builders.ts'
import {
  aBuild,
  buildState,
  jobNamed,
  jobsOf,
  startJob,
  statesOf,
  applyEvent,
  type TestBuild,
} from '../../test/runs.ts'
import { newId } from '../lib/ids.ts'
import { environmentOf } from './environment.ts'
import { uploadSteps, type UploadOutcome } from './upload.ts'

const app = useApp()

async function aRunningBuild(
  configuration = '[{ command: up }, wait, { command: last }]',
): Promise<{ org: TestOrganization; build: TestBuild; jobId: string }> {
  const org = await anOrganization(app)
  const build = await aBuild(app, org, await aPipeline(app, org, configuration))
  return { org, build, jobId: await startJob(app, build, 'up') }
}

interface Given {
  uploadId?: string
  replace?: boolean
}

const upload = (
  build: TestBuild,
  jobId: string,
  steps: string | object,
  { uploadId = newId(), replace = false }: Given = {},
): Promise<UploadOutcome | undefined> =>
  uploadSteps(app.ctx, build.organizationId, {
    uploadId,
    jobId,
    steps: typeof steps === 'string' ? { text: steps } : { value: steps },
    replace,
  })

const recorded = (id: string) =>
  app.db
    .selectFrom('step_uploads')
    .select(['state', 'message', 'rejection_type', 'created_jobs_count', 'definition_yaml', 'source_job_id'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

const applied = (createdJobs: number) => ({
  state: 'applied',
  createdJobs,
  rejectionType: null,
  message: null,
})

describe('an upload of steps', () => {
  it('adds them behind the uploading step, and later steps wait for them too', async () => {
    const { build, jobId } = await aRunningBuild()
    expect(await upload(build, jobId, 'steps: [{ command: x, parallelism: 2 }, { command: y }]')).toEqual(
      applied(3),
    )
    await applyEvent(app, build, { type: 'finish', jobId, exitStatus: 0, signal: null, signalReason: null })
    expect(await statesOf(app, build)).toMatchObject({
      up: 'passed',
      x: 'scheduled',
      y: 'scheduled',
      last: 'waiting',
    })
    for (const name of ['y', 'x', 'x']) await runNext(build, name)
    expect(await statesOf(app, build)).toMatchObject({ last: 'scheduled' })
  })

  it('takes JSON that was parsed already', async () => {
    const { build, jobId } = await aRunningBuild()
    const uploadId = newId()
    expect(await upload(build, jobId, { steps: [{ command: 'x' }] }, { uploadId })).toEqual(applied(1))
    expect(JSON.parse((await recorded(uploadId)).definition_yaml)).toEqual({ steps: [{ command: 'x' }] })
  })

  it('merges its variables into those of the build and appends its notifications', async () => {
    const { org, build, jobId } = await aRunningBuild(`
      env: { A: stored, B: stored }
      notify: [{ email: a@example.com }]
      steps: [{ command: up }, wait, { command: last, env: { C: step } }]`)
    const text = 'env: { B: uploaded, C: uploaded }\nnotify: [{ email: b@example.com }]\nsteps: []'
    expect(await upload(build, jobId, text)).toEqual(applied(0))
    const env = await environmentOf(app.ctx, org.id, await jobNamed(app, build, 'last'))
    expect(env).toMatchObject({ A: 'stored', B: 'uploaded', C: 'step' })
    const { notify } = await app.db
      .selectFrom('builds')
      .select('notify')
      .where('id', '=', build.id)
      .executeTakeFirstOrThrow()
    expect(JSON.stringify(notify)).toMatch(/a@example.com.*b@example.com/)
  })

  it('evaluates its conditions with the current build and the variables of this and earlier uploads', async () => {
    const { build, jobId } = await aRunningBuild()
    await upload(build, jobId, 'env: { ONE: "1" }\nsteps: []')
    await upload(
      build,
      jobId,
      `env: { TWO: "2" }
steps:
  - { command: yes, if: build.env("ONE") == "1" && build.env("TWO") == "2" && build.branch == "main" && build.number == 1 }
  - { command: no, if: build.env("THREE") == "3" }
  - { command: running, if: build.state == "running" }`,
    )
    expect(await statesOf(app, build)).toMatchObject({ yes: 'waiting', no: 'broken', running: 'waiting' })
  })

  it('replaces steps that have not started', async () => {
    const { build, jobId } = await aRunningBuild()
    expect(await upload(build, jobId, '[{ command: instead }]', { replace: true })).toEqual(applied(1))
    expect(await statesOf(app, build)).toEqual({ up: 'running', instead: 'waiting' })
  })

  it('applies every document of the text or none, and replaces only once', async () => {
    const { build, jobId } = await aRunningBuild()
    const two = 'steps: [{ command: x, key: x }]\n---\nsteps: [{ command: y, depends_on: x }]'
    expect(await upload(build, jobId, two, { replace: true })).toEqual(applied(2))
    expect(await statesOf(app, build)).toEqual({ up: 'running', x: 'waiting', y: 'waiting' })
    const uploadId = newId()
    const clash = 'env: { LOST: "1" }\nsteps: [{ command: z, key: z }]\n---\nsteps: [{ command: w, key: x }]'
    expect(await upload(build, jobId, clash, { uploadId })).toEqual({
      state: 'rejected',
      createdJobs: 0,
      rejectionType: 'invalid_upload',
      message: 'The key "x" is already used by another step of this build',
    })
    expect(await statesOf(app, build)).toEqual({ up: 'running', x: 'waiting', y: 'waiting' })
    expect(await recorded(uploadId)).toMatchObject({ state: 'rejected', created_jobs_count: 0 })
    const row = await app.db
      .selectFrom('builds')
      .select('uploaded_env')
      .where('id', '=', build.id)
      .executeTakeFirstOrThrow()
    expect(row.uploaded_env).toEqual({})
  })

  it('is rejected with the place of every mistake', async () => {
    const { build, jobId } = await aRunningBuild()
    const uploadId = newId()
    const outcome = await upload(build, jobId, 'steps:\n  - comand: x', { uploadId })
    expect(outcome).toMatchObject({ state: 'rejected', rejectionType: 'invalid_upload' })
    expect(outcome?.message).toContain('pipeline:2:5')
    expect(await recorded(uploadId)).toMatchObject({
      state: 'rejected',
      message: outcome?.message,
      source_job_id: jobId,
    })
  })

  it.each([
    ['no YAML', 'steps: ['],
    ['text with NUL', 'steps: [{ command: "a\0b" }]'],
    ['half a character', 'steps: [{ command: "a\ud800b" }]'],
    ['more than 1 MiB', `steps: [{ command: "${'x'.repeat(1_100_000)}" }]`],
    [
      'an alias bomb',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
        .split('')
        .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join()}]`)
        .join('\n')}\nsteps: *h`,
    ],
    ['nothing', ''],
  ])('is rejected when it is %s', async (_, text) => {
    const { build, jobId } = await aRunningBuild()
    expect(await upload(build, jobId, text)).toMatchObject({ state: 'rejected', createdJobs: 0 })
  })

  it('is rejected when its JSON nests too deeply', async () => {
    const { build, jobId } = await aRunningBuild()
    let value: unknown = 'x'
    for (let depth = 0; depth < 200; depth++) value = [value]
    expect(await upload(build, jobId, { steps: value })).toMatchObject({ state: 'rejected' })
  })

  it('is rejected when the job has not started, or the build has ended or is being canceled', async () => {
    const { build, jobId } = await aRunningBuild('[{ command: up }, { command: idle }]')
    expect(await upload(build, await jobNamed(app, build, 'idle'), '[{ command: x }]')).toMatchObject({
      rejectionType: 'wrong_state',
      message: 'Only a job that has started can upload steps',
    })
    await applyEvent(app, build, { type: 'cancel_build', reason: null })
    expect(await upload(build, jobId, '[{ command: x }]')).toMatchObject({ rejectionType: 'build_canceled' })
    const done = await aRunningBuild('[{ command: up }]')
    await applyEvent(app, done.build, {
      type: 'finish',
      jobId: done.jobId,
      exitStatus: 0,
      signal: null,
      signalReason: null,
    })
    expect(await buildState(app, done.build)).toBe('passed')
    expect(await upload(done.build, done.jobId, '[{ command: x }]')).toMatchObject({
      rejectionType: 'build_finished',
    })
  })

  it('answers the stored outcome again, whatever the second request holds', async () => {
    const { build, jobId } = await aRunningBuild()
    const uploadId = newId()
    const first = await upload(build, jobId, '[{ command: x }]', { uploadId })
    expect(await upload(build, jobId, '[{ command: other }, { command: more }]', { uploadId })).toEqual(first)
    expect(await statesOf(app, build)).not.toHaveProperty('other')
    const rejected = newId()
    const refusal = await upload(build, jobId, 'steps: [', { uploadId: rejected })
    expect(await upload(build, jobId, '[{ command: x }]', { uploadId: rejected })).toEqual(refusal)
  })

  it('is applied once, however many requests send it at once', async () => {
    const { build, jobId } = await aRunningBuild()
    const uploadId = newId()
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => upload(build, jobId, '[{ command: x }, { command: y }]', { uploadId })),
    )
    expect(outcomes).toEqual(Array.from({ length: 6 }, () => applied(2)))
    const { uploads } = await app.db
      .selectFrom('build_tallies')
      .select('uploads')
      .where('build_id', '=', build.id)
      .executeTakeFirstOrThrow()
    expect(uploads).toBe(1)
  })

  it('takes several uploads of one job at once, each as a whole', async () => {
    const { build, jobId } = await aRunningBuild()
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        upload(build, jobId, `env: { E${index}: "1" }\nsteps: [{ command: c${index} }]`),
      ),
    )
    expect(outcomes).toEqual(Array.from({ length: 6 }, () => applied(1)))
    const row = await app.db
      .selectFrom('builds')
      .select('uploaded_env')
      .where('id', '=', build.id)
      .executeTakeFirstOrThrow()
    expect(Object.keys(row.uploaded_env as object)).toHaveLength(6)
  })

  it('does not reveal the outcome of an upload of another job', async () => {
    const [mine, other] = [await aRunningBuild(), await aRunningBuild()]
    const uploadId = newId()
    await upload(other.build, other.jobId, '[{ command: x }]', { uploadId })
    expect(await upload(mine.build, mine.jobId, '[{ command: x }]', { uploadId })).toMatchObject({
      state: 'rejected',
      rejectionType: 'id_taken',
    })
    expect(await upload(mine.build, other.jobId, '[{ command: x }]')).toBeUndefined()
    expect(await upload(mine.build, newId(), '[{ command: x }]')).toBeUndefined()
  })

  it('creates the builds of its trigger steps', async () => {
    const { org, build, jobId } = await aRunningBuild()
    const target = await aPipeline(app, org, '[{ command: c }]')
    await upload(build, jobId, `[{ trigger: ${target.slug}, depends_on: [] }]`)
    const children = await app.db
      .selectFrom('builds')
      .select('source')
      .where('pipeline_id', '=', target.id)
      .execute()
    expect(children).toEqual([{ source: 'trigger_job' }])
  })
})

/** Runs the first job of the name that has not started. */
async function runNext(build: TestBuild, name: string): Promise<void> {
  const job = (await jobsOf(app, build)).find((one) => one.name === name && one.state === 'scheduled')
  if (job === undefined) throw new Error(`No job "${name}" is left to run.`)
  const jobId = job.id
  for (const type of ['assign', 'accept', 'start'] as const) await applyEvent(app, build, { type, jobId })
  await applyEvent(app, build, { type: 'finish', jobId, exitStatus: 0, signal: null, signalReason: null })
}

describe('an upload that depends on a key no step has', () => {
  it('is applied, and says which key and the nearest one', async () => {
    const { build, jobId } = await aRunningBuild()
    const uploadId = newId()
    const steps = '[{command: a, key: tests}, {command: b, depends_on: [test, tests, far-away]}]'
    expect(await upload(build, jobId, steps, { uploadId })).toMatchObject({
      state: 'applied',
      message:
        'No step of the build has the key "far-away" so far.\n' +
        'No step of the build has the key "test" so far; did you mean "tests"?',
    })
    expect((await recorded(uploadId)).message).toContain('"test" so far')
  })

  it('says nothing of a key that an earlier upload brought', async () => {
    const { build, jobId } = await aRunningBuild()
    await upload(build, jobId, '[{command: a, key: first}]')
    expect(await upload(build, jobId, '[{command: b, depends_on: first}]')).toMatchObject({ message: null })
  })
})
