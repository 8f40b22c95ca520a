import { describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld, type AgentWorld } from '../../../../test/agent-client.ts'
import { useApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, aPipeline, aToken } from '../../../../test/builders.ts'
import { aBuild } from '../../../../test/runs.ts'

const app = useApp()

const ask = ({ org, cluster, queue }: AgentWorld, token: string, rest: string) =>
  app.request('GET', `${org.path}/clusters/${cluster.id}/queues/${queue.id}/${rest}`, { token })

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/queues/{id}/jobs', () => {
  it('lists waiting jobs in the order in which an agent gets them, in pages', async () => {
    const world = await anAgentWorld(app)
    const configuration =
      'steps: [{command: a}, {command: b, priority: 5}, {command: c}, {command: d, priority: 5}, {command: e, priority: -1}]'
    await aBuild(app, world.org, await aPipeline(app, world.org, configuration))
    await aBuild(app, world.org, await aPipeline(app, world.org, 'steps: [{command: f}]'))
    const { list, status } = await ask(world, world.admin.token, 'jobs')
    expect([status, list.map(({ position }) => position)]).toEqual([200, [1, 2, 3, 4, 5, 6]])
    expect(list.map(({ command }) => command)).toEqual(['b', 'd', 'a', 'c', 'f', 'e'])
    const second = await ask(world, world.admin.token, 'jobs?per_page=4&page=2')
    expect(second.list.map(({ id, position }) => [id, position])).toEqual(
      list.slice(4).map(({ id, position }) => [id, position]),
    )
    const taken = []
    for (const _ of list) taken.push((await (await anAgent(app, world.token)).begin()).id)
    expect(taken).toEqual(list.map(({ id }) => id))
    expect((await ask(world, world.admin.token, 'jobs')).list).toEqual([])
  })

  it('says of each job its pipeline, its build and why it waits', async () => {
    const world = await anAgentWorld(app)
    const pipeline = await aPipeline(
      app,
      world.org,
      'steps: [{command: a}, {command: b}, {command: c, agents: {gpu: "yes"}}]',
    )
    await aBuild(app, world.org, pipeline)
    const reasons = async () =>
      (await ask(world, world.admin.token, 'jobs')).list.map(({ waiting_reason: reason }) => reason)
    const none = 'The queue "default" has no connected agent.'
    const gpu = 'The queue "default" has no connected agent that has gpu=yes.'
    expect(await reasons()).toEqual([none, none, gpu])
    await anAgent(app, world.token)
    expect(await reasons()).toEqual([
      'The job is the next of the queue "default"; its agents are busy.',
      '1 job comes first in the queue "default".',
      gpu,
    ])
    const { list } = await ask(world, world.admin.token, 'jobs?per_page=1&page=2')
    expect(list).toMatchObject([
      {
        position: 2,
        waiting_reason: '1 job comes first in the queue "default".',
        pipeline: { slug: pipeline.slug },
        build: { number: 1 },
      },
    ])
    const pause = `${world.org.path}/clusters/${world.cluster.id}/queues/${world.queue.id}/pause_dispatch`
    await app.request('POST', pause, { token: world.admin.token, body: { note: 'new disks' } })
    expect(new Set(await reasons())).toEqual(
      new Set([`The queue "default" is paused by ${world.admin.name}: new disks.`]),
    )
  })

  it('leaves out jobs of hidden pipelines, whose positions stay taken', async () => {
    const world = await anAgentWorld(app)
    const member = await aMember(app, world.org)
    await aBuild(app, world.org, await aPipeline(app, world.org, 'steps: [{command: hidden}]'))
    const open = await aPipeline(app, world.org, 'steps: [{command: shown}]', { visibility: 'public' })
    await aBuild(app, world.org, open)
    await app.request('POST', `${world.org.path}/teams/enable`, { token: world.admin.token })
    const { list, text } = await ask(world, member.token, 'jobs')
    expect(list).toMatchObject([{ position: 2, command: 'shown' }])
    expect(text).not.toContain('hidden')
  })

  it('answers 404 to other organizations and for their queues, and 403 without the scope', async () => {
    const [ours, theirs] = [await anAgentWorld(app), await anAgentWorld(app)]
    const stranger = await anAdmin(app, await anOrganization(app))
    const narrow = await aToken(app, ours.admin, { scopes: ['read_user'] })
    for (const rest of ['jobs', 'metrics']) {
      expect((await ask(ours, stranger.token, rest)).status).toBe(404)
      expect((await ask({ ...ours, queue: theirs.queue }, ours.admin.token, rest)).status).toBe(404)
      expect((await ask(ours, narrow, rest)).status).toBe(403)
    }
  })
})

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/queues/{id}/metrics', () => {
  it('counts jobs and agents, and has a point for each of the last 60 minutes', async () => {
    const world = await anAgentWorld(app)
    const configuration = 'steps: [{command: a}, {command: b}, {command: c}]'
    await aBuild(app, world.org, await aPipeline(app, world.org, configuration))
    await anAgent(app, world.token)
    const run = await (await anAgent(app, world.token)).begin()
    const now = app.ctx.now().getTime()
    const before = (minutes: number) => new Date(now - minutes * 60_000).toISOString()
    await app.db
      .updateTable('jobs')
      .set({ runnable_at: before(30.5), started_at: before(20.5) })
      .where('id', '=', run.id)
      .execute()
    const { body, status } = await ask(world, world.admin.token, 'metrics')
    expect(status).toBe(200)
    expect(body).toMatchObject({ waiting: 2, running: 1, connected: 2, busy: 1 })
    expect([body['wait_p50_seconds'], body['wait_p95_seconds']]).toEqual([600, 600])
    const path = `${world.org.path}/clusters/${world.cluster.id}/queues`
    const listed = async (query: string) =>
      (await app.request('GET', path + query, { token: world.admin.token })).list
    expect(await listed('?include_counts=true')).toMatchObject([
      { id: world.queue.id, counts: { waiting: 2, running: 1, agents: 2 } },
    ])
    expect((await listed(''))[0]).not.toHaveProperty('counts')
    const points = body['points'] as unknown as Array<[number, number, number]>
    expect(points).toHaveLength(60)
    const times = points.map(([ms]) => ms)
    expect(new Set(times.slice(1).map((ms, index) => ms - (times[index] ?? 0)))).toEqual(new Set([60_000]))
    const counts = points.map(([, waiting, busy]) => [waiting, busy])
    expect(counts[10]).toEqual([0, 0])
    expect(counts[34]).toEqual([1, 0])
    expect(counts[50]).toEqual([0, 1])
    expect(counts[59]).toEqual([2, 1])
  })

  it('has nulls and zeros for a queue without jobs', async () => {
    const world = await anAgentWorld(app)
    const { body } = await ask(world, world.admin.token, 'metrics')
    expect(body).toMatchObject({ waiting: 0, running: 0, connected: 0, busy: 0, wait_p50_seconds: null })
    expect(body['points']).toHaveLength(60)
  })
})
