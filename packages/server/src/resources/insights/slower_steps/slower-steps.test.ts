import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, aPipeline } from '../../../../test/builders.ts'
import { newId } from '../../../lib/ids.ts'
import { foldJobEnds } from '../insights/fold.ts'

const app = useApp()

async function aWorld() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const pipeline = await aPipeline(app, org, '[{command: a}]')
  /** Ten jobs a day from so many days ago on. `secondsOf`: of the day, by how many days ago it was. */
  const ran = (step: string, fromDaysAgo: number, secondsOf: (daysAgo: number) => number) =>
    Promise.all(
      Array.from({ length: fromDaysAgo + 1 }, (_, daysAgo) =>
        sql`
          insert into job_ends (organization_id, job_id, build_id, pipeline_id, step, ended_at, has_failed, is_retry, wait_ms, run_ms, price_micros)
          select ${org.id}, gen_random_uuid(), ${newId()}, ${pipeline.id}, ${step}, now() - make_interval(days => ${daysAgo}::int), false,
            false, 0, ${Math.round(secondsOf(daysAgo) * 1000)}, 0 from generate_series(1, 10)`.execute(
          app.db,
        ),
      ),
    )
  const list = async (token = admin.token) =>
    app.request('GET', `${org.path}/insights/slower_steps`, { token })
  const fold = () => foldJobEnds(app.ctx, new AbortController().signal)
  return { org, admin, pipeline, ran, list, fold }
}

const isThisWeek = (daysAgo: number) => daysAgo < 7

describe('GET /v2/organizations/{org.slug}/insights/slower_steps', () => {
  it('has steps whose median moved by more than its usual spread, and no others', async () => {
    const { pipeline, ran, list, fold } = await aWorld()
    await ran('slower', 20, (day) => (isThisWeek(day) ? 90 : 60))
    await ran('faster', 20, (day) => (isThisWeek(day) ? 60 : 90))
    await ran('steady', 20, () => 60)
    // Its days differ as much as this week does.
    await ran('restless', 20, (day) => (isThisWeek(day) ? 90 : day % 2 === 0 ? 50 : 100))
    // One bad day among the usual ones changes nothing.
    await ran('once bad', 20, (day) => (isThisWeek(day) ? 120 : day === 10 ? 900 : 60))
    await ran('new', 8, (day) => (isThisWeek(day) ? 90 : 60))
    await ran('quick', 20, (day) => (isThisWeek(day) ? 0.9 : 0.3))
    await fold()
    const answer = await list()
    expect(answer.list.map(({ name }) => name)).toEqual(['once bad', 'slower'])
    expect(answer.list[1]).toMatchObject({
      pipeline: { id: pipeline.id, slug: pipeline.slug },
      jobs: 70,
      change: expect.closeTo(0.5, 1),
    })
  })

  it('never has steps of pipelines that the caller may not see', async () => {
    const { org, admin, ran, list, fold } = await aWorld()
    await ran('slower', 20, (day) => (isThisWeek(day) ? 90 : 60))
    await fold()
    const member = await aMember(app, org)
    expect((await list(member.token)).list).toHaveLength(1)
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    expect((await list(member.token)).list).toEqual([])
    expect((await list((await aWorld()).admin.token)).status).toBe(404)
  })
})
