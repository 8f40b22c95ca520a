import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useOwnApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aToken,
  auditTrail,
  type TestOrganization,
} from '../../../../test/builders.ts'
import { anOldBuild, moveToThePast, storedBytes, type Past } from '../../../../test/old-builds.ts'
import { aBuild, applyEvent, jobNamed, runJob, startJob } from '../../../../test/runs.ts'
import { deleteBuilds } from '../../../conductor/delete-builds.ts'
import { newId } from '../../../lib/ids.ts'
import { deleteUnusedBlobs } from '../artifacts/expire.ts'
import { buildExpirer } from './expire-builds.ts'
import { preview, previewOrganization, type WholePreview } from './preview.ts'
import { add, emptyReport, isEmpty, kinds, type Report } from './report.ts'
import { expireSome, type Done } from './run.ts'
import type { OwnSettings } from './rules.ts'
import type { Terms } from './selection.ts'
import { updatePipelineRetention } from './update.ts'

const app = useOwnApp()

const aScene = async () => {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const pipeline = await aPipeline(app, org, '[{command: a}, {command: b}]')
  const call = (method: string, path: string, body?: object) =>
    app.request(method, `${org.path}${path}`, { token: admin.token, ...(body && { body }) })
  const oldBuild = (past: Past) => anOldBuild(app, org, pipeline, past)
  return { org, admin, pipeline, call, oldBuild, at: `/pipelines/${pipeline.slug}` }
}

const keepAll = {
  build_days: 0,
  log_days: 0,
  artifact_days: 0,
  archive_days: 0,
  keep_newest_builds: 0,
  archive_builds: true,
}

const termsFor = (settings: Partial<typeof keepAll>): Terms => ({
  now: new Date().toISOString(),
  defaults: { ...keepAll, ...settings },
})

const pace = { stopping: new AbortController().signal, pause: 0 }

const run = (org: TestOrganization, terms: Terms): Promise<Done> =>
  expireSome(app.ctx, { organizationId: org.id, pipelineIds: null }, terms, pace)

const counts = (report: Report | WholePreview) =>
  Object.fromEntries(
    kinds.map((kind) => {
      const { count, blob_bytes, oldest, newest } = report[kind]
      return [kind, { count, blob_bytes, oldest, newest }]
    }),
  )

/** Also objects that were announced, as if their time was over. */
const deleteAllUnused = async () => {
  await sql`update unclaimed_blobs set delete_after = now() - interval '1 second'`.execute(app.db)
  await deleteUnusedBlobs(app.ctx)
}

const costs = (org: TestOrganization, build: { id: string }, micros: number) =>
  sql`
    insert into build_costs as c (build_id, organization_id, jobs, run_ms, cost_micros)
    values (${build.id}, ${org.id}, 1, 60000, ${micros})
    on conflict (build_id) do update set cost_micros = excluded.cost_micros`.execute(app.db)

const numbersOf = async (pipeline: { id: string }, table: 'builds' | 'archived_builds') => {
  const rows = await app.db
    .selectFrom(table)
    .select('number')
    .where('pipeline_id', '=', pipeline.id)
    .orderBy('number')
    .execute()
  return rows.map(({ number }) => number)
}

describe('GET|PUT /v2/organizations/:org/retention', () => {
  it('shows the defaults of the installation, and what the organization sets instead', async () => {
    const { org, call } = await aScene()
    const before = await call('GET', '/retention')
    expect(before.body).toMatchObject({
      url: `http://millrace.test${org.path}/retention`,
      build_days: null,
      effective: {
        build_days: 365,
        log_days: 0,
        artifact_days: 90,
        archive_days: 3650,
        keep_newest_builds: 100,
        archive_builds: true,
      },
      installation: { agent_days: 30, event_days: 14, audit_event_days: 730 },
    })
    const after = await call('PUT', '/retention', { build_days: 30, archive_builds: false })
    expect([after.status, after.body]).toMatchObject([
      200,
      {
        build_days: 30,
        log_days: null,
        archive_builds: false,
        effective: { build_days: 30, archive_builds: false, artifact_days: 90 },
      },
    ])
    const cleared = await call('PATCH', '/retention', { build_days: null })
    expect(cleared.body).toMatchObject({ build_days: null, archive_builds: false })
    expect(await auditTrail(app, org, 'ORGANIZATION_RETENTION_UPDATED')).toMatchObject([
      { data: { build_days: 30, archive_builds: false } },
      { data: { build_days: null } },
    ])
  })

  it('refuses negative days and more than a hundred years with 422', async () => {
    const { call } = await aScene()
    for (const body of [
      { build_days: -1 },
      { log_days: 36_501 },
      { artifact_days: 1.5 },
      { archive_days: '9' },
    ]) {
      expect((await call('PUT', '/retention', body)).status).toBe(422)
    }
  })

  it('is for administrators', async () => {
    const { org } = await aScene()
    const member = await aMember(app, org)
    for (const [method, path] of [
      ['GET', '/retention'],
      ['PUT', '/retention'],
      ['GET', '/retention/preview'],
    ] as const) {
      const answer = await app.request(method, `${org.path}${path}`, { token: member.token })
      expect(answer.status).toBe(403)
    }
  })
})

describe('GET|PUT /v2/organizations/:org/pipelines/:pipeline/retention', () => {
  it('overrides the organization, setting by setting', async () => {
    const { org, call, at } = await aScene()
    await call('PUT', '/retention', { build_days: 30, log_days: 7 })
    const answer = await call('PUT', `${at}/retention`, { build_days: 0 })
    expect(answer.body).toMatchObject({
      build_days: 0,
      log_days: null,
      effective: { build_days: 0, log_days: 7, artifact_days: 90 },
    })
    expect((await call('GET', `${at}/retention`)).body).toEqual(answer.body)
    expect(await auditTrail(app, org, 'PIPELINE_RETENTION_UPDATED')).toMatchObject([
      { data: { build_days: 0 } },
    ])
  })

  it('answers 404 when the pipeline is deleted meanwhile', async () => {
    const { org } = await aScene()
    const gone = { id: newId(), slug: 'gone' }
    const change = updatePipelineRetention(app.db, { kind: 'system' }, org.id, gone, { build_days: 1 })
    await expect(change).rejects.toMatchObject({ status: 404 })
  })

  it('needs the scope of pipelines', async () => {
    const { org, admin, at } = await aScene()
    const token = await aToken(app, admin, { scopes: ['read_pipelines'] })
    expect((await app.request('GET', `${org.path}${at}/retention`, { token })).status).toBe(200)
    expect((await app.request('PUT', `${org.path}${at}/retention`, { token, body: {} })).status).toBe(403)
  })
})

describe('GET …/retention/preview', () => {
  it('counts what is due, per pipeline, and deletes nothing', async () => {
    const { call, oldBuild, at, pipeline } = await aScene()
    await oldBuild({ daysAgo: 40, logs: ['first', 'second'], artifacts: ['file'] })
    await oldBuild({ daysAgo: 20, logs: ['third'] })
    await call('PUT', `${at}/retention`, { build_days: 30, keep_newest_builds: 0 })
    const answer = await call('GET', `${at}/retention/preview`)
    expect(answer.body).toMatchObject({
      builds: { count: 1, archived_count: 1, blob_bytes: 11 },
      logs: { count: 0, blob_bytes: 0 },
      artifacts: { count: 1, blob_bytes: 4 },
      archived_builds: { count: 0 },
      pipelines: [{ id: pipeline.id, slug: pipeline.slug, builds: { count: 1 } }],
    })
    expect(Number(answer.body.builds?.database_bytes)).toBeGreaterThan(0)
    expect((await call('GET', '/retention/preview')).body).toMatchObject({ builds: { count: 1 } })
    expect(await numbersOf(pipeline, 'builds')).toEqual([1, 2])
  })

  it('tries settings before they are stored', async () => {
    const { call, oldBuild, at } = await aScene()
    await oldBuild({ daysAgo: 40, logs: ['first'] })
    const count = async (path: string) => {
      const { body } = await call('GET', path)
      return [body.builds?.count, body.builds?.archived_count, body.logs?.count]
    }
    const query = 'build_days=30&keep_newest_builds=0'
    expect(await count(`${at}/retention/preview`)).toEqual([0, 0, 0])
    expect(await count(`${at}/retention/preview?${query}`)).toEqual([1, 1, 0])
    expect(await count(`/retention/preview?${query}&archive_builds=false`)).toEqual([1, 0, 1])
    await call('PUT', `${at}/retention`, { build_days: 50 })
    expect(await count(`/retention/preview?${query}`)).toEqual([0, 0, 0])
  })
})

describe('retention', () => {
  it('archives a build and answers it as it was', async () => {
    const { org, call, oldBuild, at, pipeline } = await aScene()
    const build = await oldBuild({ daysAgo: 40, logs: ['one\n', 'two\n'], request: { metaData: { k: 'v' } } })
    await sql`
      insert into annotations (id, organization_id, build_id, context, body)
      values (gen_random_uuid(), ${org.id}, ${build.id}, 'notes', '**well**')`.execute(app.db)
    await costs(org, build, 1_250_000)
    const before = await call('GET', `${at}/builds/1`)
    const startedAt = Date.now()
    const done = await run(org, termsFor({ build_days: 30 }))
    expect(done.builds.count).toBe(1)
    const after = await call('GET', `${at}/builds/1`)
    const { archived_at, ...shown } = after.body
    expect(Date.parse(String(archived_at))).toBeGreaterThanOrEqual(startedAt)
    expect(shown).toEqual(before.body)
    expect(shown.cost).toEqual({ amount: 1.25, currency: 'USD' })
    expect((await call('GET', `${at}/builds/${build.id}`)).status).toBe(404)
    const short = await call('GET', `${at}/builds/1?exclude_jobs=true&exclude_pipeline=true`)
    expect([short.body.jobs, short.body.pipeline]).toEqual([undefined, undefined])
    expect((await call('GET', `${at}/builds/1?job_states=failed`)).body.jobs).toEqual([])
    expect((await call('GET', `${at}/builds`)).list).toEqual([])

    const listed = await call('GET', `${at}/archived_builds`)
    expect(listed.list).toMatchObject([
      { id: build.id, number: 1, state: 'passed', jobs_count: 2, logs_count: 2 },
    ])
    const document = await call('GET', `${at}/archived_builds/1`)
    expect(document.body).toMatchObject({
      version: 1,
      archived_at,
      build: { id: build.id, meta_data: { k: 'v' } },
      annotations: [{ context: 'notes', body: '**well**' }],
      steps: [{ kind: 'command' }, { kind: 'command' }],
      logs: [{ size: 4 }, { size: 4 }],
    })
    expect(await numbersOf(pipeline, 'builds')).toEqual([])
    const next = await aBuild(app, org, pipeline)
    expect(next.number).toBe(2)
  })

  it('counts the archived builds of each pipeline that the caller may read', async () => {
    const { org, call, oldBuild, pipeline } = await aScene()
    await oldBuild({ daysAgo: 41, logs: ['one\n'] })
    await oldBuild({ daysAgo: 40 })
    await aPipeline(app, org, '[{command: a}]')
    expect((await call('GET', '/archived_builds')).list).toEqual([])
    await run(org, termsFor({ build_days: 30 }))
    const listed = await call('GET', '/archived_builds')
    expect(listed.list).toMatchObject([
      { pipeline_id: pipeline.id, pipeline_slug: pipeline.slug, builds_count: 2, logs_count: 1 },
    ])
    expect(listed.list[0]?.['size']).toBeGreaterThan(0)
    expect((await call('GET', `/archived_builds?pipeline=${pipeline.slug}`)).list).toEqual(listed.list)
    expect((await call('GET', '/archived_builds?pipeline=another')).list).toEqual([])
    await app.db
      .updateTable('organizations')
      .set({ teams_enabled_at: sql`now()` })
      .where('id', '=', org.id)
      .execute()
    const { token } = await aMember(app, org)
    expect((await app.request('GET', `${org.path}/archived_builds`, { token })).list).toEqual([])
  })

  it('keeps the logs of an archived build where its jobs say they are', async () => {
    const { org, call, oldBuild, at } = await aScene()
    const build = await oldBuild({ daysAgo: 40, logs: ['one\n', null] })
    await run(org, termsFor({ build_days: 30 }))
    await deleteAllUnused()
    const [job = ''] = build.jobIds
    for (const path of [`${at}/builds/1/jobs/${job}/log`, `/jobs/${job}/log`]) {
      expect((await call('GET', path)).body).toMatchObject({ content: 'one\n', size: 4 })
      expect((await call('GET', `${path}.txt`)).text).toBe('one\n')
      expect((await call('GET', `${path}.html`)).text).toContain('<span id="L1">one</span>')
    }
    expect((await call('GET', `${at}/builds/1/jobs/${build.jobIds[1]}/log`)).status).toBe(404)
    const done = await run(org, termsFor({ build_days: 30, log_days: 35 }))
    expect(done.logs).toMatchObject({ count: 1, blob_bytes: 4 })
    expect((await call('GET', `/jobs/${job}/log`)).status).toBe(404)
    expect((await call('GET', `${at}/archived_builds`)).list).toMatchObject([{ logs_count: 0 }])
    expect((await call('GET', `${at}/archived_builds/1`)).body).toMatchObject({
      logs_count: 0,
      logs: [{ job_id: job, deleted: false }],
    })
  })

  it('answers for a log and an artifact as if somebody had deleted them', async () => {
    const { org, call, oldBuild, at } = await aScene()
    const build = await oldBuild({ daysAgo: 40, logs: ['one\n'], artifacts: ['file'] })
    const done = await run(org, termsFor({ log_days: 30, artifact_days: 30 }))
    expect([done.logs.count, done.artifacts.count, done.builds.count]).toEqual([1, 1, 0])
    const log = await call('GET', `${at}/builds/1/jobs/${build.jobIds[0]}/log`)
    expect([log.status, log.body]).toEqual([404, { message: 'No log found' }])
    const [artifact] = (await call('GET', `${at}/builds/1/artifacts`)).list
    expect(artifact?.state).toBe('expired')
    await deleteAllUnused()
    expect(await app.db.selectFrom('unclaimed_blobs').selectAll().execute()).toEqual([])
  })

  it('deletes logs of which the chunks were never stored elsewhere', async () => {
    const { org, oldBuild } = await aScene()
    const build = await oldBuild({ daysAgo: 40 })
    const [jobId] = build.jobIds
    await sql`
      insert into job_log_chunks (job_id, sequence, byte_offset, size, data)
      values (${jobId}, 1, 0, 3, 'abc'::bytea)`.execute(app.db)
    const archiving = termsFor({ build_days: 30 })
    expect((await previewOrganization(app.db, org.id, archiving)).builds.count).toBe(0)
    expect((await run(org, archiving)).builds.count).toBe(0)
    const terms = termsFor({ build_days: 30, log_days: 30 })
    const before = await previewOrganization(app.db, org.id, terms)
    expect(before.logs).toMatchObject({ count: 1, blob_bytes: 0 })
    expect(before.logs.database_bytes).toBeGreaterThan(0)
    expect(counts(await run(org, terms))).toEqual(counts(before))
    const { rows } = await sql`select from job_log_chunks where job_id = ${jobId}`.execute(app.db)
    expect(rows).toEqual([])
  })

  it('keeps the newest builds of a pipeline, however old they are', async () => {
    const { org, oldBuild, pipeline } = await aScene()
    for (const daysAgo of [400, 300, 200, 100]) await oldBuild({ daysAgo })
    await run(org, termsFor({ build_days: 30, keep_newest_builds: 3 }))
    expect(await numbersOf(pipeline, 'builds')).toEqual([2, 3, 4])
    expect(await numbersOf(pipeline, 'archived_builds')).toEqual([1])
  })

  it('deletes builds without a trace where archiving is off, and archives when their days are over', async () => {
    const { org, oldBuild, pipeline, call, at } = await aScene()
    for (const daysAgo of [400, 40]) await oldBuild({ daysAgo, logs: ['log'], artifacts: ['file'] })
    await run(org, termsFor({ build_days: 365 }))
    expect(await numbersOf(pipeline, 'archived_builds')).toEqual([1])
    const terms = termsFor({ build_days: 30, archive_builds: false, archive_days: 380 })
    const before = await previewOrganization(app.db, org.id, terms)
    expect(counts(await run(org, terms))).toEqual(counts(before))
    expect(before).toMatchObject({ builds: { count: 1 }, logs: { count: 2 }, archived_builds: { count: 1 } })
    expect((await call('GET', `${at}/builds/1`)).status).toBe(404)
    expect((await call('GET', `${at}/builds/2`)).status).toBe(404)
    await deleteAllUnused()
    const { rows } = await sql`
      select from artifacts where organization_id = ${org.id} union all
      select from job_logs where organization_id = ${org.id} union all
      select from archived_logs where organization_id = ${org.id} union all
      select from jobs where organization_id = ${org.id}`.execute(app.db)
    expect(rows).toEqual([])
  })

  it('deletes test runs of no build after the days of the organization’s builds', async () => {
    const { org } = await aScene()
    await sql`
      with suite as (
        insert into test_suites (id, organization_id, name, slug, token_hash)
        values (gen_random_uuid(), ${org.id}, 'S', 's', sha256(${org.id}::bytea)) returning id)
      insert into test_runs (id, organization_id, suite_id, key, created_at, updated_at)
      select gen_random_uuid(), ${org.id}, suite.id, days::text, now() - make_interval(days => days), now()
      from suite, unnest(array[10, 40, 50]) days`.execute(app.db)
    const terms = termsFor({ build_days: 30 })
    const before = await previewOrganization(app.db, org.id, terms)
    expect(before.test_runs.count).toBe(2)
    expect(counts(await run(org, terms))).toEqual(counts(before))
    expect((await previewOrganization(app.db, org.id, terms)).test_runs.count).toBe(0)
  })

  it('deletes the archives of a deleted pipeline', async () => {
    const { org, oldBuild, pipeline, call, at } = await aScene()
    await oldBuild({ daysAgo: 40, logs: ['log'] })
    await run(org, termsFor({ build_days: 30 }))
    expect((await call('DELETE', at)).status).toBe(204)
    await deleteBuilds(app.ctx)
    expect(await numbersOf(pipeline, 'archived_builds')).toEqual([])
    await deleteAllUnused()
    expect(await app.db.selectFrom('unclaimed_blobs').selectAll().execute()).toEqual([])
  })
})

describe('what retention leaves alone', () => {
  const terms = () => termsFor({ build_days: 30, archive_builds: false })
  const left = async (pipeline: { id: string }, org: TestOrganization) => {
    const before = await previewOrganization(app.db, org.id, terms())
    expect(counts(await run(org, terms()))).toEqual(counts(before))
    return numbersOf(pipeline, 'builds')
  }

  it('builds that run, wait for an agent, or wait for a person', async () => {
    const { org, pipeline } = await aScene()
    const running = await aBuild(app, org, pipeline)
    await startJob(app, running, 'a')
    await moveToThePast(app, running, 400)
    await moveToThePast(app, await aBuild(app, org, pipeline), 400)
    const gate = await aPipeline(app, org, '[{command: a}, {block: stop}, {command: b}]')
    const blocked = await aBuild(app, org, gate)
    await runJob(app, blocked, 'a')
    await moveToThePast(app, blocked, 400)
    expect(await left(pipeline, org)).toEqual([1, 2])
    expect(await left(gate, org)).toEqual([1])
  })

  it('artifacts of a blocked build only until their own days are over', async () => {
    const { org, admin } = await aScene()
    const gate = await aPipeline(app, org, '[{command: a}, {block: stop}]')
    const build = await anOldBuild(app, org, gate, { daysAgo: 40, artifacts: ['file'] })
    const path = `${gate.path}/builds/${build.number}/artifacts`
    const state = async () => (await app.request('GET', path, { token: admin.token })).list[0]?.state
    const both = { build_days: 30, artifact_days: 50 }
    expect((await run(org, termsFor(both))).artifacts.count).toBe(0)
    expect(await state()).toBe('finished')
    const due = termsFor({ ...both, artifact_days: 35 })
    const before = await previewOrganization(app.db, org.id, due)
    expect(before.artifacts).toMatchObject({ count: 1, blob_bytes: 4 })
    expect(counts(await run(org, due))).toEqual(counts(before))
    expect(await state()).toBe('expired')
  })

  it('the parents, children and originals of builds that are not over', async () => {
    const { org } = await aScene()
    const target = await aPipeline(app, org, '[{command: c}]')
    const parents = await aPipeline(app, org, `[{trigger: ${target.slug}, async: true}]`)
    const parent = await aBuild(app, org, parents)
    await moveToThePast(app, parent, 400)
    expect(await left(parents, org)).toEqual([1])
    const child = { id: '', number: 1, organizationId: org.id }
    child.id = (
      await app.db
        .selectFrom('builds')
        .select('id')
        .where('pipeline_id', '=', target.id)
        .executeTakeFirstOrThrow()
    ).id
    await runJob(app, child, 'c')
    await moveToThePast(app, child, 40)
    expect(await left(parents, org)).toEqual([])

    const gate = await aPipeline(app, org, `[{trigger: ${target.slug}}, {block: stop}]`)
    const waiting = await aBuild(app, org, gate)
    const own = { id: '', number: 2, organizationId: org.id }
    own.id = (
      await app.db
        .selectFrom('builds')
        .select('id')
        .where('pipeline_id', '=', target.id)
        .where('number', '=', 2)
        .executeTakeFirstOrThrow()
    ).id
    await runJob(app, own, 'c')
    await moveToThePast(app, own, 40)
    expect(await left(target, org)).toEqual([2])
    await applyEvent(app, waiting, { type: 'cancel_build', reason: null })
    expect(await left(target, org)).toEqual([])

    const original = await anOldBuild(app, org, target, { daysAgo: 40 })
    const repeated = await aBuild(app, org, target, {
      rebuiltFrom: { id: original.id, number: original.number },
    })
    expect(await left(target, org)).toEqual([3, 4])
    await runJob(app, repeated, 'c')
    expect(await left(target, org)).toEqual([4])
  })

  it('a fork’s build as long as a build that descends from it could run again', async () => {
    const { org } = await aScene()
    const target = await aPipeline(app, org, '[{command: c}]')
    const parents = await aPipeline(app, org, `[{trigger: ${target.slug}, async: true}]`)
    await moveToThePast(app, await aBuild(app, org, parents, { commitOrigin: 'fork' }), 400)
    await moveToThePast(app, await aBuild(app, org, parents), 400)
    const children = await app.db
      .selectFrom('builds')
      .select(['id', 'number'])
      .where('pipeline_id', '=', target.id)
      .orderBy('number')
      .execute()
    for (const child of children) await runJob(app, { ...child, organizationId: org.id }, 'c')
    expect(await left(parents, org)).toEqual([1])
    for (const child of children) await moveToThePast(app, { ...child, organizationId: org.id }, 40)
    // The child goes first, the origin with the next run.
    expect(await left(target, org)).toEqual([])
    expect(await left(parents, org)).toEqual([])
  })

  it('the trigger job that shows a deleted child', async () => {
    const { org, admin } = await aScene()
    const target = await aPipeline(app, org, '[{command: c}]')
    const parents = await aPipeline(app, org, `[{trigger: ${target.slug}}]`)
    const parent = await aBuild(app, org, parents)
    const child = await app.db
      .selectFrom('builds')
      .select('id')
      .where('pipeline_id', '=', target.id)
      .executeTakeFirstOrThrow()
    await runJob(app, { id: child.id, number: 1, organizationId: org.id }, 'c')
    await moveToThePast(app, { id: child.id, number: 1, organizationId: org.id }, 40)
    expect(await left(target, org)).toEqual([])
    const answer = await app.request('GET', `${parents.path}/builds/${parent.number}`, { token: admin.token })
    expect(answer.body).toMatchObject({ state: 'passed', jobs: [{ triggered_build: null }] })
    expect(await jobNamed(app, parent, target.slug)).toEqual(expect.any(String))
  })
})

describe('when something happens in between', () => {
  it.each([
    [
      'annotations',
      (org: TestOrganization, build: { id: string }) =>
        sql`
          insert into annotations (id, organization_id, build_id, context, body)
          values (gen_random_uuid(), ${org.id}, ${build.id}, 'late', 'note')`.execute(app.db),
      { annotations: [{ body: 'note' }] },
    ],
    [
      'cost',
      (org: TestOrganization, build: { id: string }) => costs(org, build, 2_000_000),
      { build: { cost: { amount: 2, currency: 'USD' } } },
    ],
  ])(
    'leaves a build whose archive no longer shows its %s, and archives it with the next run',
    async (_what, change, shown) => {
      const { org, oldBuild, pipeline, call, at } = await aScene()
      const build = await oldBuild({ daysAgo: 40 })
      await costs(org, build, 1_000_000)
      const terms = termsFor({ build_days: 30 })
      const changing = {
        ...app.ctx,
        blobs: {
          ...app.ctx.blobs,
          put: async (...given: Parameters<typeof app.ctx.blobs.put>) => {
            await change(org, build)
            return app.ctx.blobs.put(...given)
          },
        },
      }
      const place = { organizationId: org.id, pipelineId: pipeline.id }
      const report = emptyReport()
      await buildExpirer(new Set())(changing, place, terms, report)
      expect(report.builds.count).toBe(0)
      expect(await numbersOf(pipeline, 'builds')).toEqual([1])
      expect((await run(org, terms)).builds.count).toBe(1)
      expect((await call('GET', `${at}/archived_builds/1`)).body).toMatchObject(shown)
    },
  )

  it('leaves a build that somebody opens again', async () => {
    const { org, oldBuild, pipeline } = await aScene()
    const build = await oldBuild({ daysAgo: 40, exitStatus: 1 })
    const reopening = {
      ...app.ctx,
      blobs: {
        ...app.ctx.blobs,
        put: async (...given: Parameters<typeof app.ctx.blobs.put>) => {
          const retried = await applyEvent(app, build, {
            type: 'retry',
            jobId: build.jobIds[0] ?? '',
            parentCanceled: false,
          })
          expect(retried.ok).toBe(true)
          return app.ctx.blobs.put(...given)
        },
      },
    }
    const place = { organizationId: org.id, pipelineId: pipeline.id }
    const report = emptyReport()
    await buildExpirer(new Set())(reopening, place, termsFor({ build_days: 30 }), report)
    expect(report.builds.count).toBe(0)
    expect(await numbersOf(pipeline, 'builds')).toEqual([1])
  })

  it('loses nothing when a worker dies before, while or after it writes an archive', async () => {
    const { org, oldBuild, pipeline, call, at } = await aScene()
    await oldBuild({ daysAgo: 40, logs: ['log'] })
    const terms = termsFor({ build_days: 30 })
    await deleteAllUnused()
    const bytesBefore = await storedBytes(app)
    const dying = (put: typeof app.ctx.blobs.put) => ({ ...app.ctx, blobs: { ...app.ctx.blobs, put } })
    const died = new Error('The worker died.')
    const place = { organizationId: org.id, pipelineId: pipeline.id }
    const workers = [
      dying(() => Promise.reject(died)),
      dying(async (...given) => {
        await app.ctx.blobs.put(...given)
        throw died
      }),
    ]
    for (const worker of workers) {
      await expect(buildExpirer(new Set())(worker, place, terms, emptyReport())).rejects.toThrow(died)
      expect((await call('GET', `${at}/builds/1`)).body.archived_at).toBeUndefined()
    }
    await deleteAllUnused()
    expect(await storedBytes(app)).toBe(bytesBefore)
    expect((await run(org, terms)).builds.count).toBe(1)
    expect((await call('GET', `${at}/builds/1`)).body.archived_at).toEqual(expect.any(String))
  })

  it('deletes everything once when several processes work at once', async () => {
    const { org, oldBuild, pipeline } = await aScene()
    for (let daysAgo = 60; daysAgo > 31; daysAgo--) await oldBuild({ daysAgo, logs: ['log'] })
    const terms = termsFor({ build_days: 30, keep_newest_builds: 2 })
    const before = await previewOrganization(app.db, org.id, terms)
    const place = { organizationId: org.id, pipelineId: pipeline.id }
    const reports = await Promise.all(
      [1, 2, 3].map(async () => {
        const report = emptyReport()
        const step = buildExpirer(new Set())
        while (await step(app.ctx, place, terms, report));
        return report
      }),
    )
    expect(reports.reduce((sum, { builds }) => sum + builds.count, 0)).toBeLessThanOrEqual(
      before.builds.count,
    )
    await run(org, terms)
    expect(await numbersOf(pipeline, 'builds')).toEqual([28, 29])
    expect(await numbersOf(pipeline, 'archived_builds')).toHaveLength(before.builds.count)
    const busy = await Promise.all([run(org, terms), run(org, terms)])
    expect(busy.map(({ builds }) => builds.count)).toEqual([0, 0])
  })
})

describe('the preview and the work', () => {
  /** A small generator of repeatable numbers. */
  const random = (seed: number) => () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed / 2_147_483_648
  }

  it.each([1, 2, 3, 4])('agree on every count and every byte, with data of seed %i', async (seed) => {
    const next = random(seed)
    const below = (limit: number) => Math.floor(next() * limit)
    const org = await anOrganization(app)
    const pipelines = []
    for (let index = 0; index < 3; index++) {
      pipelines.push(await aPipeline(app, org, '[{command: a}, {command: b}]'))
    }
    const text = () => 'x'.repeat(1 + below(50))
    const logs = () => [0, 1].map(() => (next() < 0.7 ? text() : null))
    // Also of other pipelines, like the builds of trigger steps.
    let origin: { id: string; number: number } | null = null
    for (const pipeline of pipelines) {
      const count = 3 + below(3)
      for (let index = 0; index < count; index++) {
        const artifacts = Array.from({ length: below(3) }, text)
        const request = {
          commitOrigin: next() < 0.3 ? 'fork' : 'own',
          rebuiltFrom: next() < 0.3 ? origin : null,
        } as const
        const past = { daysAgo: below(100), logs: logs(), artifacts, request }
        const { id, number } = await anOldBuild(app, org, pipeline, past)
        origin = { id, number }
        if (next() < 0.1) await aBuild(app, org, pipeline, { rebuiltFrom: origin })
      }
    }
    const days = () => (next() < 0.3 ? 0 : 1 + below(100))
    const some = (): Partial<OwnSettings> => ({
      build_days: days(),
      ...(next() < 0.5 ? { log_days: days() } : {}),
      ...(next() < 0.5 ? { artifact_days: days() } : {}),
      ...(next() < 0.5 ? { archive_days: days() } : {}),
      ...(next() < 0.5 ? { keep_newest_builds: below(4) } : {}),
      ...(next() < 0.5 ? { archive_builds: next() < 0.5 } : {}),
    })
    const total = emptyReport()
    for (let round = 0; round < 3; round++) {
      for (const { id } of pipelines) {
        await app.db.deleteFrom('pipeline_retention').where('pipeline_id', '=', id).execute()
        if (next() < 0.6) {
          await app.db
            .insertInto('pipeline_retention')
            .values({ pipeline_id: id, organization_id: org.id, ...some() })
            .execute()
        }
      }
      const terms = termsFor({
        build_days: days(),
        log_days: days(),
        artifact_days: days(),
        archive_days: days(),
        keep_newest_builds: below(3),
        archive_builds: next() < 0.7,
      })
      // Deleting the last build of a fork's line makes the one before it due for the next run.
      for (
        let done: Report = await agreeOn(org, pipelines, terms);
        !isEmpty(done);
        done = await agreeOn(org, pipelines, terms)
      ) {
        for (const kind of kinds) add(total[kind], done[kind])
      }
    }
    expect(Math.min(total.builds.count, total.logs.count, total.artifacts.count)).toBeGreaterThan(0)
  })

  const agreeOn = async (
    org: TestOrganization,
    pipelines: ReadonlyArray<{ id: string; slug: string }>,
    terms: Terms,
  ): Promise<Report> => {
    await deleteAllUnused()
    const bytesBefore = await storedBytes(app)
    const before = await previewOrganization(app.db, org.id, terms)
    const parts = await Promise.all(pipelines.map((pipeline) => preview(app.db, org.id, [pipeline], terms)))
    for (const kind of kinds) {
      expect(parts.reduce((sum, part) => sum + part[kind].count, 0)).toBe(before[kind].count)
    }
    const whole = await preview(app.db, org.id, pipelines, terms)
    const inParts = await preview(app.db, org.id, pipelines, terms, 1)
    expect(counts(inParts)).toEqual(counts(whole))
    expect(inParts.pipelines.map(({ pipeline }) => pipeline)).toEqual(
      whole.pipelines.map(({ pipeline }) => pipeline),
    )
    const archivesBefore = await archiveBytes(org)
    const done = await run(org, terms)
    expect(counts(done)).toEqual(counts(before))
    await deleteAllUnused()
    const freed = kinds.reduce((sum, kind) => sum + done[kind].blob_bytes, 0)
    const archived = (await archiveBytes(org)) - archivesBefore + done.archived_builds.blob_bytes
    expect(bytesBefore - (await storedBytes(app)) + archived).toBe(freed)
    return done
  }

  const archiveBytes = async (org: TestOrganization) => {
    const { rows } = await sql<{ bytes: number }>`
      select coalesce(sum(size), 0)::bigint as bytes from archived_builds where organization_id = ${org.id}`.execute(
      app.db,
    )
    return rows[0]?.bytes ?? 0
  }
})
