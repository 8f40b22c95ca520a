// The contents of caches from job to job, and the volumes that jobs create.
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  aHostedPipeline,
  aHostedWorld,
  listVolumes,
  runBuild,
  untilEnded,
  untilQuiet,
  useHosted,
  type HostedWorld,
  inTime,
  patienceMs,
} from '../../../../test/hosted/world.ts'
import { auditTrail } from '../../../../test/builders.ts'
import { aBuild } from '../../../../test/runs.ts'
import { planAgents } from '../../../hosted-agents/plan.ts'
import { reconcile } from '../../../hosted-agents/reconcile.ts'
import { expireVolumes } from '../../../hosted-agents/cache-volumes.ts'

const { app, engine, commands, host } = useHosted({ MILLRACE_HOSTED_CACHE_GB: '1' })
vi.setConfig({ testTimeout: patienceMs })
beforeAll(async () => {
  await host()
})
beforeEach(() => engine.recover())

const step = (command: string) =>
  `[{ command: "${command.replaceAll('$', '$$$$')}", cache: { paths: [a], name: deps } }]`

async function run(world: HostedWorld, command: string): Promise<string> {
  const state = await runBuild(app, world, await aHostedPipeline(app, world, step(command)))
  await untilQuiet(app)
  return state
}

/** Runs each command with the pipeline’s one cache. */
async function aCachingPipeline(world: HostedWorld) {
  const pipeline = await aHostedPipeline(
    app,
    world,
    '[{ command: "$$DO", cache: { paths: [a], name: deps } }]',
  )
  return {
    tag: `${pipeline.id}/deps`,
    async run(command: string, given: Parameters<typeof aBuild>[3] = {}) {
      const build = await aBuild(app, world.org, pipeline, { ...given, env: { DO: command } })
      const state = await untilEnded(app, build)
      await untilQuiet(app)
      return state
    },
    begin: (command: string) => aBuild(app, world.org, pipeline, { env: { DO: command } }),
  }
}

commands['$DO'] = async (job, process) => {
  const [word = '', ...rest] = (job.env['DO'] ?? '')
    .replaceAll('$CACHE', process.environment['MILLRACE_RUNNER_CACHE'] ?? '/none')
    .split(' ')
  const other = commands[word]
  if (other !== undefined) return other(job, { ...process, arguments: rest })
  return (await engine.programs[word]?.({ ...process, arguments: rest })) ?? 127
}

describe('a job with a cache', () => {
  it('starts with an empty cache, and the next job with the tag gets its contents', async () => {
    const world = await aHostedWorld(app)
    const { run: go, tag } = await aCachingPipeline(world)
    expect(await go('cat $CACHE/a')).toBe('failed')
    expect(await listVolumes(app, world)).toEqual([])
    expect(await go('cp /etc/one $CACHE/a')).toBe('passed')
    expect(await go('cat $CACHE/a')).toBe('passed')
    const [volume, ...others] = await listVolumes(app, world)
    expect(others).toEqual([])
    expect(volume).toMatchObject({ tag, cluster_id: world.cluster.id })
    expect(String(volume?.id)).toMatch(/^vol-[0-9a-z]{26}$/)
  })

  it('saves nothing when it fails', async () => {
    const { run: go } = await aCachingPipeline(await aHostedWorld(app))
    commands['spoil'] = async (_, { writeFile }) => {
      writeFile('/var/lib/millrace/cache/a', 'spoiled')
      return 1
    }
    expect(await go('cp /etc/one $CACHE/a')).toBe('passed')
    expect(await go('spoil')).toBe('failed')
    commands['is-one'] = async (_, { readFile }) =>
      readFile('/var/lib/millrace/cache/a') === 'one\n' ? 0 : 1
    expect(await go('is-one')).toBe('passed')
  })

  it('has its own copy, like the nineteen others that run at once', async () => {
    const world = await aHostedWorld(app)
    const { run: go, begin } = await aCachingPipeline(world)
    expect(await go('cp /etc/one $CACHE/a')).toBe('passed')
    let here = 0
    commands['mine'] = async ({ id }, { readFile, writeFile }) => {
      const found = readFile('/var/lib/millrace/cache/a')
      writeFile('/var/lib/millrace/cache/a', id)
      here++
      await inTime('all twenty are there', async () => here === 20)
      return found === 'one\n' && readFile('/var/lib/millrace/cache/a') === id ? 0 : 1
    }
    const builds = await Promise.all(Array.from({ length: 20 }, () => begin('mine')))
    for (const build of builds) expect(await untilEnded(app, build)).toBe('passed')
    await untilQuiet(app)
    await expireVolumes(app.ctx)
    expect(await listVolumes(app, world)).toHaveLength(1)
    expect(await app.ctx.hosted?.listVolumes()).toHaveLength(
      (await app.db.selectFrom('cache_volumes').select('id').execute()).length,
    )
  })

  it('saves nothing for pull requests from another repository', async () => {
    const { run: go } = await aCachingPipeline(await aHostedWorld(app))
    const pullRequest = {
      id: '7',
      base: 'main',
      repository: 'https://git.example.com/stranger/fork.git',
      draft: false,
      labels: [],
    }
    expect(await go('cp /etc/one $CACHE/a', { pullRequest, commitOrigin: 'fork' })).toBe('passed')
    expect(await go('cat $CACHE/a')).toBe('failed')
    // A check or a deployment of such a commit has no pull request.
    expect(await go('cp /etc/one $CACHE/a', { commitOrigin: 'fork' })).toBe('passed')
    expect(await go('cat $CACHE/a')).toBe('failed')
  })

  it('does not share its cache with other pipelines', async () => {
    const world = await aHostedWorld(app)
    expect(await run(world, 'cp /etc/one $CACHE/a')).toBe('passed')
    expect(await run(world, 'cat $CACHE/a')).toBe('failed')
  })

  it('waits until a volume can be attached', async () => {
    const world = await aHostedWorld(app)
    const { begin } = await aCachingPipeline(world)
    engine.fail('cut off', 'attachVolume')
    const build = await begin('cp /etc/one $CACHE/a')
    await inTime('it was tried', async () => {
      const rows = await app.db.selectFrom('hosted_agents').select('last_error').execute()
      return rows.some(({ last_error }) => last_error !== null)
    })
    engine.recover()
    expect(await untilEnded(app, build)).toBe('passed')
    await untilQuiet(app)
    expect(await listVolumes(app, world)).toHaveLength(1)
  })

  it('saves its cache once, however often the engine fails', async () => {
    const world = await aHostedWorld(app)
    const { begin, run: go } = await aCachingPipeline(world)
    engine.fail('cut off', 'snapshotVolume', 'detachVolume')
    const build = await begin('cp /etc/one $CACHE/a')
    expect(await untilEnded(app, build)).toBe('passed')
    await inTime('it was tried', async () => {
      const rows = await app.db.selectFrom('hosted_agents').select(['state', 'last_error']).execute()
      return rows.some(({ state, last_error }) => state === 'stopping' && last_error !== null)
    })
    expect(await listVolumes(app, world)).toEqual([])
    engine.recover()
    await untilQuiet(app)
    expect(await go('cat $CACHE/a')).toBe('passed')
  })
})

describe('a job that becomes runnable while the cache of another is being saved', () => {
  /** The second job became runnable after the first had passed, whose volume cannot be saved yet. */
  async function twoJobs() {
    const { begin } = await aCachingPipeline(await aHostedWorld(app))
    engine.fail('not reached', 'snapshotVolume')
    const first = await begin('cp /etc/one $CACHE/a')
    expect(await untilEnded(app, first)).toBe('passed')
    const second = await begin('cat $CACHE/a')
    await planAgents(app.ctx)
    return second
  }

  const agentsOf = (build: { id: string }) =>
    app.db
      .selectFrom('hosted_agents as h')
      .innerJoin('jobs as j', 'j.id', 'h.job_id')
      .where('j.build_id', '=', build.id)
      .select('h.id')
      .execute()

  it('waits for the cache and gets it', async () => {
    const second = await twoJobs()
    expect(await agentsOf(second)).toEqual([])
    engine.recover()
    expect(await untilEnded(app, second)).toBe('passed')
    await untilQuiet(app)
  })

  it('waits at most half a minute', async () => {
    const second = await twoJobs()
    const later = () => new Date(Date.now() + 31_000)
    await inTime('it has an agent', async () => {
      await planAgents({ ...app.ctx, now: later })
      return (await agentsOf(second)).length > 0
    })
    expect(await untilEnded(app, second)).toBe('failed')
    engine.recover()
    await untilQuiet(app)
  })
})

describe('retention of cache volumes', () => {
  it('expires the least recently used first when the cluster is over its limit', async () => {
    const world = await aHostedWorld(app)
    commands['fill'] = async (_, { writeFile }) => {
      writeFile('/var/lib/millrace/cache/a', 'x'.repeat(400 * 1024 * 1024))
      return 0
    }
    const pipelines = [
      await aCachingPipeline(world),
      await aCachingPipeline(world),
      await aCachingPipeline(world),
    ]
    const [one, two, three] = pipelines
    expect([await one?.run('fill'), await two?.run('fill')]).toEqual(['passed', 'passed'])
    expect((await listVolumes(app, world)).map((volume) => volume.size_mb)).toEqual([400, 400])
    // The first is used again, so the second is now the least recently used.
    expect(await one?.run('cat $CACHE/a')).toBe('passed')
    expect(await three?.run('fill')).toBe('passed')
    await expireVolumes(app.ctx)
    expect((await listVolumes(app, world)).map(({ tag }) => String(tag)).toSorted()).toEqual(
      [one?.tag, three?.tag].toSorted(),
    )
    expect(
      (await app.ctx.hosted?.listVolumes())?.filter(({ clusterId }) => clusterId === world.cluster.id),
    ).toHaveLength(2)
  })

  it('expires a volume that no job has used for two weeks', async () => {
    const world = await aHostedWorld(app)
    const { run: go } = await aCachingPipeline(world)
    await go('cp /etc/one $CACHE/a')
    const later = new Date(Date.now() + 15 * 24 * 60 * 60_000)
    await expireVolumes({ ...app.ctx, now: () => later })
    expect(await listVolumes(app, world)).toEqual([])
  })
})

describe('DELETE /v2/organizations/{org.slug}/clusters/{cluster.id}/cache_volumes of a hosted cluster', () => {
  const remove = ({ admin, volumes }: HostedWorld, tag: string) =>
    app.request('DELETE', volumes, { token: admin.token, body: { tag } })

  it('deletes the volumes of the tag and no others, also in the engine, and records an audit event', async () => {
    const world = await aHostedWorld(app)
    const { run: go, tag } = await aCachingPipeline(world)
    const { run: goElsewhere, tag: other } = await aCachingPipeline(world)
    await goElsewhere('cp /etc/one $CACHE/a')
    await go('cp /etc/one $CACHE/a')
    expect((await remove(world, tag)).status).toBe(204)
    expect((await listVolumes(app, world)).map((volume) => volume.tag)).toEqual([other])
    expect(await auditTrail(app, world.org, 'CACHE_VOLUME_DELETED')).toMatchObject([{ data: { tag } }])
    expect(await go('cat $CACHE/a')).toBe('failed')
    expect(await goElsewhere('cat $CACHE/a')).toBe('passed')
  })

  it('Delete cache volume 404: no volume for the tag', async () => {
    const world = await aHostedWorld(app)
    const other = await aHostedWorld(app)
    const { run: go, tag } = await aCachingPipeline(other)
    await go('cp /etc/one $CACHE/a')
    for (const wrong of ['a/b;c', tag, 'vol-x', 'ü'.repeat(5000)]) {
      const answer = await remove(world, wrong)
      expect([answer.status, answer.body]).toEqual([
        404,
        { message: `No cache volume found for tag: ${wrong}` },
      ])
    }
    expect(await listVolumes(app, other)).toHaveLength(1)
  })

  it.each(['not reached', 'hangs', 'cut off'] as const)(
    'Delete cache volume 503: deletion failed, and nothing has changed or it is completed (%s)',
    async (trouble) => {
      const world = await aHostedWorld(app)
      const { run: go, tag } = await aCachingPipeline(world)
      await go('cp /etc/one $CACHE/a')
      engine.fail(trouble, 'deleteSnapshot')
      const answer = await remove(world, tag)
      expect(answer.status).toBe(503)
      expect(String(answer.body.message)).toMatch(/^Could not delete cache volume: The engine .*\.$/)
      expect(await auditTrail(app, world.org, 'CACHE_VOLUME_DELETED')).toEqual([])
      engine.recover()
      expect(await listVolumes(app, world)).toHaveLength(trouble === 'cut off' ? 0 : 1)
      expect((await remove(world, tag)).status).toBe(204)
      expect(await go('cat $CACHE/a')).toBe('failed')
    },
  )

  it('leaves an attached volume until its job ends, and does not save it', async () => {
    const world = await aHostedWorld(app)
    const { run: go, begin, tag } = await aCachingPipeline(world)
    await go('cp /etc/one $CACHE/a')
    let goOn = false
    let hasBegun = false
    commands['attached'] = async (_, { readFile, writeFile }) => {
      hasBegun = true
      await inTime('it may go on', async () => goOn)
      const found = readFile('/var/lib/millrace/cache/a')
      writeFile('/var/lib/millrace/cache/b', 'x')
      return found === 'one\n' ? 0 : 1
    }
    const build = await begin('attached')
    await inTime('it has begun', async () => hasBegun)
    expect((await remove(world, tag)).status).toBe(204)
    goOn = true
    expect(await untilEnded(app, build)).toBe('passed')
    await untilQuiet(app)
    expect(await listVolumes(app, world)).toEqual([])
    expect((await remove(world, tag)).status).toBe(404)
    expect(await go('cat $CACHE/b')).toBe('failed')
  })
})

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/cache_volumes of a hosted cluster', () => {
  it('omits volumes that were never detached', async () => {
    const world = await aHostedWorld(app)
    const { begin } = await aCachingPipeline(world)
    let seen: unknown
    commands['look'] = async () => {
      seen = await listVolumes(app, world)
      return 0
    }
    await untilEnded(app, await begin('look'))
    expect(seen).toEqual([])
    await untilQuiet(app)
    expect(await listVolumes(app, world)).toHaveLength(1)
  })

  it.each(['not reached', 'hangs', 'cut off'] as const)(
    'List cache volumes 503: volumes could not be loaded (%s)',
    async (trouble) => {
      const world = await aHostedWorld(app)
      engine.fail(trouble, 'listVolumes')
      const answer = await app.request('GET', world.volumes, { token: world.admin.token })
      expect(answer.status).toBe(503)
      expect(String(answer.body.message)).toMatch(/^Could not load cache volumes: The engine .*\.$/)
    },
  )

  it('shows when a volume was last attached, detached and created, and omits volumes that the engine has lost', async () => {
    const world = await aHostedWorld(app)
    const { run: go } = await aCachingPipeline(world)
    await go('cp /etc/one $CACHE/a')
    const [volume] = await listVolumes(app, world)
    expect(String(volume?.attached_at) <= String(volume?.detached_at)).toBe(true)
    await app.ctx.hosted?.deleteSnapshot(String(volume?.id))
    expect(await listVolumes(app, world)).toEqual([])
    await reconcile(app.ctx)
    expect(await go('cat $CACHE/a')).toBe('failed')
  })
})

describe('hosted_container_cache_enabled', () => {
  it('gives each pipeline a volume for image layers, which passing jobs save and which its tag deletes', async () => {
    const world = await aHostedWorld(app)
    const { token } = world.admin
    await app.request('PUT', world.cluster.path, { token, body: { hosted_container_cache_enabled: true } })
    const pipeline = await aHostedPipeline(
      app,
      world,
      '[{ command: "cp /etc/one /var/lib/containers/layer" }]',
    )
    expect(await runBuild(app, world, pipeline)).toBe('passed')
    await untilQuiet(app)
    const tag = `${pipeline.id}/container-cache;layers`
    expect(await listVolumes(app, world)).toMatchObject([{ tag }])
    expect((await app.request('DELETE', world.volumes, { token, body: { tag } })).status).toBe(204)
    expect(await listVolumes(app, world)).toEqual([])
  })
})
