import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useOwnApp } from '../../../test/app.ts'
import { anAgent, anAgentWorld, call, type AgentWorld, type Sent } from '../../../test/agent-client.ts'
import { aCluster, aPipeline, aQueue } from '../../../test/builders.ts'
import {
  aBuild,
  buildState,
  jobNamed,
  jobsOf,
  runJob,
  statesOf,
  applyEvent,
  type TestBuild,
} from '../../../test/runs.ts'
import { sweep } from '../../conductor/sweep.ts'
import type { Context } from '../../context.ts'

const app = useOwnApp()

const later = (seconds: number): Context => ({ ...app.ctx, now: () => new Date(Date.now() + seconds * 1000) })

const registration = { key: 'kube', type: 'kubernetes', queue_key: '_default', metadata: { version: '1' } }

interface Stack {
  world: AgentWorld
  call(method: string, path: string, body?: unknown): ReturnType<typeof call>
}

async function aStack(given: object = {}, world?: AgentWorld): Promise<Stack> {
  const home = world ?? (await anAgentWorld(app))
  const body = { ...registration, ...given }
  await call(app, home.token, 'POST', 'stacks/register', { body })
  return {
    world: home,
    call: (method, path, sent) => {
      const options: Sent = sent === undefined ? {} : { body: sent }
      return call(app, home.token, method, `stacks/${body.key}/${path}`, options)
    },
  }
}

async function withBuild(stack: Stack, steps = '[{ command: one }, { command: two }]'): Promise<TestBuild> {
  return aBuild(app, stack.world.org, await aPipeline(app, stack.world.org, `steps: ${steps}`))
}

const reserve = (stack: Stack, ids: string[], more: object = {}) =>
  stack.call('PUT', 'scheduled-jobs/batch-reserve', { job_uuids: ids, ...more })

const idsOf = async (build: TestBuild) => (await jobsOf(app, build)).map(({ id }) => id)

describe('POST /v3/stacks/register', () => {
  it('answers 201 to a new stack, 200 to one that is known, with the key of the queue', async () => {
    const { token, org } = await anAgentWorld(app)
    const first = await call(app, token, 'POST', 'stacks/register', { body: registration })
    expect([first.status, first.body]).toEqual([
      201,
      {
        id: expect.any(String),
        organization_uuid: org.id,
        cluster_queue_key: 'default',
        key: 'kube',
        type: 'kubernetes',
        metadata: { version: '1' },
        last_connected_on: expect.any(String),
        state: 'connected',
      },
    ])
    const again = { ...registration, metadata: { version: '2' } }
    const second = await call(app, token, 'POST', 'stacks/register', { body: again })
    expect([second.status, second.body.id, second.body.metadata]).toEqual([
      200,
      first.body.id,
      { version: '2' },
    ])
  })

  it.each(['_default', '__default__', '~', '-', '', 'default'])(
    'knows the default queue as %j',
    async (queue_key) => {
      const { token } = await anAgentWorld(app)
      const answer = await call(app, token, 'POST', 'stacks/register', {
        body: { ...registration, queue_key },
      })
      expect(answer.body.cluster_queue_key).toBe('default')
    },
  )

  it.each([
    [{ key: 'a.b' }, 422],
    [{ key: 'x'.repeat(81) }, 422],
    [{ type: 'docker' }, 422],
    [{ metadata: { k: 'v'.repeat(257) } }, 422],
    [{ metadata: { ['k'.repeat(65)]: 'v' } }, 422],
    [{ metadata: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`k${n}`, 'v'])) }, 422],
    [{ queue_key: 'nope' }, 404],
  ])('refuses %j', async (given, status) => {
    const { token } = await anAgentWorld(app)
    const answer = await call(app, token, 'POST', 'stacks/register', { body: { ...registration, ...given } })
    expect([answer.status, Object.keys(answer.body)]).toEqual([status, ['message']])
  })

  it('makes one stack of many calls at once', async () => {
    const { token } = await anAgentWorld(app)
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => call(app, token, 'POST', 'stacks/register', { body: registration })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  })
})

describe('POST /v3/stacks/:stack/deregister', () => {
  it('says good-bye with 204, and asking for jobs again is coming back', async () => {
    const stack = await aStack()
    expect((await stack.call('POST', 'deregister')).status).toBe(204)
    const disconnected = () =>
      app.db
        .selectFrom('stacks')
        .select('disconnected_at')
        .where('organization_id', '=', stack.world.org.id)
        .executeTakeFirstOrThrow()
    expect(await disconnected()).toEqual({ disconnected_at: expect.any(String) })
    expect((await stack.call('GET', 'scheduled-jobs')).status).toBe(200)
    expect(await disconnected()).toEqual({ disconnected_at: null })
  })

  it('answers 404 to a key of another cluster', async () => {
    const stack = await aStack()
    const other = await anAgentWorld(app)
    for (const [method, path] of [
      ['POST', 'deregister'],
      ['GET', 'scheduled-jobs'],
    ] as const) {
      expect((await call(app, other.token, method, `stacks/kube/${path}`)).status).toBe(404)
    }
    expect((await stack.call('GET', 'scheduled-jobs')).status).toBe(200)
  })
})

describe('GET /v3/stacks/:stack/scheduled-jobs', () => {
  it('shows the lowest priority for jobs of forks, because stacks choose by it', async () => {
    const stack = await aStack()
    const pipeline = await aPipeline(app, stack.world.org, 'steps: [{ command: one, priority: 2147483647 }]')
    await aBuild(app, stack.world.org, pipeline, { commitOrigin: 'fork' })
    const { body } = await stack.call('GET', 'scheduled-jobs?queue_key=default')
    expect(body).toMatchObject({ jobs: [{ priority: -2_147_483_648 }] })
  })

  it('lists what waits, oldest first, with where it comes from', async () => {
    const stack = await aStack()
    const build = await withBuild(
      stack,
      '[{ command: one, key: first, priority: 3 }, wait, { command: late }]',
    )
    const { status, body } = await stack.call('GET', 'scheduled-jobs?queue_key=default')
    expect([status, body]).toEqual([
      200,
      {
        jobs: [
          {
            id: await jobNamed(app, build, 'one'),
            priority: 3,
            agent_query_rules: [],
            scheduled_at: expect.stringMatching(/Z$/),
            pipeline: { slug: expect.any(String), uuid: expect.any(String) },
            build: { uuid: build.id, number: 1, branch: 'main' },
            step: { key: 'first' },
          },
        ],
        cluster_queue: { id: stack.world.queue.id, paused: false, dispatch_paused: false },
        page_info: { has_next_page: false, end_cursor: expect.any(String) },
      },
    ])
  })

  it('goes on behind a cursor, and leaves out what is reserved', async () => {
    const stack = await aStack()
    const ids = await idsOf(await withBuild(stack, '[{ command: a }, { command: b }, { command: c }]'))
    const listed: string[] = []
    let after = ''
    for (let page = 0; page < 3; page++) {
      const { body } = await stack.call('GET', `scheduled-jobs?queue_key=~&limit=1${after}`)
      listed.push(...(body.jobs as unknown as Array<{ id: string }>).map(({ id }) => id))
      expect(body.page_info.has_next_page).toBe(page < 2)
      after = `&after=${body.page_info.end_cursor}`
    }
    expect(listed).toEqual(ids)
    await reserve(stack, ids.slice(0, 2))
    const { body } = await stack.call('GET', 'scheduled-jobs')
    expect((body.jobs as unknown as Array<{ id: string }>).map(({ id }) => id)).toEqual(ids.slice(2))
  })

  it('serves any queue of the cluster, says when it is paused, and refuses unknown ones, limits and cursors', async () => {
    const stack = await aStack()
    const { cluster, admin } = stack.world
    const queue = await aQueue(app, cluster, admin, { key: 'big' })
    await app.request('POST', `${queue.path}/pause_dispatch`, { token: admin.token, body: {} })
    const { body } = await stack.call('GET', 'scheduled-jobs?queue_key=big')
    expect(body).toMatchObject({
      jobs: [],
      cluster_queue: { id: queue.id, paused: true, dispatch_paused: true },
      page_info: { has_next_page: false, end_cursor: null },
    })
    expect((await stack.call('GET', 'scheduled-jobs?queue_key=nope')).status).toBe(404)
    expect((await stack.call('GET', 'scheduled-jobs?limit=0')).status).toBe(400)
    expect((await stack.call('GET', 'scheduled-jobs?after=forged')).status).toBe(400)
  })
})

describe('PUT /v3/stacks/:stack/scheduled-jobs/batch-reserve', () => {
  it('keeps jobs from agents until they are acquired by name', async () => {
    const stack = await aStack()
    const build = await withBuild(stack)
    const [one = '', two = ''] = await idsOf(build)
    const strange = randomUUID()
    expect((await reserve(stack, [one, strange, 'nonsense', one])).body).toEqual({
      reserved: [one],
      not_reserved: [strange, 'nonsense'],
    })
    expect(await statesOf(app, build)).toEqual({ one: 'reserved', two: 'scheduled' })
    const agent = await anAgent(app, stack.world.token)
    expect(await agent.offered()).toBe(two)
    const pod = await anAgent(app, stack.world.token, { ignore: true })
    const acquired = await pod.call('PUT', `jobs/${one}/acquire`)
    expect([acquired.status, acquired.body.id]).toEqual([200, one])
    expect(await statesOf(app, build)).toEqual({ one: 'accepted', two: 'assigned' })
  })

  it('shows a reserved job as scheduled to people', async () => {
    const stack = await aStack()
    const build = await withBuild(stack, '[{ command: one }]')
    await reserve(stack, await idsOf(build))
    const { org, admin } = stack.world
    const { list } = await app.request('GET', `${org.path}/builds`, { token: admin.token })
    expect(list).toMatchObject([{ jobs: [{ state: 'scheduled' }] }])
  })

  it('returns a job to everybody when its time is over; asking again begins it anew', async () => {
    const stack = await aStack()
    const build = await withBuild(stack)
    const [one = '', two = ''] = await idsOf(build)
    await reserve(stack, [one])
    await reserve(stack, [two], { reservation_expiry_seconds: 100 })
    await sweep(later(101))
    expect(await statesOf(app, build)).toEqual({ one: 'reserved', two: 'scheduled' })
    expect((await reserve(stack, [one], { reservation_expiry_seconds: 2000 })).body.reserved).toEqual([one])
    await sweep(later(901))
    expect(await statesOf(app, build)).toMatchObject({ one: 'reserved' })
    await sweep(later(2001))
    expect(await statesOf(app, build)).toMatchObject({ one: 'scheduled' })
    expect(await (await anAgent(app, stack.world.token)).offered()).toBe(one)
  })

  it('gives each job to one of two stacks that ask at once', async () => {
    const first = await aStack()
    const second = await aStack({ key: 'other' }, first.world)
    const build = await withBuild(first, '[{ command: a, parallelism: 20 }]')
    const ids = await idsOf(build)
    const answers = await Promise.all([first, second, first, second].map((stack) => reserve(stack, ids)))
    const owned = (index: number) => answers[index]?.body.reserved as unknown as string[]
    const [ours, theirs] = [new Set([...owned(0), ...owned(2)]), new Set([...owned(1), ...owned(3)])]
    expect([...ours].filter((id) => theirs.has(id))).toEqual([])
    expect(ours.size + theirs.size).toBe(20)
  })

  it('does not hand out what is on a paused queue, has ended, or belongs to another cluster', async () => {
    const stack = await aStack()
    const stranger = await aStack()
    const build = await withBuild(stack)
    const ids = await idsOf(build)
    expect((await reserve(stranger, ids)).body.reserved).toEqual([])
    await runJob(app, build, 'one')
    await app.request('POST', `${stack.world.queue.path}/pause_dispatch`, {
      token: stack.world.admin.token,
      body: {},
    })
    expect((await reserve(stack, ids)).body).toEqual({ reserved: [], not_reserved: ids })
  })

  it('lets a cancel go through at once', async () => {
    const stack = await aStack()
    const build = await withBuild(stack, '[{ command: one }]')
    const [id = ''] = await idsOf(build)
    await reserve(stack, [id])
    await applyEvent(app, build, { type: 'cancel_build', reason: null })
    expect(await buildState(app, build)).toBe('canceled')
    expect((await stack.call('POST', 'jobs/get-states', { job_uuids: [id] })).body.states).toEqual({
      [id]: 'canceled',
    })
  })

  it.each([
    { job_uuids: 'all' },
    { job_uuids: Array.from({ length: 1001 }, () => 'x') },
    { job_uuids: [], reservation_expiry_seconds: 3601 },
  ])('refuses a body that asks for too much', async (body) => {
    const stack = await aStack()
    expect((await stack.call('PUT', 'scheduled-jobs/batch-reserve', body)).status).toBe(422)
  })
})

describe('GET /v3/stacks/:stack/jobs/:job', () => {
  it('shows the variables and the command before any agent has the job', async () => {
    const stack = await aStack()
    const plugin = '[{ kubernetes: { podSpec: { containers: [] } } }]'
    const build = await withBuild(stack, `[{ command: make, plugins: ${plugin} }]`)
    const id = await jobNamed(app, build, 'make')
    const { status, body } = await stack.call('GET', `jobs/${id}`)
    expect([status, body.id, body.command]).toEqual([200, id, 'make'])
    expect(body.env).toMatchObject({
      BUILDKITE_JOB_ID: id,
      BUILDKITE_COMMAND: 'make',
      BUILDKITE_BRANCH: 'main',
    })
    expect(String(body.env.BUILDKITE_PLUGINS)).toContain('podSpec')
  })

  it('answers 404 for a job of another cluster, and for nonsense', async () => {
    const stack = await aStack()
    const [id] = await idsOf(await withBuild(await aStack()))
    for (const job of [id, randomUUID(), 'nonsense']) {
      expect((await stack.call('GET', `jobs/${job}`)).status).toBe(404)
    }
  })
})

describe('POST /v3/stacks/:stack/jobs/get-states', () => {
  it('returns states as they are, the end as finished, and leaves out unknown jobs', async () => {
    const stack = await aStack()
    const build = await withBuild(stack, '[{ command: a }, { command: b }, { command: c }]')
    const [a = '', b = '', c = ''] = await idsOf(build)
    await runJob(app, build, 'a', 1)
    await reserve(stack, [b])
    const { body } = await stack.call('POST', 'jobs/get-states', {
      job_uuids: [a, b, c, randomUUID(), 'nonsense'],
    })
    expect(body).toEqual({ states: { [a]: 'finished', [b]: 'reserved', [c]: 'scheduled' } })
  })
})

describe('POST /v3/stacks/:stack/jobs/:job/finish', () => {
  const jobRow = (id: string) =>
    app.db
      .selectFrom('jobs')
      .select(['state', 'exit_status', 'signal_reason'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()

  it('fails a job that no agent could be started for, with the reason kept', async () => {
    const stack = await aStack()
    const build = await withBuild(stack, '[{ command: one }]')
    const [id = ''] = await idsOf(build)
    await reserve(stack, [id])
    const finish = () => stack.call('POST', `jobs/${id}/finish`, { detail: 'No such image' })
    expect((await finish()).status).toBe(200)
    expect(await jobRow(id)).toEqual({ state: 'failed', exit_status: -1, signal_reason: 'stack_error' })
    expect(await buildState(app, build)).toBe('failed')
    expect((await finish()).status).toBe(200)
    const stored = await app.db
      .selectFrom('stack_notifications')
      .select('detail')
      .where('job_id', '=', id)
      .execute()
    expect(stored).toEqual([{ detail: 'No such image' }])
  })

  it('passes a job that needed no agent, reserved or not', async () => {
    const stack = await aStack()
    const [id = ''] = await idsOf(await withBuild(stack, '[{ command: one }]'))
    expect((await stack.call('POST', `jobs/${id}/finish`, { exit_status: 0, detail: 'done' })).status).toBe(
      200,
    )
    expect(await jobRow(id)).toEqual({ state: 'passed', exit_status: 0, signal_reason: null })
  })

  it('lets the step’s own rules retry it', async () => {
    const stack = await aStack()
    const retry = '{ automatic: [{ exit_status: -1, signal_reason: stack_error, limit: 1 }] }'
    const build = await withBuild(stack, `[{ command: one, retry: ${retry} }]`)
    const [id = ''] = await idsOf(build)
    await stack.call('POST', `jobs/${id}/finish`, { detail: 'no room' })
    expect(await statesOf(app, build)).toEqual({ one: 'scheduled' })
    expect(await idsOf(build)).not.toContain(id)
  })

  it('refuses what an agent has, what another stack has reserved, and what is another’s', async () => {
    const stack = await aStack()
    const build = await withBuild(stack)
    const [one = '', two = ''] = await idsOf(build)
    await (await anAgent(app, stack.world.token)).begin()
    await reserve(await aStack({ key: 'other' }, stack.world), [two])
    const finish = async (of: Stack, id: string, body: object = { detail: 'x' }) =>
      (await of.call('POST', `jobs/${id}/finish`, body)).status
    expect(await finish(stack, one)).toBe(422)
    expect(await finish(stack, two)).toBe(422)
    expect(await finish(await aStack(), two)).toBe(404)
    expect(await finish(stack, 'nonsense')).toBe(404)
    expect(await finish(stack, two, {})).toBe(422)
    expect(await finish(stack, two, { detail: 'ä'.repeat(2049) })).toBe(422)
    expect(await statesOf(app, build)).toEqual({ one: 'running', two: 'reserved' })
  })
})

describe('POST /v3/stacks/:stack/notifications', () => {
  const details = async (id: string) =>
    (
      await app.db
        .selectFrom('stack_notifications')
        .select('detail')
        .where('job_id', '=', id)
        .orderBy('id')
        .execute()
    ).map(({ detail }) => detail)

  it('keeps what is fine and says what is not, by its place', async () => {
    const stack = await aStack()
    const build = await withBuild(stack)
    const [one = '', two = ''] = await idsOf(build)
    await runJob(app, build, 'two')
    const finished_at = new Date(Date.now() - 301_000).toISOString()
    await app.db.updateTable('jobs').set({ finished_at }).where('id', '=', two).execute()
    const notifications = [
      { job_uuid: one, detail: 'Pod is starting' },
      { job_uuid: one, detail: '' },
      { job_uuid: one, detail: 'x'.repeat(257) },
      { job_uuid: randomUUID(), detail: 'who?' },
      { job_uuid: 'nonsense', detail: 'who?' },
      { job_uuid: two, detail: 'too late' },
      { job_uuid: one, detail: 'tomorrow', timestamp: new Date(Date.now() + 3_600_000).toISOString() },
      { job_uuid: one, detail: 'long ago', timestamp: '2020-01-01T00:00:00Z' },
      { job_uuid: one, detail: 'never', timestamp: 'soon' },
      { job_uuid: one, detail: 'Pod has started', timestamp: new Date().toISOString() },
    ]
    const { status, body } = await stack.call('POST', 'notifications', { notifications })
    expect([status, body]).toEqual([
      200,
      {
        errors: [
          { error: 'detail is required', indexes: [1] },
          { error: 'detail exceeds its length limit of 256', indexes: [2] },
          { error: 'job not found', indexes: [3, 4] },
          { error: 'job finished more than 300 seconds ago', indexes: [5] },
          { error: 'timestamp is in the future', indexes: [6] },
          { error: 'timestamp is before the creation of the job', indexes: [7] },
          { error: 'timestamp is not an ISO 8601 time', indexes: [8] },
        ],
      },
    ])
    expect(await details(one)).toEqual(['Pod is starting', 'Pod has started'])
  })

  it('takes at most 100 for a job, also from many requests at once', async () => {
    const stack = await aStack()
    const [id = ''] = await idsOf(await withBuild(stack))
    const notifications = Array.from({ length: 30 }, (_, n) => ({ job_uuid: id, detail: `message ${n}` }))
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => stack.call('POST', 'notifications', { notifications })),
    )
    expect(await details(id)).toHaveLength(100)
    const errors = answers.flatMap(
      ({ body }) => body.errors as unknown as Array<{ error: string; indexes: number[] }>,
    )
    expect(errors.flatMap(({ indexes }) => indexes)).toHaveLength(20)
    expect(new Set(errors.map(({ error }) => error))).toEqual(
      new Set(['job stack notification count exceeded']),
    )
  })

  it('refuses more than 1000 in one request', async () => {
    const stack = await aStack()
    const notifications = Array.from({ length: 1001 }, () => ({ job_uuid: 'x', detail: 'y' }))
    expect((await stack.call('POST', 'notifications', { notifications })).status).toBe(422)
  })
})

describe('a cluster without a default queue', () => {
  it('has none to register for', async () => {
    const { org, admin } = await anAgentWorld(app)
    const cluster = await aCluster(app, org, admin)
    const { body } = await app.request('POST', `${cluster.path}/tokens`, {
      token: admin.token,
      body: { description: 'x' },
    })
    expect(
      (await call(app, String(body.token), 'POST', 'stacks/register', { body: registration })).status,
    ).toBe(404)
  })
})
