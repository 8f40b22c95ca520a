import { describe, expect, it } from 'vitest'
import { useApp } from '../../../test/app.ts'
import { aRunningJob, segment } from '../../../test/agent-client.ts'

const app = useApp()

describe('annotations', () => {
  const rows = (buildId: string) =>
    app.db
      .selectFrom('annotations')
      .select(['context', 'style', 'body', 'job_id', 'priority'])
      .where('build_id', '=', buildId)
      .orderBy('context')
      .execute()

  it('are made, appended to, given another style, and removed', async () => {
    const { run, build } = await aRunningJob(app)
    const annotate = (body: object) => run.call('POST', `jobs/${run.id}/annotations`, { body })
    expect((await annotate({ body: 'one', style: 'info', priority: 3 })).status).toBe(200)
    expect((await annotate({ body: ' two', append: true, context: 'default' })).status).toBe(200)
    expect((await annotate({ style: 'error' })).status).toBe(200)
    expect(await rows(build.id)).toEqual([
      { context: 'default', style: 'error', body: 'one two', job_id: null, priority: 3 },
    ])
    expect((await run.call('DELETE', `jobs/${run.id}/annotations/default`)).status).toBe(200)
    expect(await rows(build.id)).toEqual([])
  })

  it('of the job are others than those of the build', async () => {
    const { run, build } = await aRunningJob(app)
    const annotate = (body: object) => run.call('POST', `jobs/${run.id}/annotations`, { body })
    await annotate({ body: 'build', context: 'a.b' })
    await annotate({ body: 'job', context: 'a.b', scope: 'job' })
    expect((await run.call('DELETE', `jobs/${run.id}/annotations/${segment('a.b')}?scope=job`)).status).toBe(
      200,
    )
    expect(await rows(build.id)).toMatchObject([{ body: 'build', job_id: null }])
  })

  it('take 1 MiB and no more, also by appending; and need a body or a style', async () => {
    const { run } = await aRunningJob(app)
    const status = async (body: object) =>
      (await run.call('POST', `jobs/${run.id}/annotations`, { body })).status
    expect(await status({ body: 'x'.repeat(1024 * 1024) })).toBe(200)
    expect(await status({ body: 'x', append: true })).toBe(422)
    expect(await status({})).toBe(422)
    expect(await status({ body: 'x', context: 'c'.repeat(101) })).toBe(422)
    expect(await status({ body: 'x', style: 'loud' })).toBe(422)
  })
})
