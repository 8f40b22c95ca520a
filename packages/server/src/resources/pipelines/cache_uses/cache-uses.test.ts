import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld } from '../../../../test/agent-client.ts'
import { useApp } from '../../../../test/app.ts'
import { aPipeline } from '../../../../test/builders.ts'
import { aBuild } from '../../../../test/runs.ts'
import { restored, saveContents } from '../../../../test/step-caches.ts'

const app = useApp()

async function aScene() {
  const world = await anAgentWorld(app)
  const configuration = '{steps: [{command: make, cache: {name: deps, paths: [a]}}]}'
  const pipeline = await aPipeline(app, world.org, configuration, { cluster_id: world.cluster.id })
  const job = async () => {
    await aBuild(app, world.org, pipeline, { branch: 'main' })
    return (await anAgent(app, world.token)).begin()
  }
  const list = async (token = world.admin.token) =>
    app.request('GET', `${pipeline.path}/cache_uses`, { token })
  return { ...world, pipeline, job, list }
}

describe('GET /v2/organizations/{org}/pipelines/{pipeline}/cache_uses', () => {
  it('counts the jobs that found a cache and those that found none', async () => {
    const { list, job } = await aScene()
    expect((await list()).list).toEqual([])
    const first = await job()
    expect(await restored(app, first)).toBeNull()
    await saveContents(app, first, ['manifest', 'x'])
    for (const each of [await job(), await job()]) expect(await restored(app, each)).not.toBeNull()
    expect((await list()).list).toEqual([
      { day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), hits: 2, misses: 1 },
    ])
  })

  it('forgets days that are long ago, and has the newest first', async () => {
    const { list, job, org, pipeline } = await aScene()
    await sql`
      insert into step_cache_uses (organization_id, pipeline_id, day, hits, misses)
      select ${org.id}, p.id, date_trunc('day', now(), 'UTC') - make_interval(days => age), age, 0 from pipelines p, unnest(array[3, 200]) age
      where p.organization_id = ${org.id} and p.slug = ${pipeline.slug}`.execute(app.db)
    await restored(app, await job())
    expect((await list()).list).toMatchObject([{ hits: 0, misses: 1 }, { hits: 3 }])
  })

  it('is 404 for a pipeline of another organization', async () => {
    const [one, other] = [await aScene(), await aScene()]
    expect((await one.list(other.admin.token)).status).toBe(404)
  })
})
