import { describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { anOrganization, aPipeline, auditTrail } from '../../test/builders.ts'
import { anOldBuild } from '../../test/old-builds.ts'
import { listArchives, previewRetention, runRetention, setRetention, showArchive } from './retention.ts'

const app = useApp()
const stopping = new AbortController().signal

describe('millrace retention and millrace archive', () => {
  it('delete what the preview has counted, and read archived builds back', async () => {
    const org = await anOrganization(app)
    const pipeline = await aPipeline(app, org, '[{command: a}]')
    const { config } = app.ctx
    for (const daysAgo of [50, 40, 10]) {
      await anOldBuild(app, org, pipeline, { daysAgo, logs: ['log'], artifacts: ['file'] })
    }
    const of = { organization: org.slug, pipeline: null }
    const origin = { kind: 'operator', command: 'retention set' } as const
    await setRetention(config, app.db, origin, of, { build_days: 30, keep_newest_builds: 0 })
    expect(await auditTrail(app, org, 'ORGANIZATION_RETENTION_UPDATED')).toMatchObject([{ actor: null }])
    const preview = await previewRetention(config, app.db, of, {})
    expect(preview).toMatchObject({
      builds: { count: 2, archived_count: 2 },
      artifacts: { count: 2, blob_bytes: 8 },
      pipelines: [{ slug: pipeline.slug }],
    })
    const tried = await previewRetention(config, app.db, of, { build_days: 45 })
    expect(tried.builds.count).toBe(1)
    const done = await runRetention(config, app.db, of, stopping)
    expect(done).toMatchObject({ builds: { count: 2 }, artifacts: { count: 2, blob_bytes: 8 }, busy: [] })

    const place = { organization: org.slug, pipeline: pipeline.slug }
    const archives = await listArchives(config, app.db, place, 10)
    expect(archives.map(({ number }) => number)).toEqual([2, 1])
    expect(await listArchives(config, app.db, place, 1)).toHaveLength(1)
    const document = JSON.parse(await showArchive(config, app.db, place, '2')) as {
      build: { number: number }
    }
    expect(document.build.number).toBe(2)
    await expect(showArchive(config, app.db, place, '3')).rejects.toThrow('There is no archived build 3')
  })

  it('leaves a pipeline alone that a worker is at work on, and says so', async () => {
    const org = await anOrganization(app)
    const pipeline = await aPipeline(app, org, '[{command: a}]')
    await anOldBuild(app, org, pipeline, { daysAgo: 400 })
    const of = { organization: org.slug, pipeline: pipeline.slug }
    const config = {
      ...app.ctx.config,
      retention: { ...app.ctx.config.retention, keep_newest_builds: 0 },
    }
    await app.db
      .insertInto('retention_progress')
      .values({ pipeline_id: pipeline.id, organization_id: org.id, leased_until: '2999-01-01T00:00:00Z' })
      .execute()
    expect(await runRetention(config, app.db, of, stopping)).toMatchObject({
      builds: { count: 0 },
      busy: [pipeline.slug],
    })
    await app.db
      .updateTable('retention_progress')
      .set({ leased_until: null })
      .where('pipeline_id', '=', pipeline.id)
      .execute()
    expect(await runRetention(config, app.db, of, stopping)).toMatchObject({ builds: { count: 1 }, busy: [] })
  })
})
