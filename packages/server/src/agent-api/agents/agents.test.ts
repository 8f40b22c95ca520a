import { describe, expect, it } from 'vitest'
import { useApp } from '../../../test/app.ts'
import {
  aClusterToken,
  anAgent,
  anAgentWorld,
  call,
  openStream,
  registerBody,
  resumeFrame,
} from '../../../test/agent-client.ts'
import { aCluster, aPipeline, aQueue } from '../../../test/builders.ts'
import { aBuild, buildState, statesOf } from '../../../test/runs.ts'

const app = useApp()

const register = (token: string | null, body: object) => call(app, token, 'POST', 'register', { body })

const agentRow = (id: string) =>
  app.db.selectFrom('agents').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

describe('POST /v3/register', () => {
  it('makes an agent with a session, and intervals that are whole seconds from 1', async () => {
    const { token, queue, cluster, org } = await anAgentWorld(app)
    const { status, body } = await register(token, registerBody({ tags: ['os=linux'], priority: '7' }))
    expect([status, body]).toEqual([
      200,
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'tester',
        access_token: expect.stringMatching(/^mras_\w{40}$/),
        ping_interval: 1,
        heartbeat_interval: 60,
        job_status_interval: 2,
        meta_data: ['os=linux', 'queue=default'],
      },
    ])
    expect(await agentRow(String(body.id))).toMatchObject({
      organization_id: org.id,
      cluster_id: cluster.id,
      queue_id: queue.id,
      hostname: 'ci-host-1',
      priority: 7,
      pid: 4711,
      connection_state: 'never_connected',
      ip_address: '127.0.0.1',
      user_agent: 'buildkite-agent/3.137.0.x (linux; amd64)',
    })
  })

  it.each([
    ['%hostname-%pid-1', /^ci-host-1-4711-1$/],
    ['w-%random', /^w-[a-z0-9]{6}$/],
    ['', /^ci-host-1-[a-z0-9]{6}$/],
  ])('fills in the name %j', async (name, expected) => {
    const { token } = await anAgentWorld(app)
    expect((await register(token, registerBody({ name }))).body.name).toMatch(expected)
  })

  it('takes the queue that a tag names', async () => {
    const { token, cluster, admin } = await anAgentWorld(app)
    const queue = await aQueue(app, cluster, admin, { key: 'linux' })
    const { body } = await register(token, registerBody({ tags: ['queue=linux'] }))
    expect(await agentRow(String(body.id))).toMatchObject({ queue_id: queue.id, tags: ['queue=linux'] })
  })

  it('takes null for tags, and no body field but those it needs', async () => {
    const { token } = await anAgentWorld(app)
    expect((await register(token, { name: 'x', meta_data: null, features: null })).status).toBe(200)
    expect((await register(token, {})).status).toBe(200)
  })

  it('refuses an unknown queue, two queues, an odd priority, and a missing default queue, saying which', async () => {
    const { token, org, admin } = await anAgentWorld(app)
    const refusal = async (given: object) => {
      const { status, body } = await register(token, { ...registerBody(), ...given })
      return [status, String(body.message)]
    }
    expect(await refusal({ meta_data: ['queue=nope'] })).toEqual([
      422,
      expect.stringContaining('has no queue nope'),
    ])
    expect(await refusal({ meta_data: ['queue=a', 'queue=b'] })).toEqual([
      422,
      expect.stringContaining('one queue'),
    ])
    expect(await refusal({ priority: 'high' })).toEqual([
      422,
      'Priority must be a whole number of at most 9 digits.',
    ])
    const empty = await aClusterToken(app, await aCluster(app, org, admin), admin)
    const { status, body } = await register(empty, registerBody())
    expect([status, body.message]).toEqual([422, expect.stringContaining('no default queue')])
  })

  it('refuses a token that is missing, unknown, expired, revoked or used from elsewhere', async () => {
    const { cluster, admin, token } = await anAgentWorld(app)
    const statusWith = async (text: string | null) => (await register(text, registerBody())).status
    const expired = await aClusterToken(app, cluster, admin, {
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    })
    await app.db
      .updateTable('cluster_tokens')
      .set({ expires_at: '2020-01-01T00:00:00Z' })
      .where('description', '=', 'for agents')
      .where('expires_at', 'is not', null)
      .execute()
    const elsewhere = await aClusterToken(app, cluster, admin, { allowed_ip_addresses: '10.0.0.0/8' })
    expect(await Promise.all([null, 'mrct_nope', expired, elsewhere, token].map(statusWith))).toEqual([
      401, 401, 401, 403, 200,
    ])
  })

  it('gives each of many agents that register at once its own session', async () => {
    const { token } = await anAgentWorld(app)
    const answers = await Promise.all(Array.from({ length: 10 }, () => register(token, registerBody())))
    expect(new Set(answers.map(({ body }) => body.access_token)).size).toBe(10)
  })
})

describe('POST /v3/connect, /v3/heartbeat, /v3/disconnect', () => {
  it('move the agent from connected to disconnected', async () => {
    const { token } = await anAgentWorld(app)
    const agent = await anAgent(app, token, { connect: false })
    expect(await agent.call('POST', 'connect')).toMatchObject({ status: 200, body: {} })
    expect((await agent.call('POST', 'connect')).status).toBe(200)
    const before = await agentRow(agent.id)
    expect(before).toMatchObject({ connection_state: 'connected', connected_at: expect.any(String) })
    const beat = await agent.call('POST', 'heartbeat', {
      body: { sent_at: '2026-01-02T03:04:05.123456789+02:00' },
    })
    expect(beat).toMatchObject({
      status: 200,
      body: { sent_at: '2026-01-02T03:04:05.123456789+02:00', received_at: expect.any(String) },
    })
    expect((await agent.call('POST', 'disconnect')).status).toBe(200)
    expect(await agentRow(agent.id)).toMatchObject({
      connection_state: 'disconnected',
      disconnected_at: expect.any(String),
    })
  })

  it('answer a heartbeat without a body in JSON', async () => {
    const { token } = await anAgentWorld(app)
    const agent = await anAgent(app, token)
    const { status, headers, body } = await agent.call('POST', 'heartbeat')
    expect([status, headers['content-type'], Object.keys(body)]).toEqual([
      200,
      'application/json; charset=utf-8',
      ['received_at'],
    ])
  })

  it('end the session with the disconnect, which may be repeated', async () => {
    const { token } = await anAgentWorld(app)
    const agent = await anAgent(app, token)
    await agent.call('POST', 'disconnect')
    expect((await agent.call('POST', 'disconnect')).status).toBe(200)
    expect((await agent.ping()).status).toBe(401)
    expect((await agent.call('POST', 'heartbeat')).status).toBe(401)
    expect((await agent.call('POST', 'connect')).status).toBe(401)
  })

  it('hand an unstarted job to another agent when its agent leaves, and end a started one', async () => {
    const { org, token } = await anAgentWorld(app)
    const pipeline = await aPipeline(app, org, 'steps: [{ command: one }]')
    const build = await aBuild(app, org, pipeline)
    const first = await anAgent(app, token)
    await first.accept((await first.offered()) ?? '')
    await first.call('POST', 'disconnect')
    expect(await statesOf(app, build)).toEqual({ one: 'scheduled' })
    const second = await anAgent(app, token)
    const run = await second.begin()
    await second.call('POST', 'disconnect')
    expect(await statesOf(app, build)).toEqual({ one: 'failed' })
    expect(await buildState(app, build)).toBe('failed')
    expect((await run.call('GET', `jobs/${run.id}`)).status).toBe(401)
  })
})

describe('agents whose registration token is revoked (abuse case R9)', () => {
  async function aRevocable(steps = '[{ command: one }, { command: two }]') {
    const world = await anAgentWorld(app)
    const { list } = await app.request('GET', `${world.cluster.path}/tokens`, { token: world.admin.token })
    const path = `${world.cluster.path}/tokens/${list[0].id}`
    const build = await aBuild(app, world.org, await aPipeline(app, world.org, `steps: ${steps}`))
    const change = (method: string, body?: object) =>
      app.request(method, path, { token: world.admin.token, body })
    return { ...world, build, change }
  }

  it.each([
    ['deleted', 401, 'DELETE', undefined],
    ['limited to other addresses', 403, 'PATCH', { allowed_ip_addresses: '10.0.0.0/8' }],
    ['ended', 401, 'PATCH', { expires_at: '2020-01-01T00:00:00Z' }],
  ])('are refused at once when it is %s, and their jobs are lost', async (_, status, method, body) => {
    const { token, build, change } = await aRevocable()
    const [busy, idle] = [await anAgent(app, token), await anAgent(app, token)]
    const run = await busy.begin()
    expect([200, 204]).toContain((await change(method, body)).status)
    const statuses = [
      await busy.ping(),
      await busy.call('POST', 'heartbeat', { body: {} }),
      await idle.ping(),
      await run.call('GET', `jobs/${run.id}`),
    ].map((answer) => answer.status)
    expect(statuses).toEqual([status, status, status, 401])
    // Its later reports about the job have no effect.
    await run.finish(0)
    expect((await register(token, registerBody())).status).toBeGreaterThan(400)
    expect(await statesOf(app, build)).toEqual({ one: 'failed', two: 'scheduled' })
  })

  it('end their wait for a job', async () => {
    const { token, change } = await aRevocable('[]')
    const agent = await anAgent(app, token)
    const stream = await openStream(agent)
    expect(await stream.next()).toBe(resumeFrame)
    await change('DELETE')
    // It gets a disconnect, and nothing after that.
    expect(await stream.next()).not.toBeNull()
    expect(await stream.next()).toBeNull()
  })

  it('go on where nothing was taken away from them', async () => {
    const { token, change } = await aRevocable()
    const agent = await anAgent(app, token)
    await change('PATCH', { description: 'Renamed' })
    await change('PATCH', { allowed_ip_addresses: '127.0.0.0/8', expires_at: '2099-01-01T00:00:00Z' })
    expect((await agent.ping()).status).toBe(200)
  })

  it('end the job they have when it expires, and take no other', async () => {
    const { token, change } = await aRevocable()
    const [busy, idle] = [await anAgent(app, token), await anAgent(app, token)]
    await change('PATCH', { expires_at: '2099-01-01T00:00:00Z' })
    const run = await busy.begin()
    // As it is when the time has come by itself.
    await app.db.updateTable('cluster_tokens').set({ expires_at: '2020-01-01T00:00:00Z' }).execute()
    expect((await busy.call('POST', 'heartbeat', { body: {} })).status).toBe(200)
    expect((await run.finish(0)).status).toBe(200)
    expect([(await busy.ping()).status, (await idle.ping()).status]).toEqual([401, 401])
  })
})

describe('POST /v3/stop', () => {
  it('lets an idle agent disconnect, and shows it as stopped afterwards', async () => {
    const { token } = await anAgentWorld(app)
    const agent = await anAgent(app, token)
    expect((await agent.call('POST', 'stop', { body: {} })).status).toBe(200)
    expect((await agent.ping()).body).toEqual({
      action: 'disconnect',
      message: 'The agent was asked to stop',
    })
    expect((await agent.call('POST', 'heartbeat')).status).toBe(200)
    await agent.call('POST', 'disconnect')
    expect(await agentRow(agent.id)).toMatchObject({
      connection_state: 'stopped',
      stopped_at: expect.any(String),
    })
  })

  it('inside a job lets the job end first', async () => {
    const { org, token } = await anAgentWorld(app)
    const build = await aBuild(
      app,
      org,
      await aPipeline(app, org, 'steps: [{ command: one }, { command: two }]'),
    )
    const agent = await anAgent(app, token)
    const run = await agent.begin()
    expect((await run.call('POST', 'stop', { body: {} })).status).toBe(200)
    expect(await run.state()).toBe('running')
    await run.finish()
    expect((await agent.ping()).body.action).toBe('disconnect')
    expect(await statesOf(app, build)).toEqual({ one: 'passed', two: 'scheduled' })
  })

  it('with force cancels the job', async () => {
    const { org, token } = await anAgentWorld(app)
    await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: one }]'))
    const run = await (await anAgent(app, token)).begin()
    expect((await run.call('POST', 'stop', { body: { force: true } })).status).toBe(200)
    expect(await run.state()).toBe('canceling')
  })
})

describe('POST /v3/pause and /v3/resume', () => {
  it('keep jobs from the agent meanwhile', async () => {
    const { org, token } = await anAgentWorld(app)
    const agent = await anAgent(app, token)
    expect(
      (await agent.call('POST', 'pause', { body: { note: 'lunch', timeout_in_minutes: 30 } })).status,
    ).toBe(200)
    expect((await agent.call('POST', 'pause', { body: {} })).status).toBe(422)
    await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: one }]'))
    expect((await agent.ping()).body).toEqual({ action: 'pause', message: 'lunch' })
    expect((await agent.call('POST', 'resume')).status).toBe(200)
    expect((await agent.call('POST', 'resume')).body).toEqual({ message: 'Agent is not paused' })
    expect(await agent.offered()).not.toBeNull()
  })

  it('give a job back that was offered and not accepted', async () => {
    const { org, token } = await anAgentWorld(app)
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: one }]'))
    const agent = await anAgent(app, token)
    const jobId = await agent.offered()
    await agent.call('POST', 'pause', { body: {} })
    expect(await statesOf(app, build)).toEqual({ one: 'scheduled' })
    expect((await agent.call('PUT', `jobs/${jobId}/accept`)).status).toBe(422)
    expect(await (await anAgent(app, token)).offered()).toBe(jobId)
  })
})

describe('GET /v3/token', () => {
  it('names the owner of the registration token', async () => {
    const { org, cluster, queue, token } = await anAgentWorld(app)
    expect((await call(app, token, 'GET', 'token')).body).toEqual({
      uuid: expect.any(String),
      description: 'for agents',
      token_type: 'cluster',
      organization_slug: org.slug,
      organization_uuid: org.id,
      cluster_uuid: cluster.id,
      cluster_name: cluster.name,
      organization_queue_uuid: queue.id,
      organization_queue_key: 'default',
    })
  })
})

describe('GET /v3/metrics', () => {
  it('counts agents and jobs, by queue and together', async () => {
    const { org, cluster, admin, token } = await anAgentWorld(app)
    await aQueue(app, cluster, admin, { key: 'other' })
    await aBuild(
      app,
      org,
      await aPipeline(app, org, 'steps: [{ command: a }, { command: b }, wait, { command: c }]'),
    )
    const busy = await anAgent(app, token)
    await busy.begin()
    await anAgent(app, token, { tags: ['queue=other'] })
    const { body } = await call(app, token, 'GET', 'metrics')
    expect(body).toMatchObject({
      agents: {
        idle: 1,
        busy: 1,
        total: 2,
        queues: { default: { idle: 0, busy: 1, total: 1 }, other: { idle: 1, busy: 0, total: 1 } },
      },
      jobs: { scheduled: 1, running: 1, waiting: 1, total: 3, queues: { other: { total: 0 } } },
      organization: { slug: org.slug },
      cluster: { name: cluster.name },
    })
    const queue = await call(app, token, 'GET', 'metrics/queue?name=default')
    expect(queue.body).toMatchObject({
      agents: { busy: 1 },
      jobs: { scheduled: 1 },
      organization: { slug: org.slug },
    })
    const unknown = await call(app, token, 'GET', 'metrics/queue?name=nosuch')
    expect([unknown.status, unknown.body]).toEqual([
      200,
      {
        agents: { idle: 0, busy: 0, total: 0 },
        jobs: { scheduled: 0, running: 0, waiting: 0, total: 0 },
        organization: { slug: org.slug },
        cluster: { name: cluster.name },
      },
    ])
    expect((await call(app, token, 'GET', 'metrics/queue')).status).toBe(400)
  })
})
