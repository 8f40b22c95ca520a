import { describe, expect, it } from 'vitest'
import { deleteBuilds } from '../../../conductor/delete-builds.ts'
import { useApp } from '../../../../test/app.ts'
import { aCluster, anAdmin, anOrganization, aPipeline } from '../../../../test/builders.ts'
import { aBuild, applyEvent } from '../../../../test/runs.ts'

const app = useApp()

describe('the counts of a pipeline', () => {
  it('follow its builds and jobs, whatever slots they are counted in', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    await aCluster(app, org, admin)
    const pipeline = await aPipeline(
      app,
      org,
      'steps:\n  - command: a\n  - command: b\n  - wait\n  - command: c\n',
    )
    const builds = await Promise.all(Array.from({ length: 20 }, () => aBuild(app, org, pipeline)))
    const counts = async () => {
      const { body } = await app.request('GET', pipeline.path, { token: admin.token })
      return Object.fromEntries(Object.entries(body).filter(([key]) => key.endsWith('_count')))
    }
    expect(await counts()).toEqual({
      scheduled_builds_count: 20,
      running_builds_count: 0,
      scheduled_jobs_count: 40,
      running_jobs_count: 0,
      waiting_jobs_count: 20,
    })
    await Promise.all(builds.map((build) => applyEvent(app, build, { type: 'cancel_build', reason: null })))
    expect(new Set(Object.values(await counts()))).toEqual(new Set([0]))
  })

  it('go with the builds when the pipeline is deleted', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    await aCluster(app, org, admin)
    const pipeline = await aPipeline(app, org, 'steps:\n  - command: a\n')
    const build = await aBuild(app, org, pipeline)
    expect((await app.request('DELETE', pipeline.path, { token: admin.token })).status).toBe(204)
    await deleteBuilds(app.ctx)
    for (const table of ['builds', 'jobs', 'pipeline_tallies'] as const) {
      const left = app.db.selectFrom(table).select('pipeline_id').where('pipeline_id', '=', pipeline.id)
      expect(await left.execute()).toEqual([])
    }
    expect(
      await app.db.selectFrom('build_steps').select('id').where('build_id', '=', build.id).execute(),
    ).toEqual([])
  })
})
