// The caches of steps, as agents of ours use them: on disk, in S3 through this server, and in S3 directly.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aBucket, type Bucket } from '../../../../../testbed/src/bucket.ts'
import { anAgent, anAgentWorld, type AgentWorld, type TestRun } from '../../../test/agent-client.ts'
import { startApp, type TestApp, useOwnApp } from '../../../test/app.ts'
import { aPipeline } from '../../../test/builders.ts'
import { aBuild } from '../../../test/runs.ts'
import {
  announce,
  blobOf,
  put,
  restore,
  restored,
  saveContents,
  sha256,
  uploadsOf,
} from '../../../test/step-caches.ts'
import type { BuildRequest } from '../../conductor/build.ts'
import { deleteUnusedBlobs } from '../../resources/builds/artifacts/expire.ts'
import { expireCaches } from '../../resources/pipelines/caches/expire.ts'

const hours = (count: number) => count * 60 * 60 * 1000

const app = useOwnApp()

interface Scene extends AgentWorld {
  pipeline: { id: string; path: string; slug: string }
  /** A running job of a new build. */
  job(given?: Partial<BuildRequest>): Promise<TestRun>
}

async function aScene(on: TestApp = app, cache = '{paths: [b, a]}'): Promise<Scene> {
  const world = await anAgentWorld(on)
  const configuration = `{steps: [{command: make, cache: ${cache}}]}`
  const pipeline = await aPipeline(on, world.org, configuration, { cluster_id: world.cluster.id })
  const job = async (given: Partial<BuildRequest> = {}) => {
    await aBuild(on, world.org, pipeline, given)
    return (await anAgent(on, world.token)).begin()
  }
  return { ...world, pipeline, job }
}

const aFork = { id: '7', base: 'main', repository: null, labels: [], draft: false, fork: true }
const fromFork = { commitOrigin: 'fork', pullRequest: aFork } as unknown as Partial<BuildRequest>

describe('the cache of a step', () => {
  it('is found by the next job, and only missing blobs are sent', async () => {
    const { job } = await aScene()
    const first = await job()
    expect(await restore(first)).toEqual({
      branch: 'main',
      cache: null,
      save: { allowed: true, most_bytes: 20 * 1024 ** 3 },
    })
    expect(await saveContents(app, first, ['manifest 1', 'x', 'y'])).toMatchObject({
      sent: 3,
      answer: { status: 200, body: { stored_bytes: 12 } },
    })
    expect(await restored(app, await job())).toEqual(['main', 'manifest 1', 'x', 'y'])
    expect(await saveContents(app, first, ['manifest 2', 'x', 'z'])).toMatchObject({ sent: 2 })
    expect(await restored(app, await job())).toEqual(['main', 'manifest 2', 'x', 'z'])
  })

  it('is that of the branch, else of the base of the pull request, else of the default branch', async () => {
    const { job } = await aScene()
    const pullRequest = { ...aFork, base: 'next', fork: false } as unknown as BuildRequest['pullRequest']
    await saveContents(app, await job(), ['of main'])
    expect(await restored(app, await job({ branch: 'topic', pullRequest }))).toEqual(['main', 'of main'])
    await saveContents(app, await job({ branch: 'next' }), ['of next'])
    expect(await restored(app, await job({ branch: 'topic', pullRequest }))).toEqual(['next', 'of next'])
    await saveContents(app, await job({ branch: 'topic', pullRequest }), ['of topic'])
    expect(await restored(app, await job({ branch: 'topic', pullRequest }))).toEqual(['topic', 'of topic'])
    expect(await restored(app, await job())).toEqual(['main', 'of main'])
    expect(await restored(app, await job({ branch: 'other' }))).toEqual(['main', 'of main'])
  })

  it('belongs to a name, a set of paths and a platform', async () => {
    const scene = await aScene(app, '{name: one, paths: [a, b]}')
    await saveContents(app, await scene.job(), ['one'])
    expect(await restored(app, await scene.job(), 'darwin-arm64')).toBeNull()
    const change = (configuration: string) =>
      app.db.updateTable('pipelines').set({ configuration }).where('id', '=', scene.pipeline.id).execute()
    await change('{steps: [{command: make, cache: {name: one, paths: [b, a]}}]}')
    expect(await restored(app, await scene.job())).toEqual(['main', 'one'])
    await change('{steps: [{command: make, cache: {name: one, paths: [a]}}]}')
    expect(await restored(app, await scene.job())).toBeNull()
    await change('{steps: [{command: make, cache: {name: two, paths: [a, b]}}]}')
    expect(await restored(app, await scene.job())).toBeNull()
    await change('{steps: [{command: make}]}')
    const none = await scene.job()
    const answer = await none.call('POST', `jobs/${none.id}/cache/restore`, { body: { platform: 'x' } })
    expect([answer.status, answer.body.message]).toEqual([404, 'The step of this job has no cache'])
  })

  it('is read and never written by builds of forks, trusted or not', async () => {
    const { job, pipeline } = await aScene()
    await saveContents(app, await job(), ['trusted'])
    const fork = await job(fromFork)
    expect(await restored(app, fork)).toEqual(['main', 'trusted'])
    expect((await restore(fork)).save).toMatchObject({
      allowed: false,
      reason: expect.stringMatching(/forks/),
    })
    expect((await announce(fork, ['x'])).status).toBe(403)
    const save = { platform: 'linux-x64', manifest: blobOf('trusted'), blobs: [], file_count: 0 }
    expect((await fork.call('PUT', `jobs/${fork.id}/cache`, { body: save })).status).toBe(403)
    const damage = await fork.call('POST', `jobs/${fork.id}/cache/damage`, {
      body: { digest: sha256('trusted') },
    })
    expect(damage.status).toBe(403)
    await app.db
      .updateTable('pipelines')
      .set({ provider_settings: JSON.stringify({ trust_pull_request_forks: true }) })
      .where('id', '=', pipeline.id)
      .execute()
    const trusted = await job(fromFork)
    expect((await announce(trusted, ['x'])).status).toBe(403)
    expect((await trusted.call('PUT', `jobs/${trusted.id}/cache`, { body: save })).status).toBe(403)
    expect(await restored(app, await job())).toEqual(['main', 'trusted'])
  })

  it('reaches no other pipeline, neither its caches nor its blobs', async () => {
    const [one, other] = [await aScene(), await aScene()]
    await saveContents(app, await one.job(), ['secret manifest', 'secret'])
    const job = await other.job()
    expect(await restored(app, job)).toBeNull()
    expect(uploadsOf(await announce(job, ['secret manifest', 'secret']))).toHaveLength(2)
    const body = { platform: 'linux-x64', manifest: blobOf('secret manifest'), blobs: [], file_count: 0 }
    expect((await job.call('PUT', `jobs/${job.id}/cache`, { body })).status).toBe(422)
    await job.call('POST', `jobs/${job.id}/cache/damage`, { body: { digest: sha256('secret') } })
    expect(await restored(app, await one.job())).toEqual(['main', 'secret manifest', 'secret'])
  })

  it('is saved whole by each of many jobs at once, and the last one stays', async () => {
    const { job } = await aScene()
    const jobs = await Promise.all(Array.from({ length: 6 }, () => job()))
    const saved = await Promise.all(
      jobs.map((run, index) =>
        saveContents(app, run, [`manifest ${index}`, 'shared', `a ${index}`, `b ${index}`]),
      ),
    )
    expect(saved.map(({ answer }) => answer.status)).toEqual(saved.map(() => 200))
    const [, manifest = '', ...blobs] = (await restored(app, await job())) ?? []
    const index = manifest.split(' ')[1]
    expect(blobs).toEqual(['shared', `a ${index}`, `b ${index}`])
    // The objects of blobs that another job had sent already are deleted.
    await deleteUnusedBlobs(app.ctx)
    expect(await restored(app, await job())).toEqual(['main', manifest, ...blobs])
  })

  it('is not saved with blobs that are missing, too large, or sent for another digest', async () => {
    const { job } = await aScene()
    const run = await job()
    const [upload] = uploadsOf(await announce(run, ['x']))
    const save = (manifest: object) =>
      run.call('PUT', `jobs/${run.id}/cache`, {
        body: { platform: 'linux-x64', manifest, blobs: [], file_count: 0 },
      })
    expect((await save({ ...blobOf('x'), upload_id: upload?.upload_id })).status).toBe(422)
    expect((await save({ ...blobOf('x'), upload_id: randomUUID() })).status).toBe(422)
    expect((await save(blobOf('x'))).status).toBe(422)
    expect((await put(app, upload?.url ?? '', 'x'.repeat(100_000))).status).toBe(400)
    expect((await put(app, (upload?.url ?? '').replace('most=', 'most=9'), 'x')).status).toBe(403)
    expect((await put(app, (upload?.url ?? '').replace(/ticket=.*/, 'ticket=1.x'), 'x')).status).toBe(403)
    const other = randomUUID()
    expect((await put(app, (upload?.url ?? '').replace(upload?.upload_id ?? '-', other), 'x')).status).toBe(
      403,
    )
    expect((await put(app, upload?.url ?? '', 'x')).status).toBe(200)
    expect((await save({ ...blobOf('x'), upload_id: upload?.upload_id })).status).toBe(200)
    expect((await save({ ...blobOf('x'), upload_id: upload?.upload_id })).status).toBe(200)
    expect(await restored(app, await job())).toEqual(['main', 'x'])
  })

  it('refuses more than the size of the step', async () => {
    const { job } = await aScene()
    const run = await job()
    const blobs = Array.from({ length: 321 }, () => ({ digest: sha256('large'), size: 64 * 1024 ** 2 }))
    const body = { platform: 'linux-x64', manifest: blobOf('m'), blobs, file_count: 1 }
    const answer = await run.call('PUT', `jobs/${run.id}/cache`, { body })
    expect([answer.status, answer.body.message]).toEqual([422, expect.stringMatching(/is the limit/)])
  })

  it('is gone after a report of damage, and its blob is sent again', async () => {
    const { job } = await aScene()
    const run = await job()
    await saveContents(app, run, ['m1', 'fine', 'damaged'])
    const other = await job({ branch: 'topic' })
    await saveContents(app, other, ['m2', 'fine'])
    await run.call('POST', `jobs/${run.id}/cache/damage`, { body: { digest: sha256('damaged') } })
    expect(await restored(app, await job())).toBeNull()
    expect(await restored(app, await job({ branch: 'topic' }))).toEqual(['topic', 'm2', 'fine'])
    expect(await saveContents(app, run, ['m1', 'fine', 'damaged'])).toMatchObject({ sent: 1 })
    expect(await restored(app, await job())).toEqual(['main', 'm1', 'fine', 'damaged'])
  })

  it('is gone with all its blobs that the store has lost', async () => {
    const { job, pipeline } = await aScene()
    const run = await job()
    await saveContents(app, run, ['m1', 'kept', 'lost 1', 'lost 2'])
    for (const digest of [sha256('lost 1'), sha256('lost 2')]) {
      const { rows } = await sql<{ blob_key: string }>`
        select blob_key from step_cache_blobs
        where pipeline_id = ${pipeline.id} and digest = decode(${digest}, 'hex')`.execute(app.db)
      await app.ctx.blobs.delete(rows[0]?.blob_key ?? '')
    }
    await run.call('POST', `jobs/${run.id}/cache/damage`, { body: { digest: sha256('lost 1') } })
    expect(await saveContents(app, run, ['m1', 'kept', 'lost 1', 'lost 2'])).toMatchObject({ sent: 2 })
    expect(await restored(app, await job())).toEqual(['main', 'm1', 'kept', 'lost 1', 'lost 2'])
  })

  it('ends with its job’s token', async () => {
    const { job } = await aScene()
    const run = await job()
    await run.finish()
    expect((await announce(run, ['x'])).status).toBe(401)
  })
})

describe('a cache with a key', () => {
  const asked = (key: string, given: object = {}) => ({ key, paths: ['b', 'a'], ...given })
  const keyOf = async (run: TestRun, given: object) =>
    (await restore(run, undefined, given)).cache?.key ?? null

  it('is found by its key and paths, then by how the key begins, in any job of the pipeline', async () => {
    const { job } = await aScene(app, 'false')
    const first = await job()
    expect(await restore(first, undefined, asked('npm-1'))).toMatchObject({ branch: 'main', cache: null })
    for (const key of ['npm-1', 'npm-2', 'yarn-1'])
      expect(await saveContents(app, first, [`of ${key}`], { given: asked(key) })).toMatchObject({
        answer: { status: 200 },
      })
    const next = await job({ branch: 'topic' })
    expect(await restored(app, next, undefined, asked('npm-1', { paths: ['a', 'b'] }))).toEqual([
      'main',
      'of npm-1',
    ])
    expect(await keyOf(next, asked('npm-1', { paths: ['a'] }))).toBeNull()
    expect(await keyOf(next, asked('npm-3'))).toBeNull()
    expect(await keyOf(next, asked('npm-3', { restore_keys: ['pnpm-', 'npm-', 'yarn-'] }))).toBe('npm-2')
    expect(await keyOf(next, asked('npm-3', { restore_keys: ['%'] }))).toBeNull()
    await saveContents(app, next, ['of the branch'], { given: asked('npm-0') })
    expect(await keyOf(next, asked('npm-3', { restore_keys: ['npm-'] }))).toBe('npm-0')
    expect(await keyOf(first, asked('npm-3', { restore_keys: ['npm-'] }))).toBe('npm-2')
    const stranger = await (await aScene(app, 'false')).job()
    expect(await keyOf(stranger, asked('npm-1', { restore_keys: ['npm-'] }))).toBeNull()
    expect((await restore(await job(fromFork), undefined, asked('npm-1'))).save).toMatchObject({
      allowed: false,
    })
    const { body } = await first.call('POST', `jobs/${first.id}/cache/restore`, { body: { platform: 'x' } })
    expect(body.message).toBe('The step of this job has no cache')
  })

  it.each([{ key: 'k' }, { paths: ['a'] }, asked(''), asked('a\nb'), asked('k', { paths: [] })])(
    'is refused with %j',
    async (given) => {
      const run = await (await aScene(app, 'false')).job()
      const answer = await run.call('POST', `jobs/${run.id}/cache/restore`, {
        body: { platform: 'x', ...given },
      })
      expect(answer.status).toBe(422)
    },
  )
})

describe('the end of caches', () => {
  const keysOf = async (pipelineId: string) => {
    const { rows } = await sql<{ blob_key: string }>`
      select blob_key from step_cache_blobs where pipeline_id = ${pipelineId}`.execute(app.db)
    return rows.map(({ blob_key }) => blob_key)
  }
  const heads = (keys: readonly string[]) => Promise.all(keys.map((key) => app.ctx.blobs.head(key)))
  const later = (ms: number) => ({ ...app.ctx, now: () => new Date(Date.now() + ms) })

  it('comes after 14 days without use; a restore counts as use', async () => {
    const { job, pipeline } = await aScene()
    await saveContents(app, await job(), ['used'])
    await saveContents(app, await job({ branch: 'topic' }), ['unused'])
    await sql`
      update step_caches set used_at = now() - interval '15 days' where pipeline_id = ${pipeline.id}`.execute(
      app.db,
    )
    expect(await restored(app, await job())).toEqual(['main', 'used'])
    await expireCaches(app.ctx)
    expect(await restored(app, await job({ branch: 'topic' }))).toEqual(['main', 'used'])
  })

  it('deletes blobs that no cache needs, but only after jobs had time to use them', async () => {
    const { job, pipeline } = await aScene()
    await saveContents(app, await job(), ['m1', 'old', 'kept'])
    const keys = await keysOf(pipeline.id)
    await saveContents(app, await job(), ['m2', 'new', 'kept'])
    await expireCaches(app.ctx)
    expect((await heads(keys)).filter((found) => found !== null)).toHaveLength(3)
    // A job that saves `old` again needs no upload, and its blob is used again.
    expect(uploadsOf(await announce(await job(), ['old']))).toEqual([])
    await expireCaches(later(hours(8)))
    expect((await keysOf(pipeline.id)).length).toBe(4)
    await expireCaches(later(hours(24)))
    await deleteUnusedBlobs(app.ctx)
    expect((await keysOf(pipeline.id)).length).toBe(3)
    expect((await heads(keys)).filter((found) => found !== null)).toHaveLength(1)
    expect(await restored(app, await job())).toEqual(['main', 'm2', 'new', 'kept'])
  })

  it('deletes an upload that nobody saved', async () => {
    const { job, org } = await aScene()
    const [upload] = uploadsOf(await announce(await job(), ['abandoned']))
    await put(app, upload?.url ?? '', 'abandoned')
    const { rows } = await sql<{ key: string }>`
      update unclaimed_blobs set delete_after = now() where key like ${`caches/${org.id}/%`} returning key`.execute(
      app.db,
    )
    expect(await heads(rows.map(({ key }) => key))).toEqual([{ size: 9 }])
    await deleteUnusedBlobs(app.ctx)
    expect(await heads(rows.map(({ key }) => key))).toEqual([null])
  })

  it('comes with the pipeline, and takes the objects along', async () => {
    const { job, pipeline, admin } = await aScene()
    const run = await job()
    await saveContents(app, run, ['m', 'x'])
    const keys = await keysOf(pipeline.id)
    expect((await app.request('DELETE', pipeline.path, { token: admin.token })).status).toBe(204)
    expect(await keysOf(pipeline.id)).toEqual([])
    await deleteUnusedBlobs(app.ctx)
    expect(await heads(keys)).toEqual([null, null])
  })

  it('comes for the least recently used first; shared blobs count once', async () => {
    const { job, pipeline } = await aScene()
    const limited = (pipelineBytes: number, organizationBytes: number) => ({
      ...app.ctx,
      config: { ...app.ctx.config, caches: { ...app.ctx.config.caches, pipelineBytes, organizationBytes } },
    })
    const shared = 's'.repeat(1000)
    for (const branch of ['one', 'two', 'three']) {
      await saveContents(app, await job({ branch }), [`m ${branch}`, shared, branch.repeat(100)])
    }
    const left = async () => {
      const { rows } = await sql<{ branch: string }>`
        select branch from step_caches where pipeline_id = ${pipeline.id} order by created_at`.execute(app.db)
      return rows.map(({ branch }) => branch)
    }
    // 1,000 shared bytes, 300 + 300 + 500 of their own, 18 of manifests.
    await expireCaches(limited(2200, 1e9))
    expect(await left()).toEqual(['one', 'two', 'three'])
    await sql`update step_caches set used_at = now() - interval '1 day' where pipeline_id = ${pipeline.id} and branch = 'two'`.execute(
      app.db,
    )
    await expireCaches(limited(2100, 1e9))
    expect(await left()).toEqual(['one', 'three'])
    await sql`update step_caches set used_at = now() - interval '1 day' where pipeline_id = ${pipeline.id} and branch = 'one'`.execute(
      app.db,
    )
    await expireCaches(limited(1e9, 1600))
    expect(await left()).toEqual(['three'])
  })
})

describe('caches in S3', () => {
  let bucket: Bucket
  let proxied: TestApp
  let direct: TestApp
  beforeAll(async () => {
    bucket = await aBucket()
    proxied = await startApp({ env: bucket.env('ci') })
    direct = await startApp({ env: bucket.env('ci', '&direct=on') }, proxied.database)
  })
  afterAll(async () => {
    await direct.close()
    await proxied.close()
    await bucket.close()
  })

  it('go through this server', async () => {
    const { job } = await aScene(proxied)
    await saveContents(proxied, await job(), ['m', 'x'])
    expect(await restored(proxied, await job())).toEqual(['main', 'm', 'x'])
    expect((await bucket.keys()).every((key) => key.startsWith('ci/caches/'))).toBe(true)
  })

  it('go straight to the store where that is switched on', async () => {
    const { job } = await aScene(direct)
    const run = await job()
    expect(uploadsOf(await announce(run, ['x']))[0]?.url.startsWith(bucket.endpoint)).toBe(true)
    expect(await saveContents(direct, run, ['m', 'x'])).toMatchObject({ sent: 2, answer: { status: 200 } })
    const { cache } = await restore(await job())
    expect(cache?.blobs[0]?.url.startsWith(bucket.endpoint)).toBe(true)
    expect(await restored(direct, await job())).toEqual(['main', 'm', 'x'])
  })
})
