import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import {
  anAdmin,
  anOrganization,
  aPipeline,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { aBuild, startJob, type TestBuild } from '../../../../test/runs.ts'
import { uploadSteps } from '../../../conductor/upload.ts'
import { newId } from '../../../lib/ids.ts'

const app = useApp()

let org: TestOrganization
let admin: TestUser
let build: TestBuild
let path: string
const jobs: string[] = []
const uploads: string[] = []

const text = 'steps:\n  - command: "über"\n'

beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
  const pipeline = await aPipeline(app, org, 'steps: [{ command: a }, { command: b }]')
  build = await aBuild(app, org, pipeline)
  path = `${pipeline.path}/builds/${build.number}/step-uploads`
  const [a, b] = [await startJob(app, build, 'a'), await startJob(app, build, 'b')]
  jobs.push(a, b)
  const upload = async (jobId: string, given: string, replace = false) => {
    const uploadId = newId()
    await uploadSteps(app.ctx, org.id, { uploadId, jobId, steps: { text: given }, replace })
    uploads.push(uploadId)
  }
  await upload(a, text, true)
  await upload(a, 'steps: [{ comand: c }]')
  await upload(b, text)
})

const get = (url: string) => app.request('GET', url, { token: admin.token })

describe('GET B/step-uploads', () => {
  it('lists what jobs of the build uploaded, oldest first', async () => {
    const answer = await get(path)
    expect(answer.list.map(({ uuid }) => uuid)).toEqual(uploads)
    expect(answer.list[0]).toEqual({
      uuid: uploads[0],
      graphql_id: Buffer.from(`StepUpload---${uploads[0]}`).toString('base64'),
      state: 'applied',
      source: 'job',
      source_job_id: jobs[0],
      replace_existing_steps: true,
      created_jobs_count: 1,
      rejection_type: null,
      message: null,
      url: `http://millrace.test${path}/${uploads[0]}`,
      created_at: expect.stringMatching(/Z$/),
      processed_at: expect.stringMatching(/Z$/),
    })
    expect(answer.list[1]).toMatchObject({
      state: 'rejected',
      created_jobs_count: 0,
      rejection_type: 'invalid_upload',
      message: expect.stringContaining('comand'),
    })
  })

  it('pages by cursor and filters by the job that uploaded', async () => {
    const first = await get(`${path}?per_page=2`)
    expect(first.list.map(({ uuid }) => uuid)).toEqual(uploads.slice(0, 2))
    const next = String(first.body.links?.next).replace('http://millrace.test', '')
    const second = await get(next)
    expect(second.list.map(({ uuid }) => uuid)).toEqual(uploads.slice(2))
    const back = String(second.body.links?.prev).replace('http://millrace.test', '')
    expect((await get(back)).list.map(({ uuid }) => uuid)).toEqual(uploads.slice(0, 2))
    const ofJob = await get(`${path}?filter[source_job_id]=${jobs[1]}`)
    expect(ofJob.list.map(({ uuid }) => uuid)).toEqual(uploads.slice(2))
    expect((await get(`${path}?filter[source_job_id]=${newId()}`)).list).toEqual([])
  })

  it('answers 400 to a bad cursor and page size, 422 to what is no id, 404 to no build', async () => {
    expect((await get(`${path}?after=abc`)).status).toBe(400)
    expect((await get(`${path}?per_page=101`)).status).toBe(400)
    const answer = await get(`${path}?filter[source_job_id]=abc`)
    expect([answer.status, answer.body.message]).toEqual([
      422,
      'Unknown filter[source_job_id] "abc"; accepted is the id of a job.',
    ])
    expect((await get(path.replace('/builds/1/', '/builds/2/'))).body.message).toBe('No build found')
  })
})

describe('GET B/step-uploads/{uuid}', () => {
  it('adds the text', async () => {
    const { body } = await get(`${path}/${uploads[0]}`)
    expect(body).toMatchObject({
      uuid: uploads[0],
      definition_yaml: text,
      definition_bytes: Buffer.byteLength(text),
      definition_yaml_omitted: false,
    })
  })

  it('says so when the text was not kept', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a }]')
    const jobId = await startJob(app, await aBuild(app, org, pipeline), 'a')
    const uploadId = newId()
    const steps = { text: `# ${'x'.repeat(2 * 1024 * 1024)}` }
    await uploadSteps(app.ctx, org.id, { uploadId, jobId, steps, replace: false })
    expect((await get(`${pipeline.path}/builds/1/step-uploads/${uploadId}`)).body).toMatchObject({
      state: 'rejected',
      definition_yaml: null,
      definition_bytes: 0,
      definition_yaml_omitted: true,
    })
  })

  it('answers 404 to an upload of another build', async () => {
    const other = await aPipeline(app, org, 'steps: [{ command: a }]')
    await aBuild(app, org, other)
    const answer = await get(`${other.path}/builds/1/step-uploads/${uploads[0]}`)
    expect([answer.status, answer.body.message]).toEqual([404, 'No step upload found'])
  })
})
