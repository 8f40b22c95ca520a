import { describe, expect, it } from 'vitest'
import { eventually, startApp, useApp, useOwnApp } from '../../../test/app.ts'
import {
  anAgent,
  anAgentWorld,
  jobFrame,
  openStream,
  resumeFrame,
  type AgentWorld,
} from '../../../test/agent-client.ts'
import { aPipeline, aQueue } from '../../../test/builders.ts'
import { aBuild, jobNamed, statesOf, applyEvent } from '../../../test/runs.ts'

// A ping that finds nothing is held for longer than any of these tests may take.
const app = useOwnApp({ env: { MILLRACE_PING_HOLD_SECONDS: '30' } })
const hasty = useApp()

const oneJob = async (target: typeof app, { org }: Pick<AgentWorld, 'org'>, steps = '[{ command: one }]') =>
  aBuild(target, org, await aPipeline(target, org, `steps: ${steps}`))

describe('GET /v3/ping', () => {
  it('offers the same job until it is accepted', async () => {
    const world = await anAgentWorld(hasty)
    await oneJob(hasty, world)
    const agent = await anAgent(hasty, world.token)
    const { status, body } = await agent.ping()
    expect([status, body]).toEqual([200, { job: { id: expect.any(String) } }])
    expect((await agent.ping()).body).toEqual(body)
    expect(await (await anAgent(hasty, world.token)).offered()).toBeNull()
  })

  it('answers {} when there is nothing to do', async () => {
    const { token } = await anAgentWorld(hasty)
    const { status, text } = await (await anAgent(hasty, token)).ping()
    expect([status, text]).toEqual([200, '{}'])
  })

  it('is held until a job becomes runnable', async () => {
    const world = await anAgentWorld(app)
    const agent = await anAgent(app, world.token)
    const waiting = agent.offered()
    const build = await oneJob(app, world)
    expect(await waiting).toBe(await jobNamed(app, build, 'one'))
  })

  it('is held until a job of another process becomes runnable', async () => {
    const world = await anAgentWorld(app)
    const agent = await anAgent(app, world.token)
    const other = await startApp({}, app.database)
    const waiting = agent.offered()
    const build = await oneJob(other, world)
    expect(await waiting).toBe(await jobNamed(app, build, 'one'))
    await other.close()
  })

  it('is held until the queue is resumed, the agent paused or stopped', async () => {
    const world = await anAgentWorld(app)
    const { admin, queue, org } = world
    const agent = await anAgent(app, world.token)
    const put = (path: string, body: object = {}) => app.request('PUT', path, { token: admin.token, body })
    await app.request('POST', `${queue.path}/pause_dispatch`, { token: admin.token })
    await oneJob(app, world)
    const first = agent.offered()
    await app.request('POST', `${queue.path}/resume_dispatch`, { token: admin.token })
    const run = await agent.accept((await first) ?? '')
    await run.start()
    await run.finish()
    const second = agent.ping()
    await put(`${org.path}/agents/${agent.id}/pause`)
    expect((await second).body).toEqual({ action: 'pause' })
    await put(`${org.path}/agents/${agent.id}/resume`)
    const third = agent.ping()
    await put(`${org.path}/agents/${agent.id}/stop`)
    expect((await third).body.action).toBe('disconnect')
  })

  it('lets a waiting agent go when the server stops', async () => {
    const world = await anAgentWorld(app)
    const other = await startApp({ env: { MILLRACE_PING_HOLD_SECONDS: '30' } }, app.database)
    const agent = await anAgent(other, world.token)
    const waiting = agent.ping()
    const stream = await openStream(agent)
    await stream.next()
    const closing = other.close()
    expect((await waiting).status).toBe(200)
    expect([await stream.next(), stream.trailers()]).toEqual([null, { 'grpc-status': '0' }])
    await closing
  })

  it('ends a job that its agent dropped, because only an idle agent asks', async () => {
    const world = await anAgentWorld(hasty)
    const build = await oneJob(hasty, world)
    const agent = await anAgent(hasty, world.token)
    await agent.begin()
    expect(await agent.offered()).toBeNull()
    expect(await statesOf(hasty, build)).toEqual({ one: 'failed' })
  })

  it('offers a job again that was accepted and never started', async () => {
    const world = await anAgentWorld(hasty)
    await oneJob(hasty, world)
    const agent = await anAgent(hasty, world.token)
    const run = await agent.accept((await agent.offered()) ?? '')
    expect(await agent.offered()).toBe(run.id)
    expect((await agent.accept(run.id)).token).toBe(run.token)
  })

  it('assigns a job that was canceled before it was accepted to no agent', async () => {
    const world = await anAgentWorld(hasty)
    const build = await oneJob(hasty, world)
    const agent = await anAgent(hasty, world.token)
    const jobId = await agent.offered()
    await applyEvent(hasty, build, { type: 'cancel_build', reason: null })
    expect((await agent.call('PUT', `jobs/${jobId}/accept`)).status).toBe(422)
    expect(await agent.offered()).toBeNull()
  })
})

describe('which agent gets which job', () => {
  it('is decided by queue and tags', async () => {
    const world = await anAgentWorld(hasty)
    await aQueue(hasty, world.cluster, world.admin, { key: 'big' })
    const build = await oneJob(
      hasty,
      world,
      '[{ command: big, agents: { queue: big } }, { command: mac, agents: { os: mac } }, { command: any-os, agents: { os: "*" } }]',
    )
    const offeredTo = async (...tags: string[]) => (await anAgent(hasty, world.token, { tags })).offered()
    const named = (name: string) => jobNamed(hasty, build, name)
    expect(await offeredTo()).toBeNull()
    expect(await offeredTo('os=linux', 'extra=1')).toBe(await named('any-os'))
    expect(await offeredTo('os=linux')).toBeNull()
    expect(await offeredTo('os=mac', 'os=linux')).toBe(await named('mac'))
    expect(await offeredTo('queue=big')).toBe(await named('big'))
  })

  it('is the highest priority first, then the oldest, then the order of the pipeline', async () => {
    const world = await anAgentWorld(hasty)
    const older = await oneJob(hasty, world, '[{ command: a }, { command: b }]')
    const newer = await oneJob(hasty, world, '[{ command: urgent, priority: 5 }, { command: later }]')
    const order: string[] = []
    for (let index = 0; index < 4; index++) {
      const jobId = await (await anAgent(hasty, world.token)).offered()
      order.push(jobId ?? 'none')
    }
    expect(order).toEqual([
      await jobNamed(hasty, newer, 'urgent'),
      await jobNamed(hasty, older, 'a'),
      await jobNamed(hasty, older, 'b'),
      await jobNamed(hasty, newer, 'later'),
    ])
  })

  it('prefers the waiting agent of the highest priority, then the one that passed a job last', async () => {
    // Agents that wait are counted for each server, so this one has no others.
    const own = await startApp({ env: { MILLRACE_PING_HOLD_SECONDS: '30' } }, app.database)
    const world = await anAgentWorld(own)
    const [plain, warm, low, high] = await Promise.all([
      anAgent(own, world.token),
      anAgent(own, world.token),
      anAgent(own, world.token, { priority: '-1' }),
      anAgent(own, world.token, { priority: '10' }),
    ])
    await own.db
      .updateTable('agents')
      .set({ last_job_passed_at: '2026-01-01T00:00:00Z' })
      .where('id', '=', warm.id)
      .execute()
    const asking = [plain, low, high, warm].map((agent) => agent.offered())
    await eventually('all four wait', async () => {
      return (await own.request('GET', '/metrics')).text.includes('\nmillrace_agents_waiting 4\n')
    })
    const build = await oneJob(
      own,
      world,
      '[{ command: "1" }, wait, { command: "2" }, wait, { command: "3" }, wait, { command: "4" }]',
    )
    for (const [index, agent] of [high, low, warm, plain].entries()) {
      const jobId = await asking[[plain, low, high, warm].indexOf(agent)]
      expect(jobId).toBe(await jobNamed(own, build, String(index + 1)))
      const run = await agent.accept(jobId ?? '')
      await run.start()
      await run.finish()
      await agent.call('POST', 'disconnect')
    }
    await own.close()
  })

  it('avoids for a retry the agent that failed, where the queue prefers another', async () => {
    const world = await anAgentWorld(app)
    await app.request('PUT', world.queue.path, {
      token: world.admin.token,
      body: { retry_agent_affinity: 'prefer-different' },
    })
    const [first, second] = await Promise.all([
      anAgent(app, world.token, { priority: '9' }),
      anAgent(app, world.token),
    ])
    await oneJob(app, world, '[{ command: one, retry: { automatic: [{ exit_status: 1, limit: 1 }] } }]')
    const run = await first.begin()
    const asking = second.offered()
    await run.finish(1)
    expect(await asking).not.toBeNull()
  })

  it('is one of fifty for one job', async () => {
    const world = await anAgentWorld(hasty)
    const agents = await Promise.all(Array.from({ length: 50 }, () => anAgent(hasty, world.token)))
    const build = await oneJob(hasty, world)
    const offered = await Promise.all(agents.map((agent) => agent.offered()))
    expect(offered.filter((jobId) => jobId !== null)).toEqual([await jobNamed(hasty, build, 'one')])
  })

  it('is a different one for each of fifty who ask two processes', async () => {
    const world = await anAgentWorld(app)
    const other = await startApp({ env: { MILLRACE_PING_HOLD_SECONDS: '30' } }, app.database)
    const agents = await Promise.all(
      Array.from({ length: 50 }, (_, index) => anAgent(index % 2 === 0 ? app : other, world.token)),
    )
    // On a slow machine a ping may end before its job comes.
    const asking = agents.map((agent) =>
      eventually('a job is offered', async () => (await agent.offered()) ?? undefined),
    )
    await oneJob(app, world, `[{ command: many, parallelism: 50 }]`)
    expect(new Set(await Promise.all(asking)).size).toBe(50)
    await other.close()
  })

  it('is never one that asked to be left out', async () => {
    const world = await anAgentWorld(hasty)
    await oneJob(hasty, world)
    expect(await (await anAgent(hasty, world.token, { ignore: true })).offered()).toBeNull()
  })

  it('is never one of another cluster', async () => {
    const [world, other] = [await anAgentWorld(hasty), await anAgentWorld(hasty)]
    const build = await oneJob(hasty, world)
    const stranger = await anAgent(hasty, other.token)
    expect(await stranger.offered()).toBeNull()
    const jobId = await jobNamed(hasty, build, 'one')
    expect((await stranger.call('PUT', `jobs/${jobId}/accept`)).status).toBe(404)
    expect((await stranger.call('PUT', `jobs/${jobId}/acquire`)).status).toBe(404)
  })

  it('leaves a job alone whose queue is paused', async () => {
    const world = await anAgentWorld(hasty)
    await hasty.request('POST', `${world.queue.path}/pause_dispatch`, { token: world.admin.token })
    await oneJob(hasty, world)
    expect(await (await anAgent(hasty, world.token)).offered()).toBeNull()
  })
})

describe('POST /agentedge.v1.AgentEdgeService/StreamPings', () => {
  it('says resume at once, then each job as it comes, and resume after each', async () => {
    const world = await anAgentWorld(app)
    const agent = await anAgent(app, world.token)
    const stream = await openStream(agent)
    expect([stream.status, stream.headers['content-type'], await stream.next()]).toEqual([
      200,
      'application/grpc',
      resumeFrame,
    ])
    const build = await oneJob(app, world, '[{ command: one }, { command: two }]')
    const [one, two] = [await jobNamed(app, build, 'one'), await jobNamed(app, build, 'two')]
    for (const jobId of [one, two]) {
      expect(await stream.next()).toBe(jobFrame(jobId))
      const run = await agent.accept(jobId)
      await run.start()
      await run.finish()
      expect(await stream.next()).toBe(resumeFrame)
    }
    stream.close()
  })

  it('gives jobs also to an agent that came right after an equal one found none', async () => {
    const world = await anAgentWorld(app)
    const agents = [await anAgent(app, world.token), await anAgent(app, world.token)]
    const streams = []
    for (const agent of agents) {
      const stream = await openStream(agent)
      expect(await stream.next()).toBe(resumeFrame)
      streams.push(stream)
    }
    const build = await oneJob(app, world, '[{ command: one }, { command: two }]')
    const offered = await Promise.all(streams.map((stream) => stream.next()))
    const jobs = [await jobNamed(app, build, 'one'), await jobNamed(app, build, 'two')]
    expect(new Set(offered)).toEqual(new Set(jobs.map(jobFrame)))
    for (const stream of streams) stream.close()
  })

  it('begins with the job that was offered already', async () => {
    const world = await anAgentWorld(app)
    const build = await oneJob(app, world)
    const agent = await anAgent(app, world.token)
    await agent.offered()
    const stream = await openStream(agent)
    expect(await stream.next()).toBe(jobFrame(await jobNamed(app, build, 'one')))
    stream.close()
  })

  it('begins with the job that was accepted and not started', async () => {
    const world = await anAgentWorld(app)
    await oneJob(app, world)
    const agent = await anAgent(app, world.token)
    const { id } = await agent.accept((await agent.offered()) ?? '')
    const stream = await openStream(agent)
    expect(await stream.next()).toBe(jobFrame(id))
    expect((await (await agent.accept(id)).start()).status).toBe(200)
    stream.close()
  })

  it('says pause with its note, resume, and disconnect, after which it ends cleanly', async () => {
    const world = await anAgentWorld(app)
    const agent = await anAgent(app, world.token)
    const put = (verb: string, body: object = {}) =>
      app.request('PUT', `${world.org.path}/agents/${agent.id}/${verb}`, { token: world.admin.token, body })
    const stream = await openStream(agent)
    await stream.next()
    await put('pause', { note: 'ab' })
    expect(await stream.next()).toBe('00000000061a040a026162')
    await put('resume')
    expect(await stream.next()).toBe(resumeFrame)
    await put('stop')
    expect(await stream.next()).toMatch(/^00000000..22/)
    expect([await stream.next(), stream.trailers()]).toEqual([null, { 'grpc-status': '0' }])
  })

  describe('and an agent whose job has been silent for a third of the time that loses an agent', () => {
    const silence = async (agent: { id: string }, seconds: number, columns: { heard: boolean }) => {
      const at = new Date(Date.now() - seconds * 1000).toISOString()
      await app.db.updateTable('jobs').set({ started_at: at }).where('agent_id', '=', agent.id).execute()
      if (columns.heard)
        await app.db.updateTable('agents').set({ job_heard_at: at }).where('id', '=', agent.id).execute()
    }

    it('offers the job again, and the agent that never heard of it runs it', async () => {
      const world = await anAgentWorld(app)
      const agent = await anAgent(app, world.token)
      const build = await oneJob(app, world)
      const lost = await agent.begin()
      const early = await openStream(agent)
      expect(await early.next()).toBe(resumeFrame)
      early.close()
      await silence(agent, 61, { heard: false })
      const stream = await openStream(agent)
      expect(await stream.next()).toBe(jobFrame(lost.id))
      const run = await agent.accept(lost.id)
      expect(run.token).toBe(lost.token)
      expect((await run.start()).status).toBe(200)
      expect((await run.finish()).status).toBe(200)
      expect(await stream.next()).toBe(resumeFrame)
      expect(await statesOf(app, build)).toEqual({ one: 'passed' })
      stream.close()
    })

    it('offers it also on a stream that is open already', async () => {
      const world = await anAgentWorld(app)
      const agent = await anAgent(app, world.token)
      await oneJob(app, world)
      const lost = await agent.begin()
      // On a slow machine the time may be over before the stream opens.
      const stream = await eventually('a stream opens in time', async () => {
        await silence(agent, 58, { heard: false })
        const opened = await openStream(agent)
        if ((await opened.next()) === resumeFrame) return opened
        opened.close()
        return undefined
      })
      expect(await stream.next()).toBe(jobFrame(lost.id))
      stream.close()
    })

    it.each(['accepts', 'accepts and starts'])(
      'ends the job when the agent %s it although it has run',
      async (how) => {
        const world = await anAgentWorld(app)
        const agent = await anAgent(app, world.token)
        const build = await oneJob(app, world)
        const run = await agent.begin()
        await silence(agent, 61, { heard: true })
        const stream = await openStream(agent)
        expect(await stream.next()).toBe(jobFrame(run.id))
        const body = { start: how === 'accepts and starts' }
        expect((await agent.call('PUT', `jobs/${run.id}/accept`, { body })).status).toBe(422)
        expect(await stream.next()).toBe(resumeFrame)
        expect(await statesOf(app, build)).toEqual({ one: 'failed' })
        stream.close()
      },
    )

    it('leaves a job alone that speaks when a delayed accept arrives', async () => {
      const world = await anAgentWorld(app)
      const agent = await anAgent(app, world.token)
      const build = await oneJob(app, world)
      const run = await agent.begin()
      expect(await run.state()).toBe('running')
      expect((await agent.call('PUT', `jobs/${run.id}/accept`)).status).toBe(422)
      expect(await statesOf(app, build)).toEqual({ one: 'running' })
    })
  })

  it('gets the stop only when its job has ended', async () => {
    const world = await anAgentWorld(app)
    const agent = await anAgent(app, world.token)
    await oneJob(app, world)
    const run = await agent.begin()
    const stream = await openStream(agent)
    expect(await stream.next()).toBe(resumeFrame)
    await run.call('POST', 'stop', { body: {} })
    await run.finish()
    expect(await stream.next()).toMatch(/^00000000..22/)
  })

  it('is 404 for another agent and 401 without a session', async () => {
    const world = await anAgentWorld(app)
    const agent = await anAgent(app, world.token)
    const other = await anAgent(app, world.token)
    expect((await openStream(agent, other.id)).status).toBe(404)
    await agent.call('POST', 'disconnect')
    expect((await openStream(agent)).status).toBe(401)
  })
})
