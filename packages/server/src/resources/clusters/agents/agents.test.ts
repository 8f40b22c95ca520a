import { describe, expect, it } from 'vitest'
import { sortedStatuses, useApp } from '../../../../test/app.ts'
import { anAgent, anAgentWorld, type AgentWorld, type TestAgent } from '../../../../test/agent-client.ts'
import { aMember, anAdmin, anOrganization, aPipeline, aQueue } from '../../../../test/builders.ts'
import { aBuild, buildState } from '../../../../test/runs.ts'

const app = useApp()

const get = (world: AgentWorld, path: string) =>
  app.request('GET', `${world.org.path}/agents${path}`, { token: world.admin.token })
const put = (world: AgentWorld, agent: TestAgent, verb: string, body: object = {}) =>
  app.request('PUT', `${world.org.path}/agents/${agent.id}/${verb}`, { token: world.admin.token, body })

describe('GET /v2/organizations/{org.slug}/agents', () => {
  it('lists connected and stopping agents, oldest first, in pages', async () => {
    const world = await anAgentWorld(app)
    const [first, second, third] = [
      await anAgent(app, world.token),
      await anAgent(app, world.token),
      await anAgent(app, world.token),
    ]
    await anAgent(app, world.token, { connect: false })
    await put(world, second, 'stop')
    await third.call('POST', 'disconnect')
    const listed = await get(world, '')
    expect(listed.list.map(({ id, connection_state }) => [id, connection_state])).toEqual([
      [first.id, 'connected'],
      [second.id, 'stopping'],
    ])
    const page = await get(world, '?per_page=1')
    expect(page.list).toHaveLength(1)
    expect(page.headers.get('link')).toContain('page=2')
  })

  it('lists disconnected, lost or all agents when asked, and refuses other states', async () => {
    const world = await anAgentWorld(app)
    const [connected, disconnected, lost, fresh] = [
      await anAgent(app, world.token),
      await anAgent(app, world.token),
      await anAgent(app, world.token),
      await anAgent(app, world.token, { connect: false }),
    ]
    await disconnected.call('POST', 'disconnect')
    await app.db.updateTable('agents').set({ connection_state: 'lost' }).where('id', '=', lost.id).execute()
    await anAgent(app, (await anAgentWorld(app)).token)
    const ids = async (state: string) => (await get(world, `?state=${state}`)).list.map(({ id }) => id)
    expect(await ids('connected')).toEqual([connected.id])
    expect(await ids('disconnected')).toEqual([disconnected.id])
    expect(await ids('lost')).toEqual([lost.id])
    expect(await ids('all')).toEqual([connected.id, disconnected.id, lost.id, fresh.id])
    expect((await get(world, '?state=gone')).status).toBe(400)
  })

  it('filters by name, hostname, version and queue', async () => {
    const world = await anAgentWorld(app)
    const queue = await aQueue(app, world.cluster, world.admin, { key: 'big' })
    const [named, big] = [
      await anAgent(app, world.token, { name: 'special' }),
      await anAgent(app, world.token, { tags: ['queue=big'] }),
    ]
    const ids = async (query: string) => (await get(world, query)).list.map(({ id }) => String(id))
    expect(await ids('?name=special')).toEqual([named.id])
    expect(await ids('?name=spec')).toEqual([])
    expect(await ids(`?cluster_queue_id=${queue.id}`)).toEqual([big.id])
    expect(await ids('?cluster_queue_id=nope')).toEqual([])
    expect(await ids('?hostname=ci-host-1&version=3.137.0')).toEqual([named.id, big.id])
    expect(await ids('?hostname=other')).toEqual([])
  })
})

describe('GET /v2/organizations/{org.slug}/agents/{id}', () => {
  it('shows the agent with the job it runs, in any state', async () => {
    const world = await anAgentWorld(app)
    await aBuild(app, world.org, await aPipeline(app, world.org, 'steps: [{ command: one }]'))
    const agent = await anAgent(app, world.token, { tags: ['os=linux'], priority: '3' })
    const run = await agent.begin()
    const url = `${app.ctx.config.url}/v2/organizations/${world.org.slug}`
    expect((await get(world, `/${agent.id}`)).body).toMatchObject({
      id: agent.id,
      graphql_id: Buffer.from(`Agent---${agent.id}`).toString('base64'),
      url: `${url}/agents/${agent.id}`,
      web_url: `${app.ctx.config.url}/organizations/${world.org.slug}/clusters/${world.cluster.id}/queues/${world.queue.id}/agents/${agent.id}`,
      name: 'tester',
      connection_state: 'connected',
      hostname: 'ci-host-1',
      ip_address: '127.0.0.1',
      user_agent: 'buildkite-agent/3.137.0.x (linux; amd64)',
      version: '3.137.0',
      os_id: 'linux\n6.1',
      arch: 'amd64',
      queue: 'default',
      creator: { id: world.admin.id },
      job: { id: run.id, state: 'running' },
      last_job_finished_at: null,
      priority: 3,
      meta_data: ['os=linux', 'queue=default'],
      paused: false,
    })
    await run.finish()
    await agent.call('POST', 'disconnect')
    expect((await get(world, `/${agent.id}`)).body).toMatchObject({
      connection_state: 'disconnected',
      job: null,
      last_job_finished_at: expect.any(String),
    })
  })

  it('hides a job of a pipeline that the caller may not see', async () => {
    const world = await anAgentWorld(app)
    await aBuild(app, world.org, await aPipeline(app, world.org, 'steps: [{ command: one }]'))
    const agent = await anAgent(app, world.token)
    await agent.begin()
    const member = await aMember(app, world.org)
    await app.db
      .updateTable('organizations')
      .set({ teams_enabled_at: new Date().toISOString() })
      .where('id', '=', world.org.id)
      .execute()
    const shown = await app.request('GET', `${world.org.path}/agents/${agent.id}`, { token: member.token })
    expect([shown.status, shown.body.job]).toEqual([200, null])
  })

  it('answers 404 for the agent of another organization and for a malformed id', async () => {
    const [world, other] = [await anAgentWorld(app), await anAgentWorld(app)]
    const agent = await anAgent(app, other.token)
    for (const id of [agent.id, 'nope']) {
      expect((await get(world, `/${id}`)).body).toEqual({ message: 'No agent found' })
    }
  })
})

describe('GET /v2/organizations/{org.slug}/agents/{id}/jobs', () => {
  it('lists the running job and those that ended, the last first, with pipeline and build, in pages', async () => {
    const world = await anAgentWorld(app)
    const pipeline = await aPipeline(app, world.org, 'steps: [{command: a}, {command: b}, {command: c}]')
    await aBuild(app, world.org, pipeline)
    const agent = await anAgent(app, world.token)
    const ids: string[] = []
    for (const minute of [1, 2]) {
      const run = await agent.begin()
      await run.finish(0, { finished_at: `2026-01-02T03:0${minute}:00Z` })
      ids.unshift(run.id)
    }
    ids.unshift((await agent.begin()).id)
    const { list, status } = await get(world, `/${agent.id}/jobs`)
    expect([status, list.map(({ id }) => id)]).toEqual([200, ids])
    expect(list[1]).toMatchObject({
      state: 'passed',
      pipeline: { slug: pipeline.slug },
      build: { number: 1 },
      agent: { id: agent.id },
    })
    const second = await get(world, `/${agent.id}/jobs?per_page=2&page=2`)
    expect(second.list.map(({ id }) => id)).toEqual(ids.slice(2))
    const other = await anAgent(app, world.token)
    expect((await get(world, `/${other.id}/jobs`)).list).toEqual([])
  })

  it('leaves out jobs of pipelines that the caller may not see, and answers 404 elsewhere', async () => {
    const world = await anAgentWorld(app)
    await aBuild(app, world.org, await aPipeline(app, world.org, 'steps: [{ command: hidden }]'))
    const agent = await anAgent(app, world.token)
    await agent.begin()
    const member = await aMember(app, world.org)
    await app.request('POST', `${world.org.path}/teams/enable`, { token: world.admin.token })
    const path = `${world.org.path}/agents/${agent.id}/jobs`
    const shown = await app.request('GET', path, { token: member.token })
    expect([shown.status, shown.text]).toEqual([200, '[]'])
    const stranger = await anAgentWorld(app)
    expect((await get(stranger, `/${agent.id}/jobs`)).status).toBe(404)
    expect((await app.request('GET', path, { token: stranger.admin.token })).status).toBe(404)
  })
})

describe('PUT /v2/organizations/{org.slug}/agents/{id}/stop', () => {
  it('cancels the job and its build, and can be repeated', async () => {
    const world = await anAgentWorld(app)
    const build = await aBuild(app, world.org, await aPipeline(app, world.org, 'steps: [{ command: one }]'))
    const agent = await anAgent(app, world.token)
    const run = await agent.begin()
    expect((await put(world, agent, 'stop')).status).toBe(204)
    expect([await run.state(), await buildState(app, build)]).toEqual(['canceling', 'canceling'])
    expect((await put(world, agent, 'stop')).status).toBe(204)
    await run.finish(-1, { signal_reason: 'cancel' })
    expect((await agent.ping()).body.action).toBe('disconnect')
  })

  it('lets the job finish when force is false', async () => {
    const world = await anAgentWorld(app)
    await aBuild(app, world.org, await aPipeline(app, world.org, 'steps: [{ command: one }]'))
    const agent = await anAgent(app, world.token)
    const run = await agent.begin()
    expect((await put(world, agent, 'stop', { force: false })).status).toBe(204)
    expect(await run.state()).toBe('running')
  })

  it('answers 400 for an agent that is not connected', async () => {
    const world = await anAgentWorld(app)
    const agent = await anAgent(app, world.token)
    await agent.call('POST', 'disconnect')
    const { status, body } = await put(world, agent, 'stop')
    expect([status, body]).toEqual([400, { message: 'Can only stop connected agents' }])
  })
})

describe('PUT /v2/organizations/{org.slug}/agents/{id}/pause and …/resume', () => {
  it('show who paused the agent, why and for how long', async () => {
    const world = await anAgentWorld(app)
    const agent = await anAgent(app, world.token)
    expect((await put(world, agent, 'pause', { note: 'Disk is full', timeout_in_minutes: 60 })).status).toBe(
      204,
    )
    expect((await get(world, `/${agent.id}`)).body).toMatchObject({
      paused: true,
      paused_at: expect.any(String),
      paused_by: { id: world.admin.id },
      paused_note: 'Disk is full',
      paused_timeout_in_minutes: 60,
    })
    expect((await put(world, agent, 'resume')).status).toBe(204)
    expect((await get(world, `/${agent.id}`)).body).toMatchObject({
      paused: false,
      paused_by: null,
      paused_note: null,
    })
  })

  it('answer 422 when nothing would change, and for disconnected agents', async () => {
    const world = await anAgentWorld(app)
    const agent = await anAgent(app, world.token)
    const said = async (verb: string) => {
      const { status, body } = await put(world, agent, verb)
      return [status, body.message]
    }
    expect(await said('resume')).toEqual([422, 'Agent is not paused'])
    await put(world, agent, 'pause')
    expect(await said('pause')).toEqual([422, 'Agent is already paused'])
    await put(world, agent, 'resume')
    await agent.call('POST', 'disconnect')
    expect(await said('pause')).toEqual([422, 'Only connected agents may be paused'])
  })

  it('accept one of two simultaneous pauses', async () => {
    const world = await anAgentWorld(app)
    const agent = await anAgent(app, world.token)
    expect(
      sortedStatuses(await Promise.all([put(world, agent, 'pause'), put(world, agent, 'pause')])),
    ).toEqual([204, 422])
  })
})

describe('PUT /v2/organizations/{org.slug}/agents/{id}/{action}', () => {
  it('is for administrators and maintainers of the cluster', async () => {
    const world = await anAgentWorld(app)
    const agent = await anAgent(app, world.token)
    const member = await aMember(app, world.org)
    const pause = () =>
      app.request('PUT', `${world.org.path}/agents/${agent.id}/pause`, { token: member.token, body: {} })
    expect((await pause()).status).toBe(403)
    await app.request('POST', `${world.cluster.path}/maintainers`, {
      token: world.admin.token,
      body: { user: member.id },
    })
    expect((await pause()).status).toBe(204)
  })

  it('answers 404 to callers of another organization', async () => {
    const world = await anAgentWorld(app)
    const agent = await anAgent(app, world.token)
    const stranger = await anAdmin(app, await anOrganization(app))
    expect(
      (
        await app.request('PUT', `${world.org.path}/agents/${agent.id}/stop`, {
          token: stranger.token,
          body: {},
        })
      ).status,
    ).toBe(404)
  })
})

describe('DELETE /v2/organizations/{org.slug}/clusters/{id}', () => {
  it('answers 422 while agents are connected', async () => {
    const world = await anAgentWorld(app)
    const agent = await anAgent(app, world.token)
    const remove = () => app.request('DELETE', world.cluster.path, { token: world.admin.token })
    expect((await remove()).body.message).toContain('1 agent is connected')
    await agent.call('POST', 'disconnect')
    expect((await remove()).status).toBe(204)
  })
})
