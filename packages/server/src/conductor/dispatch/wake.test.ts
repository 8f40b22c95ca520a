import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { eventually, useOwnApp } from '../../../test/app.ts'
import { anAgent, anAgentWorld } from '../../../test/agent-client.ts'
import { aPipeline } from '../../../test/builders.ts'
import { aBuild, jobNamed } from '../../../test/runs.ts'
import { listen } from '../../db/listener.ts'
import { queueChannel } from './wake.ts'

// A ping is held for longer than a lost notification may take.
const app = useOwnApp({ env: { MILLRACE_PING_HOLD_SECONDS: '30' } })

it('the queues of all jobs that become runnable at the same time are notified', async () => {
  const worlds = await Promise.all(Array.from({ length: 6 }, () => anAgentWorld(app)))
  const pipelines = await Promise.all(
    worlds.map(async ({ org, cluster }) => ({
      org,
      pipeline: await aPipeline(app, org, 'steps: [{command: one}]', { cluster_id: cluster.id }),
    })),
  )
  const heard = new Set<string>()
  const listener = await listen(app.database.direct, {
    channels: { [queueChannel]: (ids) => ids.split(',').forEach((id) => heard.add(id)) },
    onConnected() {},
    onError() {},
  })
  await Promise.all(
    Array.from({ length: 5 }, () => pipelines).flatMap((some) =>
      some.map(({ org, pipeline }) => aBuild(app, org, pipeline)),
    ),
  )
  const queues = worlds.map(({ queue }) => queue.id)
  await eventually('the queues are notified', async () => heard.size >= queues.length)
  await listener.stop()
  expect([...heard].toSorted()).toEqual(queues.toSorted())
})

it('a job whose notification was lost is found by an agent that waits', async () => {
  const world = await anAgentWorld(app)
  const { org } = world
  const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{command: one}]'))
  const jobId = await jobNamed(app, build, 'one')
  const become = (state: string) => sql`update jobs set state = ${state} where id = ${jobId}`.execute(app.db)
  await become('waiting')
  const agent = await anAgent(app, world.token)
  const waiting = agent.offered()
  await eventually('the agent waits', async () => {
    const metrics = await app.request('GET', '/metrics')
    return /^millrace_agents_waiting\S* 1$/m.test(metrics.text)
  })
  await become('scheduled')
  expect(await waiting).toBe(jobId)
})
