// What failed jobs said elsewhere than in their logs.
import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld, type AgentWorld } from '../../../../test/agent-client.ts'
import { baseUrl, useApp, type Json } from '../../../../test/app.ts'
import { aMember, unique } from '../../../../test/builders.ts'
import {
  aRunningJob,
  compactLogs,
  endLongAgo,
  sendLog,
  type RunningScene,
} from '../../../../test/job-runs.ts'
import { expireFindings } from '../log/findings/queries.ts'
import { indexFailure } from '../log/ingest/index-failure.ts'

const app = useApp()

let world: AgentWorld
beforeAll(async () => {
  world = await anAgentWorld(app)
})

const aJob = () => aRunningJob(app, undefined, world)

async function annotate({ run }: RunningScene, body: object): Promise<void> {
  const answer = await run.call('POST', `jobs/${run.id}/annotations`, { body: { style: 'error', ...body } })
  expect(answer.status).toBe(200)
}

async function sendTests({ run }: RunningScene, cases: string): Promise<void> {
  const response = await fetch(`${app.address}/v3/jobs/${run.id}/test_results?path=report.xml`, {
    method: 'POST',
    headers: {
      Authorization: `Token ${run.token}`,
      'Content-Type': 'application/xml',
      'Content-Encoding': 'gzip',
    },
    body: gzipSync(`<testsuite>${cases}</testsuite>`),
  })
  expect(response.status).toBe(202)
}

const failedTest = (name: string, message: string, text = '') =>
  `<testcase classname="Zoo" name="${name}"><failure message="${message}">${text}</failure></testcase>`

const index = ({ org, run }: RunningScene) =>
  indexFailure(app.ctx, { job_id: run.id, organization_id: org.id })

async function end(scene: RunningScene, exitStatus = 1): Promise<void> {
  await scene.run.finish(exitStatus)
  await index(scene)
}

async function hitsOf(q: string, token = world.admin.token): Promise<Json[]> {
  const { status, body } = await app.request(
    'GET',
    `${world.org.path}/log-search?${new URLSearchParams({ q })}`,
    { token },
  )
  expect(status).toBe(200)
  return body.hits as unknown as Json[]
}

const textsOf = async (q: string) =>
  (await hitsOf(q)).map(({ kind, text }) => `${String(kind)}: ${String(text)}`)

const pageOf = ({ org, pipeline, build }: RunningScene) =>
  `${baseUrl}/${org.slug}/${pipeline.slug}/builds/${build.number}`

describe('an error annotation of a failed job', () => {
  it('is found as text, and links to its place', async () => {
    const scene = await aJob()
    await annotate(scene, { body: '<p>The <b>quokka</b> left the zoo</p>', context: 'zoo' })
    await end(scene)
    const { rows } = await sql<{ id: string }>`
      select id from annotations where build_id = ${scene.build.id}`.execute(app.db)
    const [{ id } = { id: '' }] = rows
    expect(await hitsOf('quokka')).toEqual([
      expect.objectContaining({
        kind: 'annotation',
        row: null,
        annotation: { id, context: 'zoo' },
        test: null,
        text: 'The quokka left the zoo',
        start: 4,
        end: 10,
        web_url: `${pageOf(scene)}?tab=annotations#annotation-${id}`,
        job: expect.objectContaining({ id: scene.run.id, state: 'failed' }),
      }),
    ])
  })

  it('is found beside the log, before and after compaction', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'Error: numbat in the log\r\n')
    await annotate(scene, { body: 'numbat on the page', scope: 'job' })
    await end(scene)
    const both = ['log: Error: numbat in the log', 'annotation: numbat on the page']
    expect(await textsOf('numbat')).toEqual(both)
    await sql`update jobs set finished_at = finished_at - interval '10 minutes' where id = ${scene.run.id}`.execute(
      app.db,
    )
    await compactLogs(app.ctx)
    expect(await textsOf('numbat')).toEqual(both)
    await index(scene)
    expect(await textsOf('numbat')).toEqual(both)
  })

  it('is not found when it says something else by now, or is deleted', async () => {
    const scene = await aJob()
    for (const context of ['kept', 'changed', 'deleted'])
      await annotate(scene, { body: `${context} potoroo`, context })
    await end(scene)
    expect(await hitsOf('potoroo')).toHaveLength(3)
    const list = await app.request('GET', `${scene.buildPath}/annotations`, { token: world.admin.token })
    const of = (context: string) => String(list.list.find((each) => String(each.context) === context)?.id)
    const path = `${scene.buildPath}/annotations`
    const body = { context: 'changed', style: 'error', body: 'nothing to see' }
    expect((await app.request('POST', path, { token: world.admin.token, body })).status).toBe(201)
    await app.request('DELETE', `${path}/${of('deleted')}`, { token: world.admin.token })
    expect(await textsOf('potoroo')).toEqual(['annotation: kept potoroo'])
  })

  it('is not found when it is no error, or the build passed', async () => {
    const [failed, passed] = [await aJob(), await aJob()]
    await annotate(failed, { body: 'a warned bilby', style: 'warning' })
    await annotate(passed, { body: 'a tolerated bilby' })
    await end(failed)
    await end(passed, 0)
    expect(await hitsOf('bilby')).toEqual([])
  })
})

describe('an error annotation of a job that passed', () => {
  const twoJobs = '{steps: [{label: Report, command: make}, {label: Tests, command: make}]}'

  it('is found once its build has failed', async () => {
    const scene = await aRunningJob(app, twoJobs, world)
    await annotate(scene, { body: 'the reported kultarr' })
    await annotate(scene, { body: 'a warned kultarr', style: 'warning', context: 'other' })
    await sendLog(app, scene.run, 'Error: a kultarr in a log that does not count\r\n')
    await endLongAgo(app, scene.run)
    await compactLogs(app.ctx)
    expect(await hitsOf('kultarr')).toEqual([])
    const failing = await (await anAgent(app, world.token)).begin()
    await failing.finish(1)
    expect(await hitsOf('kultarr')).toMatchObject([
      { kind: 'annotation', text: 'the reported kultarr', job: { id: scene.run.id, state: 'passed' } },
    ])
  })
})

describe('the message of a failed test', () => {
  it('is found with its details, and links to the test', async () => {
    const scene = await aJob()
    await sendTests(scene, failedTest('feeds', 'expected wombat', 'at zoo.rb:3\nthe wombat sleeps'))
    await end(scene)
    const found = await hitsOf('wombat')
    const test = { id: expect.any(String), name: 'Zoo feeds', suite_slug: scene.pipeline.slug }
    expect(found).toMatchObject([
      { kind: 'test_failure', row: null, annotation: null, test, text: 'expected wombat' },
      { kind: 'test_failure', test, text: 'the wombat sleeps' },
    ])
    const id = String(Reflect.get(found[0]?.test ?? {}, 'id'))
    const page = `${baseUrl}/organizations/${scene.org.slug}/analytics/suites/${scene.pipeline.slug}/tests/${id}`
    expect(found[0]?.web_url).toBe(page)
    const shown = await app.request('GET', `${scene.org.path}/suites/${scene.pipeline.slug}/tests/${id}`, {
      token: world.admin.token,
    })
    expect(shown.body).toMatchObject({ name: 'feeds' })
  })

  it('is found by the name of the test, and not when it passed', async () => {
    const scene = await aJob()
    await sendTests(scene, `${failedTest('the dunnart', 'no')}<testcase name="the other dunnart"/>`)
    await end(scene)
    expect(await textsOf('dunnart')).toEqual(['test_failure: Zoo the dunnart'])
  })

  it('is found when it came after the end of the job', async () => {
    const scene = await aJob()
    const suite = await app.request('POST', `${world.org.path}/suites`, {
      token: world.admin.token,
      body: { name: unique('late'), show_api_token: true },
    })
    await scene.run.finish(1)
    await index(scene)
    const { status } = await app.request('POST', '/v1/uploads', {
      headers: { authorization: `Token token="${String(suite.body.api_token)}"` },
      body: {
        format: 'json',
        run_env: { key: scene.build.id, build_id: scene.build.id, job_id: scene.run.id },
        data: [
          {
            id: crypto.randomUUID(),
            name: 'a late test',
            result: 'failed',
            failure_reason: 'the late phascogale',
            history: { start_at: 0, duration: 1 },
          },
        ],
      },
    })
    expect(status).toBe(202)
    const { rows } = await sql`
      select from graphile_worker.jobs where key = ${`index_failure:${scene.run.id}`}`.execute(app.db)
    expect(rows).toHaveLength(1)
    await index(scene)
    expect(await textsOf('phascogale')).toEqual(['test_failure: the late phascogale'])
  })
})

describe('what failed jobs said elsewhere', () => {
  it('is bounded, and every test keeps its place', async () => {
    const scene = await aJob()
    const names = Array.from({ length: 150 }, (_, n) => `kowari ${n}`)
    await sendTests(
      scene,
      names.map((name) => failedTest(name, 'x'.repeat(5000), 'y\n'.repeat(5000))).join(''),
    )
    for (let n = 0; n < 30; n++)
      await annotate(scene, { body: `kowari ${'z'.repeat(100_000)}`, context: `context ${n}` })
    await end(scene)
    const { rows } = await sql<{ bytes: number; sources: number; text: string }>`
      select octet_length(text) as bytes, jsonb_array_length(sources) as sources, text from log_findings
      where job_id = ${scene.run.id}`.execute(app.db)
    expect(rows[0]?.bytes).toBeLessThan(64 * 1024)
    expect(rows[0]?.sources).toBe(170)
    const lines = new Set(rows[0]?.text.split('\n'))
    expect(names.filter((name) => !lines.has(`Zoo ${name}`))).toEqual([])
  })

  it('has no control characters and no markup of its own', async () => {
    const scene = await aJob()
    await annotate(scene, { body: 'a \u001b[31mred\u202e chuditch' })
    await end(scene)
    const [hit] = await hitsOf('chuditch')
    expect(hit?.text).not.toMatch(/[\u0000-\u001f\u202e]/)
  })

  it('is not found by those who may not read the pipeline', async () => {
    const scene = await aJob()
    await annotate(scene, { body: 'the secret quoll' })
    await sendTests(scene, failedTest('runs', 'the secret quoll'))
    await end(scene)
    expect(await hitsOf('secret quoll')).toHaveLength(2)
    await app.db
      .updateTable('pipelines')
      .set({ visibility: 'private' })
      .where('id', '=', scene.pipeline.id)
      .execute()
    const member = await aMember(app, world.org)
    await app.request('POST', `${world.org.path}/teams/enable`, { token: world.admin.token })
    expect(await hitsOf('secret quoll', member.token)).toEqual([])
  })

  it('ends with the build, and after its days', async () => {
    const [kept, deleted] = [await aJob(), await aJob()]
    for (const scene of [kept, deleted]) {
      await annotate(scene, { body: 'the mortal mulgara' })
      await end(scene)
    }
    expect(await hitsOf('mulgara')).toHaveLength(2)
    await app.db.deleteFrom('builds').where('id', '=', deleted.build.id).execute()
    expect(await hitsOf('mulgara')).toHaveLength(1)
    await expireFindings(app.db, new Date(Date.now() + 31 * 86_400_000), 30)
    expect(await hitsOf('mulgara')).toEqual([])
  })
})
