import { describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld } from '../../../../test/agent-client.ts'
import { useApp } from '../../../../test/app.ts'
import { aPipeline, aToken, auditTrail } from '../../../../test/builders.ts'
import { aBuild } from '../../../../test/runs.ts'
import { restored, saveContents } from '../../../../test/step-caches.ts'

const app = useApp()

async function aScene() {
  const world = await anAgentWorld(app)
  const configuration = '{steps: [{command: make, cache: {name: deps, paths: [a]}}]}'
  const pipeline = await aPipeline(app, world.org, configuration, { cluster_id: world.cluster.id })
  const job = async (branch = 'main') => {
    await aBuild(app, world.org, pipeline, { branch })
    return (await anAgent(app, world.token)).begin()
  }
  const run = await job()
  await saveContents(app, run, ['manifest', 'x'], { files: 3 })
  await saveContents(app, await job('topic'), ['other manifest', 'x'])
  const call = (method: 'GET' | 'DELETE', end = '', token = world.admin.token) =>
    app.request(method, `${pipeline.path}/caches${end}`, { token })
  return { ...world, pipeline, job, run, call }
}

describe('GET /v2/organizations/{org}/pipelines/{pipeline}/caches', () => {
  it('lists the caches, most recently used first', async () => {
    const { call, run } = await aScene()
    const { status, list } = await call('GET')
    expect(status).toBe(200)
    expect(list).toMatchObject([
      { name: 'deps', branch: 'topic', stored_bytes: 15 },
      {
        name: 'deps',
        branch: 'main',
        platform: 'linux-x64',
        paths: ['a'],
        file_count: 3,
        size_bytes: 1,
        stored_bytes: 9,
        job_id: run.id,
      },
    ])
  })

  it('filters by name and branch', async () => {
    const { call } = await aScene()
    expect((await call('GET', '?branch=main')).list).toMatchObject([{ branch: 'main' }])
    expect((await call('GET', '?name=deps&branch=topic')).list).toMatchObject([{ branch: 'topic' }])
    expect((await call('GET', '?name=other')).list).toEqual([])
  })
})

describe('DELETE /v2/organizations/{org}/pipelines/{pipeline}/caches/{cache}', () => {
  it('deletes one cache, so that the next job starts without it', async () => {
    const { call, job, org } = await aScene()
    const [topic] = (await call('GET', '?branch=topic')).list
    expect((await call('DELETE', `/${topic?.id}`)).status).toBe(204)
    expect((await call('DELETE', `/${topic?.id}`)).status).toBe(404)
    expect(await restored(app, await job('topic'))).toEqual(['main', 'manifest', 'x'])
    expect(await auditTrail(app, org, 'CACHE_DELETED')).toMatchObject([
      { data: { id: topic?.id, name: 'deps', branch: 'topic', platform: 'linux-x64' } },
    ])
  })

  it('is 404 for a cache of another pipeline', async () => {
    const [one, other] = [await aScene(), await aScene()]
    const [cache] = (await one.call('GET')).list
    expect((await other.call('DELETE', `/${cache?.id}`)).status).toBe(404)
    expect((await one.call('GET')).list).toHaveLength(2)
  })
})

describe('DELETE /v2/organizations/{org}/pipelines/{pipeline}/caches', () => {
  it('deletes the caches of a branch, or all', async () => {
    const { call, org, job } = await aScene()
    expect((await call('DELETE', '?branch=topic')).status).toBe(204)
    expect((await call('GET')).list).toMatchObject([{ branch: 'main' }])
    expect((await call('DELETE')).status).toBe(204)
    expect((await call('DELETE')).status).toBe(204)
    expect((await call('GET')).list).toEqual([])
    expect(await restored(app, await job())).toBeNull()
    expect(await auditTrail(app, org, 'CACHE_DELETED')).toMatchObject([
      { data: { branch: 'topic', caches: 1 } },
      { data: { branch: null, caches: 1 } },
    ])
  })

  it('needs the scope write_pipelines', async () => {
    const { call, admin } = await aScene()
    const token = await aToken(app, admin, { scopes: ['read_pipelines'] })
    expect((await call('DELETE', '', token)).status).toBe(403)
    expect((await call('GET', '', token)).status).toBe(200)
  })
})
