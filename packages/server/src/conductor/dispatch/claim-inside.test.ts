import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { anAgent, anAgentWorld, type AgentWorld, type TestAgent } from '../../../test/agent-client.ts'
import { eventually, useOwnApp } from '../../../test/app.ts'
import { aPipeline, aQueue } from '../../../test/builders.ts'
import { aBuild, aBuildRequest, jobNamed, jobsOf } from '../../../test/runs.ts'
import { listen } from '../../db/listener.ts'
import { inTransaction } from '../../db/transaction.ts'
import { createBuild } from '../create-build.ts'
import { claimJobs } from './claim.ts'
import { abilityOf } from './claimant.ts'
import { dispatcherOf } from './dispatcher.ts'
import { queueChannel } from './wake.ts'

// A ping that finds nothing is held for longer than any of these tests may take.
const app = useOwnApp({ env: { MILLRACE_PING_HOLD_SECONDS: '30' } })

/** Also returns the agent's ping, which waits for a job. */
async function aWaitingAgent(
  world: AgentWorld,
  tags: string[] = [],
): Promise<{ agent: TestAgent; offered: Promise<string | null> }> {
  const before = dispatcherOf(app.ctx)?.countWaiting() ?? 0
  const agent = await anAgent(app, world.token, { tags })
  const offered = agent.offered()
  await eventually('it waits', async () => (dispatcherOf(app.ctx)?.countWaiting() ?? 0) > before)
  return { agent, offered }
}

async function requestBuild({ org, admin }: AgentWorld, pipeline: { slug: string }): Promise<string> {
  const { status, body, text } = await app.request('POST', `${org.path}/pipelines/${pipeline.slug}/builds`, {
    token: admin.token,
    body: { commit: 'HEAD', branch: 'main' },
  })
  if (status !== 201) throw new Error(text)
  return String(body.id)
}

async function only(buildId: string) {
  return app.db
    .selectFrom('jobs')
    .select(['id', 'state', 'agent_id'])
    .where('build_id', '=', buildId)
    .executeTakeFirstOrThrow()
}

/** The notifications of queues from now on. */
async function notified(): Promise<{ ofQueue: (id: string) => Promise<boolean> }> {
  const payloads: string[] = []
  const listener = await listen(app.database.direct, {
    channels: { [queueChannel]: (payload) => payloads.push(...payload.split(',')) },
    onConnected() {},
    onError() {},
  })
  onTestFinished(() => listener.stop())
  return {
    async ofQueue(id) {
      await sql`select pg_notify(${queueChannel}, 'last')`.execute(app.db)
      await eventually('all notifications have arrived', async () => payloads.includes('last'))
      return payloads.includes(id)
    },
  }
}

it('the transaction that creates a build assigns its job to an agent that waits, without a notification', async () => {
  const world = await anAgentWorld(app)
  const pipeline = await aPipeline(app, world.org, 'steps: [{ command: one }]')
  const { agent, offered } = await aWaitingAgent(world)
  const heard = await notified()
  const buildId = await requestBuild(world, pipeline)
  const job = await only(buildId)
  expect(job).toEqual({ id: await offered, state: 'assigned', agent_id: agent.id })
  expect(await heard.ofQueue(world.queue.id)).toBe(false)
  const { rows } = await sql<{ move: string; is_with_build: boolean }>`
    select (data ->> 'from') || ' ' || (data ->> 'to') as move,
      e.xmin = (select b.xmin from builds b where b.id = e.build_id) as is_with_build
    from events e where job_id = ${job.id} and kind = 'job.state_changed' order by id`.execute(app.db)
  expect(rows.at(-1)).toEqual({ move: 'scheduled assigned', is_with_build: true })
})

it('finds the agents of the queue that a job names', async () => {
  const world = await anAgentWorld(app)
  const named = await aQueue(app, world.cluster, world.admin, { key: 'named' })
  const pipeline = await aPipeline(app, world.org, 'steps: [{ command: one, agents: { queue: named } }]')
  await aWaitingAgent(world)
  const { offered } = await aWaitingAgent(world, ['queue=named'])
  const heard = await notified()
  const buildId = await requestBuild(world, pipeline)
  expect(await offered).toBe((await only(buildId)).id)
  expect(await heard.ofQueue(named.id)).toBe(false)
})

it('gives the agent the best job of its queue, and another agent the new one', async () => {
  const world = await anAgentWorld(app)
  const urgent = await aPipeline(app, world.org, 'steps: [{ command: urgent, priority: 1 }]')
  const pipeline = await aPipeline(app, world.org, 'steps: [{ command: one }]')
  const pause = (at: string | null) =>
    sql`update cluster_queues set dispatch_paused_at = ${at} where id = ${world.queue.id}`.execute(app.db)
  await pause(app.ctx.now().toISOString())
  const earlier = await aBuild(app, world.org, urgent)
  const { offered } = await aWaitingAgent(world)
  await pause(null)
  const buildId = await requestBuild(world, pipeline)
  expect(await offered).toBe(await jobNamed(app, earlier, 'urgent'))
  const other = await anAgent(app, world.token)
  expect(await other.offered()).toBe((await only(buildId)).id)
})

it('leaves the agent waiting for the next job when the transaction is rolled back', async () => {
  const world = await anAgentWorld(app)
  const pipeline = await aPipeline(app, world.org, 'steps: [{ command: one }]')
  const { agent, offered } = await aWaitingAgent(world)
  const request = aBuildRequest(pipeline.id)
  const rolledBack = inTransaction(app.db, async (trx) => {
    await createBuild({ ...app.ctx, db: trx }, world.org.id, request, dispatcherOf(app.ctx))
    // Sends the claim.
    const { rows } = await sql`select from jobs where agent_id = ${agent.id} and state = 'assigned'`.execute(
      trx,
    )
    expect(rows).toHaveLength(1)
    throw new Error('rolled back')
  })
  await expect(rolledBack).rejects.toThrow('rolled back')
  const build = await aBuild(app, world.org, pipeline)
  expect(await offered).toBe((await jobsOf(app, build))[0]?.id)
})

it('creates the build once more when another process assigns a job to the agent at the same time', async () => {
  const world = await anAgentWorld(app)
  const first = await aPipeline(
    app,
    world.org,
    'steps: [{ command: first, agents: { queue: default, os: x } }]',
  )
  const pipeline = await aPipeline(app, world.org, 'steps: [{ command: one }]')
  const earlier = await aBuild(app, world.org, first)
  const { agent, offered } = await aWaitingAgent(world)
  const queue = { organizationId: world.org.id, queueId: world.queue.id }
  const ability = abilityOf(['queue=default', 'os=x'])
  const creating = await inTransaction(app.db, async (trx) => {
    await claimJobs({ ...app.ctx, db: trx }, queue, [{ agentId: agent.id, ability }])
    const created = requestBuild(world, pipeline)
    await eventually('the request waits for this transaction', async () => {
      const { rows } = await sql`
        select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
          and query like '%with p as materialized%'`.execute(app.db)
      return rows.length > 0
    })
    return { created }
  })
  const job = await only(await creating.created)
  expect(job.state).toBe('scheduled')
  expect(await offered).toBe(await jobNamed(app, earlier, 'first'))
})
