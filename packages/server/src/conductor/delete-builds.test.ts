import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useOwnApp } from '../../test/app.ts'
import { anAdmin, anOrganization, aPipeline } from '../../test/builders.ts'
import { aBuild, jobNamed, startJob, statesOf } from '../../test/runs.ts'
import { deleteBuilds } from './delete-builds.ts'
import { sweep } from './sweep.ts'

const app = useOwnApp()

const count = async (table: 'builds' | 'removed_pipelines') => {
  const { rows } = await sql<{
    count: number
  }>`select count(*)::int as count from ${sql.table(table)}`.execute(app.db)
  return rows[0]?.count
}

describe('deleting a pipeline', () => {
  const deleted = async (configuration: string) => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const pipeline = await aPipeline(app, org, configuration)
    return {
      org,
      admin,
      pipeline,
      deletePipeline: () => app.request('DELETE', pipeline.path, { token: admin.token }),
    }
  }

  it('frees its slots in concurrency groups at once', async () => {
    const limited = '[{command: a, concurrency: 1, concurrency_group: gate}]'
    const { org, pipeline, deletePipeline } = await deleted(limited)
    const holder = await aBuild(app, org, pipeline)
    await startJob(app, holder, 'a')
    const waiting = await aBuild(app, org, await aPipeline(app, org, limited))
    expect(await statesOf(app, waiting)).toEqual({ a: 'limited' })
    expect((await deletePipeline()).status).toBe(204)
    expect(await statesOf(app, waiting)).toEqual({ a: 'scheduled' })
    expect(await statesOf(app, holder)).toEqual({ a: 'canceled' })
  })

  it('hides its builds and jobs at once, and cancels their jobs', async () => {
    const { org, admin, pipeline, deletePipeline } = await deleted('[{command: a}, wait, {command: b}]')
    const build = await aBuild(app, org, pipeline)
    const jobId = await jobNamed(app, build, 'a')
    await deletePipeline()
    expect(await statesOf(app, build)).toEqual({ a: 'canceled', waiter: 'canceled', b: 'canceled' })
    for (const path of [
      `${pipeline.path}/builds/${build.number}`,
      `${org.path}/jobs/${jobId}/artifacts`,
      `${org.path}/jobs/${jobId}/log`,
    ]) {
      expect((await app.request('GET', path, { token: admin.token })).status).toBe(404)
    }
    for (const list of ['/v2/builds', `${org.path}/builds`]) {
      expect((await app.request('GET', list, { token: admin.token })).list).toEqual([])
    }
    await sweep({ ...app.ctx, now: () => new Date(Date.now() + 60 * 24 * 60 * 60 * 1000) })
    expect(await statesOf(app, build)).toMatchObject({ a: 'canceled' })
  })

  it('reports to the trigger jobs that wait for its builds', async () => {
    const { org, pipeline, deletePipeline } = await deleted('[{command: c}]')
    const build = await aBuild(app, org, await aPipeline(app, org, `[{trigger: ${pipeline.slug}}]`))
    await deletePipeline()
    await sweep(app.ctx)
    expect(await statesOf(app, build)).toEqual({ [pipeline.slug]: 'canceled' })
  })

  it('deletes the rows in batches, many builds and large ones, and nothing of other pipelines', async () => {
    while ((await count('removed_pipelines')) !== 0) await deleteBuilds(app.ctx)
    const before = await count('builds')
    const { org, pipeline, deletePipeline } = await deleted(
      '[{command: a, key: a}, {command: b, depends_on: a}]',
    )
    const kept = await aBuild(app, org, await aPipeline(app, org, '[{command: kept}]'))
    const template = await aBuild(app, org, pipeline)
    await sql`
      insert into builds (id, organization_id, pipeline_id, number, state, commit, branch, source, created_at,
        scheduled_at, finished_at)
      select gen_random_uuid(), organization_id, pipeline_id, number + n, 'passed', commit, branch, source, created_at,
        scheduled_at, now()
      from builds, generate_series(1, 1000) n where id = ${template.id}`.execute(app.db)
    await sql`update build_tallies set jobs = 4000 where build_id = ${template.id}`.execute(app.db)
    await deletePipeline()
    expect(await count('builds')).toBe((before ?? 0) + 1002)
    while ((await count('removed_pipelines')) !== 0) await deleteBuilds(app.ctx)
    expect(await count('builds')).toBe((before ?? 0) + 1)
    expect(await statesOf(app, kept)).toEqual({ kept: 'scheduled' })
    const { rows } = await sql`
      select from jobs where build_id = ${template.id} union all
      select from build_steps where build_id = ${template.id} union all
      select from build_edges where build_id = ${template.id}`.execute(app.db)
    expect(rows).toEqual([])
  })
})
