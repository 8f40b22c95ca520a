// Warm agents, and the capacity that all hosted agents share.
import { beforeAll, describe, expect, it, vi } from 'vitest'
import {
  aHostedPipeline,
  aHostedWorld,
  runBuild,
  untilEnded,
  untilQuiet,
  useHosted,
  inTime,
  patienceMs,
} from '../../test/hosted/world.ts'
import { aBuild, statesOf } from '../../test/runs.ts'

const { app, commands, host } = useHosted({ MILLRACE_HOSTED_WARM_AGENTS: '1', MILLRACE_HOSTED_CPUS: '6' })
vi.setConfig({ testTimeout: patienceMs })
beforeAll(async () => {
  await host()
  // Two replicas, as in production.
  await host()
})

const warm = async (queueId: string) =>
  (
    await app.db
      .selectFrom('hosted_agents')
      .select(['id', 'agent_id'])
      .where('queue_id', '=', queueId)
      .where('state', '=', 'warm')
      .where('job_id', 'is', null)
      .where('agent_id', 'is not', null)
      .execute()
  ).map(({ id }) => id)

const aWarmAgent = (queueId: string) => inTime('an agent is warm', async () => (await warm(queueId)).at(0))

describe('warm agents', () => {
  it('take the next job of their queue, and are replaced', async () => {
    const world = await aHostedWorld(app)
    const pipeline = await aHostedPipeline(app, world, '[{ command: "true" }]')
    await runBuild(app, world, pipeline)
    const first = await aWarmAgent(world.queue.id)
    let took: string | undefined
    commands['who'] = async ({ agent }) => {
      took = (
        await app.db
          .selectFrom('hosted_agents')
          .select('id')
          .where('agent_id', '=', agent.id)
          .where('job_id', 'is not', null)
          .executeTakeFirst()
      )?.id
      return 0
    }
    await runBuild(app, world, await aHostedPipeline(app, world, '[{ command: who }]'))
    expect(took).toBe(first)
    await inTime('another is warm', async () => {
      const [next] = await warm(world.queue.id)
      return next !== undefined && next !== first
    })
    await app.request('POST', `${world.queue.path}/pause_dispatch`, { token: world.admin.token })
    await untilQuiet(app)
  })

  it('do not prevent the deletion of a cluster', async () => {
    const world = await aHostedWorld(app)
    const { token } = world.admin
    const pipeline = await aHostedPipeline(app, world, '[{ command: "true" }]')
    await runBuild(app, world, pipeline)
    await aWarmAgent(world.queue.id)
    expect((await app.request('DELETE', pipeline.path, { token })).status).toBe(204)
    expect((await app.request('DELETE', world.cluster.path, { token })).status).toBe(204)
    await inTime('the container goes', async () => {
      const { reconcile } = await import('./reconcile.ts')
      await reconcile(app.ctx)
      return (await app.ctx.hosted?.listContainers())?.length === 0
    })
  })
})

describe('capacity', () => {
  it('is shared: jobs beyond it wait, and two replicas start nothing twice', async () => {
    const world = await aHostedWorld(app)
    let running = 0
    let most = 0
    let ended = 0
    commands['room'] = async () => {
      most = Math.max(most, ++running)
      // All the capacity is used as long as there are enough jobs.
      await inTime('others begin', async () => running === 3 || ended >= 5)
      running--
      ended++
      return 0
    }
    const steps = `[${Array.from({ length: 8 }, (_, index) => `{ command: "room ${index}" }`).join(', ')}]`
    const build = await aBuild(app, world.org, await aHostedPipeline(app, world, steps))
    expect(await untilEnded(app, build)).toBe('passed')
    expect(most).toBe(3)
    expect(Object.values(await statesOf(app, build))).toEqual(Array.from({ length: 8 }, () => 'passed'))
    await app.request('POST', `${world.queue.path}/pause_dispatch`, { token: world.admin.token })
    await untilQuiet(app)
  })
})
