import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { eventually, sortedStatuses, useOwnApp } from '../../../test/app.ts'
import { anAgent, anAgentWorld, call, type AgentWorld } from '../../../test/agent-client.ts'
import { aPipeline } from '../../../test/builders.ts'
import { aBuild, buildState, jobNamed, statesOf, applyEvent, type TestBuild } from '../../../test/runs.ts'
import { claimJobs } from '../../conductor/dispatch/claim.ts'
import { abilityOf } from '../../conductor/dispatch/claimant.ts'
import { sweep } from '../../conductor/sweep.ts'
import { inTransaction } from '../../db/transaction.ts'

const app = useOwnApp()

const build = async ({ org }: AgentWorld, steps: string, given = {}): Promise<TestBuild> =>
  aBuild(app, org, await aPipeline(app, org, `steps: ${steps}`), given)

const jobRow = (id: string) =>
  app.db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

/** An agent with its first job, accepted. */
async function accepted(steps = '[{ command: one }]', given = {}) {
  const world = await anAgentWorld(app)
  const made = await build(world, steps, given)
  const agent = await anAgent(app, world.token)
  const run = await agent.accept((await agent.offered()) ?? '')
  return { world, build: made, agent, run }
}

async function running(steps?: string) {
  const all = await accepted(steps)
  await all.run.start()
  return all
}

describe('PUT /v3/jobs/:job/accept', () => {
  it('gives the whole environment, every value a text and none that bootstrap insists on empty', async () => {
    const {
      run,
      agent,
      build: made,
      world,
    } = await accepted('[{ command: echo hi, key: k, env: { A: 1 } }]', { env: { B: 'b' } })
    expect(run.env).toMatchObject({
      A: '1',
      B: 'b',
      BUILDKITE: 'true',
      CI: 'true',
      BUILDKITE_AGENT_ID: agent.id,
      BUILDKITE_AGENT_NAME: 'tester',
      BUILDKITE_AGENT_META_DATA_QUEUE: 'default',
      BUILDKITE_BUILD_ID: made.id,
      BUILDKITE_CLUSTER_ID: world.cluster.id,
      BUILDKITE_COMMAND: 'echo hi',
      BUILDKITE_COMPUTE_TYPE: 'self-hosted',
      BUILDKITE_PULL_REQUEST: 'false',
      BUILDKITE_STEP_KEY: 'k',
    })
    for (const name of [
      'JOB_ID',
      'REPO',
      'COMMIT',
      'BRANCH',
      'AGENT_NAME',
      'ORGANIZATION_SLUG',
      'PIPELINE_SLUG',
      'PIPELINE_PROVIDER',
    ]) {
      expect(run.env[`BUILDKITE_${name}`]).toMatch(/./)
    }
    expect(Object.values(run.env).every((value) => typeof value === 'string')).toBe(true)
    // The agent warns about variables that it sets itself.
    expect(Object.keys(run.env).filter((name) => /ACCESS_TOKEN|AGENT_ENDPOINT/.test(name))).toEqual([])
  })

  it('gives the job’s limits and its step, without a key that is null', async () => {
    const { run } = await accepted(
      '[{ command: echo hi, secrets: { VAR: KEY }, plugins: [{ docker#v1: { image: a } }], cache: vendor }]',
    )
    expect(run.job).toEqual({
      id: run.id,
      token: expect.stringMatching(/^mrjt_[0-9a-f]{64}$/),
      env: run.env,
      chunks_max_size_bytes: 102_400,
      large_chunks_max_size_bytes: 524_288,
      chunks_interval_seconds: 1,
      takes_last_chunk: true,
      log_max_size_bytes: 1_073_741_824,
      step: {
        command: 'echo hi',
        env: {},
        plugins: [{ 'docker#v1': { image: 'a' } }],
        secrets: [{ key: 'KEY', environment_variable: 'VAR' }],
        cache: { paths: ['vendor'] },
      },
      runnable_at: expect.any(String),
      priority: 0,
    })
    const plain = await accepted()
    expect(plain.run.job.step).toEqual({ command: 'one', env: {} })
  })

  it('gives the values of a matrix, and the step as signed', async () => {
    const signature = '{ algorithm: HS512, signed_fields: [command], value: abc }'
    const { run } = await accepted(
      `[{ command: "echo {{matrix}}", matrix: [a, b], signature: ${signature} }]`,
    )
    expect(run.env.BUILDKITE_COMMAND).toBe('echo a')
    expect(run.job.matrix_permutation).toEqual({ '': 'a' })
    expect(run.job.step).toEqual({
      command: 'echo {{matrix}}',
      env: {},
      matrix: ['a', 'b'],
      signature: { algorithm: 'HS512', signed_fields: ['command'], value: 'abc' },
    })
    const named = await accepted(
      '[{ command: "{{matrix.os}}", matrix: { setup: { os: [mac], arch: [arm] } } }]',
    )
    expect(named.run.job.matrix_permutation).toEqual({ os: 'mac', arch: 'arm' })
  })

  it('gives what a signature covers as its author wrote it', async () => {
    const signature = { algorithm: 'EdDSA', signed_fields: ['command'], value: 'abc' }
    const step = {
      command: 'echo {{matrix.os}}',
      env: { OS: '{{matrix.os}}' },
      plugins: [{ 'docker#v1': { b: 1.5, a: [true, null] } }],
      matrix: {
        setup: { os: ['b', 'a'] },
        adjustments: [
          { with: { os: 'a' }, skip: true },
          { with: { os: 'c' }, soft_fail: [{ exit_status: 1 }, { exit_status: '*' }] },
        ],
      },
      secrets: [
        { key: 'second_key', environment_variable: 'ZED' },
        { key: 'first_key', environment_variable: 'ALPHA' },
      ],
      checkout: { skip: true },
      signature,
    }
    const { run } = await accepted(JSON.stringify([step]))
    expect(run.job.step).toEqual(step)
  })

  it('can be repeated with the same answer, also at the same time', async () => {
    const world = await anAgentWorld(app)
    await build(world, '[{ command: one }]')
    const agent = await anAgent(app, world.token)
    const jobId = await agent.offered()
    const answers = await Promise.all([1, 2, 3].map(() => agent.call('PUT', `jobs/${jobId}/accept`)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  it('and a cancel of the build at the same moment end in one way or the other', async () => {
    const world = await anAgentWorld(app)
    const agent = await anAgent(app, world.token)
    for (let round = 0; round < 10; round++) {
      const made = await build(world, '[{ command: one }]')
      const jobId = await agent.offered()
      const [answer, canceled] = await Promise.all([
        agent.call('PUT', `jobs/${jobId}/accept`),
        applyEvent(app, made, { type: 'cancel_build', reason: null }),
      ])
      expect(canceled.ok).toBe(true)
      const state = answer.status === 200 ? 'canceling' : 'canceled'
      expect([answer.status, await statesOf(app, made), await buildState(app, made)]).toEqual([
        state === 'canceling' ? 200 : 422,
        { one: state },
        state,
      ])
      if (state === 'canceling') await applyEvent(app, made, { type: 'give_up_on_agent', jobId: jobId ?? '' })
      expect(await buildState(app, made)).toBe('canceled')
    }
  })

  it('is 422 for a job that is not assigned to the agent, and 404 for what is no job', async () => {
    const { run, world, agent } = await accepted()
    const other = await anAgent(app, world.token)
    expect((await other.call('PUT', `jobs/${run.id}/accept`)).status).toBe(422)
    expect((await agent.call('PUT', 'jobs/nope/accept')).status).toBe(404)
    expect((await agent.call('PUT', `jobs/${agent.id}/accept`)).status).toBe(404)
  })
})

describe('PUT /v3/jobs/:job/acquire', () => {
  const acquirer = async (world: AgentWorld) => anAgent(app, world.token, { ignore: true })

  it('takes a job by its id, whatever its tags, and can be repeated', async () => {
    const world = await anAgentWorld(app)
    const made = await build(world, '[{ command: one, agents: { os: mac } }]')
    const agent = await acquirer(world)
    const path = `jobs/${await jobNamed(app, made, 'one')}/acquire`
    const [first, again] = [await agent.call('PUT', path), await agent.call('PUT', path)]
    expect([first.status, again.text]).toEqual([200, first.text])
    expect(await statesOf(app, made)).toEqual({ one: 'accepted' })
  })

  it('is 423 with Retry-After for a job that waits for another, and 422 for one that is taken or over', async () => {
    const world = await anAgentWorld(app)
    const made = await build(world, '[{ command: one }, wait, { command: two }]')
    const [agent, second] = [await acquirer(world), await acquirer(world)]
    const one = await jobNamed(app, made, 'one')
    const locked = await agent.call('PUT', `jobs/${await jobNamed(app, made, 'two')}/acquire`)
    expect([locked.status, locked.headers['retry-after'], locked.body.message]).toEqual([
      423,
      '5',
      expect.stringContaining('waiting'),
    ])
    await agent.call('PUT', `jobs/${one}/acquire`)
    expect((await second.call('PUT', `jobs/${one}/acquire`)).status).toBe(422)
    await applyEvent(app, made, { type: 'cancel_build', reason: null })
    expect((await second.call('PUT', `jobs/${await jobNamed(app, made, 'two')}/acquire`)).status).toBe(422)
  })

  it('gives a job to one of many, and an agent one job', async () => {
    const world = await anAgentWorld(app)
    const made = await build(world, '[{ command: one }, { command: two }]')
    const [one, two] = [await jobNamed(app, made, 'one'), await jobNamed(app, made, 'two')]
    const agents = await Promise.all(Array.from({ length: 10 }, () => acquirer(world)))
    const taken = await Promise.all(agents.map((agent) => agent.call('PUT', `jobs/${one}/acquire`)))
    expect(sortedStatuses(taken)).toEqual([200, ...Array.from({ length: 9 }, () => 422)])
    const winner = agents[taken.findIndex(({ status }) => status === 200)]
    expect((await winner.call('PUT', `jobs/${two}/acquire`)).status).toBe(422)
  })
})

describe('PUT /v3/jobs/:job/accept with start', () => {
  async function offered() {
    const world = await anAgentWorld(app)
    const made = await build(world, '[{ command: one }]')
    const agent = await anAgent(app, world.token)
    const id = (await agent.offered()) ?? ''
    const take = () => agent.call('PUT', `jobs/${id}/accept`, { body: { start: true } })
    return { made, id, take }
  }

  it('starts the job too, and says so; the same again when repeated', async () => {
    const { made, id, take } = await offered()
    const first = await take()
    expect(first).toMatchObject({ status: 200, body: { id, state: 'running', token: expect.any(String) } })
    const { started_at } = await jobRow(id)
    expect(await statesOf(app, made)).toEqual({ one: 'running' })
    expect(await take()).toMatchObject({ status: 200, body: first.body })
    expect((await jobRow(id)).started_at).toBe(started_at)
  })

  it('gives way to a cancel, whichever was first, and leaves no job on an agent that will not run it', async () => {
    const before = await offered()
    await applyEvent(app, before.made, { type: 'cancel_build', reason: null })
    expect((await before.take()).status).toBe(422)
    expect(await buildState(app, before.made)).toBe('canceled')

    // The answer to the first was lost.
    const between = await offered()
    await between.take()
    await applyEvent(app, between.made, { type: 'cancel_build', reason: null })
    expect((await between.take()).status).toBe(422)
    expect(await buildState(app, between.made)).toBe('canceled')
  })
})

describe('jobs that are claimed', () => {
  const ability = abilityOf(['queue=default'])

  it.each([
    ['by one agent at a time', 1],
    ['by several together', 5],
  ])('%s, at once from everywhere, go to one agent each, the best first', async (_, together) => {
    const world = await anAgentWorld(app)
    await build(
      world,
      '[{ command: many, parallelism: 12 }, { command: urgent, priority: 1, parallelism: 3 }]',
    )
    const agents = await Promise.all(Array.from({ length: 20 }, () => anAgent(app, world.token)))
    const queue = { organizationId: world.org.id, queueId: world.queue.id }
    const claimants = agents.map(({ id }) => ({ agentId: id, ability }))
    const groups = Array.from({ length: 20 / together }, (_each, index) =>
      claimants.slice(index * together, (index + 1) * together),
    )
    const [first = [], ...others] = groups
    const best = await claimJobs(app.ctx, queue, first)
    const claims = [best, ...(await Promise.all(others.map((group) => claimJobs(app.ctx, queue, group))))]
    const assigned = claims.flatMap((claim) => claim.assigned)
    expect(new Set(assigned.map(({ jobId }) => jobId)).size).toBe(15)
    expect(new Set(assigned.map(({ agentId }) => agentId)).size).toBe(15)
    const rows = await Promise.all(best.assigned.map(({ jobId }) => jobRow(jobId)))
    const priorities = rows.map(({ priority }) => priority).sort((a, b) => b - a)
    expect(priorities).toEqual([1, 1, 1, 0, 0].slice(0, together))
  })

  it('are not assigned to agents that may take none', async () => {
    const world = await anAgentWorld(app)
    const made = await build(world, '[{ command: one }]')
    const agent = await anAgent(app, world.token)
    const queue = { organizationId: world.org.id, queueId: world.queue.id }
    await app.db
      .updateTable('agents')
      .set({ paused_at: new Date().toISOString() })
      .where('id', '=', agent.id)
      .execute()
    const claims = await claimJobs(app.ctx, queue, [{ agentId: agent.id, ability }])
    expect(claims).toEqual({ assigned: [], unfit: [agent.id] })
    expect(await statesOf(app, made)).toEqual({ one: 'scheduled' })
  })
})

describe('a job that is canceled while it is handed out', () => {
  it('is canceled as what it is by then', async () => {
    const world = await anAgentWorld(app)
    const made = await build(world, '[{ command: one }]')
    const agent = await anAgent(app, world.token)
    const queue = { organizationId: world.org.id, queueId: world.queue.id }
    const claimant = { agentId: agent.id, ability: abilityOf(['queue=default']) }
    const { canceling } = await inTransaction(app.db, async (trx) => {
      const { assigned } = await claimJobs({ ...app.ctx, db: trx }, queue, [claimant])
      expect(assigned).toHaveLength(1)
      const waiting = applyEvent(app, made, { type: 'cancel_build', reason: null })
      await eventually('it waits for the lock', async () => {
        const { rows } = await sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
          app.db,
        )
        return rows.length === 1
      })
      return { canceling: waiting }
    })
    expect((await canceling).ok).toBe(true)
    const { rows } = await sql`
      select data ->> 'from' as "from", data ->> 'to' as "to" from events
      where build_id = ${made.id} and kind = 'job.state_changed' order by id`.execute(app.db)
    expect(rows).toEqual([
      { from: null, to: 'scheduled' },
      { from: 'scheduled', to: 'assigned' },
      { from: 'assigned', to: 'canceled' },
    ])
  })
})

describe('PUT /v3/jobs/:job/start', () => {
  it('starts the job and its build, once', async () => {
    const { run, build: made } = await accepted()
    expect((await run.start()).status).toBe(200)
    expect(await buildState(app, made)).toBe('running')
    expect((await run.start()).status).toBe(200)
  })

  it('is 422 when the job was canceled meanwhile, and the job ends with it', async () => {
    const { run, build: made } = await accepted()
    await applyEvent(app, made, { type: 'cancel_build', reason: null })
    expect((await run.start()).status).toBe(422)
    expect([await statesOf(app, made), await buildState(app, made)]).toEqual([
      { one: 'canceled' },
      'canceled',
    ])
  })
})

describe('GET /v3/jobs/:job', () => {
  it('shows the agent a cancel and a timeout', async () => {
    const canceled = await running()
    await applyEvent(app, canceled.build, { type: 'cancel_build', reason: null })
    expect(await canceled.run.state()).toBe('canceling')
    const late = await running()
    await applyEvent(app, late.build, { type: 'time_out', jobId: late.run.id })
    expect(await late.run.state()).toBe('timing_out')
  })
})

describe('PUT /v3/jobs/:job/finish', () => {
  it.each([
    ['0', {}, { state: 'passed', exit_status: 0, signal: null, signal_reason: null }],
    ['3', {}, { state: 'failed', exit_status: 3 }],
    [
      '-1',
      { signal: 'SIGKILL', signal_reason: 'agent_stop' },
      { state: 'failed', exit_status: -1, signal: 'SIGKILL', signal_reason: 'agent_stop' },
    ],
    ['', {}, { state: 'failed', exit_status: -1 }],
  ])('records exit status %j', async (exitStatus, more, expected) => {
    const { run } = await running()
    expect((await run.finish(exitStatus, { chunks_failed_count: 2, ...more })).status).toBe(200)
    expect(await jobRow(run.id)).toMatchObject({ ...expected, chunks_failed_count: 2 })
  })

  it('ends the job’s token and frees the agent', async () => {
    const { run, agent, world } = await running()
    await run.finish()
    for (const [method, path] of [
      ['GET', `jobs/${run.id}`],
      ['PUT', `jobs/${run.id}/start`],
      ['POST', `jobs/${run.id}/data/keys`],
    ] as const) {
      expect((await run.call(method, path)).status).toBe(401)
    }
    await build(world, '[{ command: next }]')
    expect(await agent.offered()).not.toBeNull()
  })

  it('said twice, also at the same time, is done once', async () => {
    const { run, build: made } = await running()
    const answers = await Promise.all([run.finish(0), run.finish(1), run.finish(1)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const { state } = await jobRow(run.id)
    expect((await run.finish(state === 'passed' ? 1 : 0)).status).toBe(200)
    expect((await jobRow(run.id)).state).toBe(state)
    expect(await statesOf(app, made)).toEqual({ one: state })
  })

  it('of a job that the agent refused to start ends it', async () => {
    const { run } = await accepted()
    expect((await run.finish(-1, { signal_reason: 'agent_refused' })).status).toBe(200)
    expect(await jobRow(run.id)).toMatchObject({ state: 'failed', signal_reason: 'agent_refused' })
  })

  it('of a canceled job works until then, and makes it canceled', async () => {
    const { run, build: made } = await running()
    await applyEvent(app, made, { type: 'cancel_build', reason: null })
    expect(
      (await run.call('POST', `jobs/${run.id}/data/set`, { body: { key: 'k', value: 'v' } })).status,
    ).toBe(200)
    expect((await run.finish(-1, { signal: 'SIGTERM', signal_reason: 'cancel' })).status).toBe(200)
    expect([await statesOf(app, made), await buildState(app, made)]).toEqual([
      { one: 'canceled' },
      'canceled',
    ])
  })

  it('with ignore_agent_in_dispatches leaves the agent without further jobs', async () => {
    const { run, agent, world } = await running()
    await run.finish(0, { ignore_agent_in_dispatches: true })
    await build(world, '[{ command: next }]')
    expect(await agent.offered()).toBeNull()
  })
})

describe('a job whose agent says nothing', () => {
  it('goes back to its queue when it was never accepted, or never started', async () => {
    const world = await anAgentWorld(app)
    const made = await build(world, '[{ command: one }]')
    const first = await anAgent(app, world.token)
    await first.offered()
    const late = { ...app.ctx, now: () => new Date(Date.now() + 61_000) }
    await sweep(late)
    expect(await statesOf(app, made)).toEqual({ one: 'scheduled' })
    const second = await anAgent(app, world.token)
    const run = await second.accept((await second.offered()) ?? '')
    await sweep({ ...app.ctx, now: () => new Date(Date.now() + 121_000) })
    expect(await statesOf(app, made)).toEqual({ one: 'scheduled' })
    expect((await run.start()).status).toBe(401)
    expect(await jobRow(run.id)).toMatchObject({ agent_id: null })
  })
})

describe('PUT /v3/jobs/:job', () => {
  const minutesLeft = async (id: string) => {
    const { started_at, deadline_at } = await jobRow(id)
    return (Date.parse(deadline_at ?? '') - Date.parse(started_at ?? '')) / 60_000
  }

  it('changes the time that the job may take, from its start', async () => {
    const { run } = await running()
    const answer = await run.call('PUT', `jobs/${run.id}`, { body: { timeout: '20' } })
    expect([answer.status, answer.body]).toEqual([200, { id: run.id }])
    expect(await minutesLeft(run.id)).toBe(20)
  })

  it('refuses anything but a number of minutes within the limits', async () => {
    const { run, world } = await running()
    const status = async (body: object) => (await run.call('PUT', `jobs/${run.id}`, { body })).status
    await app.db
      .updateTable('pipelines')
      .set({ maximum_command_step_timeout: 60 })
      .where('organization_id', '=', world.org.id)
      .execute()
    expect(
      await Promise.all(
        [{ timeout: 'soon' }, { timeout: '0' }, { label: 'x' }, { timeout: '61' }].map(status),
      ),
    ).toEqual([422, 422, 422, 422])
    expect(await status({ timeout: '60' })).toBe(200)
  })
})

describe('PUT /v3/jobs/:job/promise_failure', () => {
  it('makes the build failing, and is kept', async () => {
    const { run, build: made } = await running()
    const promise = (exit_status: number) =>
      run.call('PUT', `jobs/${run.id}/promise_failure`, { body: { exit_status } })
    const first = await promise(7)
    expect([first.status, first.text, await buildState(app, made)]).toEqual([204, '', 'failing'])
    expect([(await promise(7)).status, (await promise(8)).status, (await promise(0)).status]).toEqual([
      204, 409, 422,
    ])
    await run.finish(0)
    expect(await jobRow(run.id)).toMatchObject({ state: 'failed', exit_status: 7 })
  })

  it('is 422 before the job runs', async () => {
    const { run } = await accepted()
    expect(
      (await run.call('PUT', `jobs/${run.id}/promise_failure`, { body: { exit_status: 1 } })).status,
    ).toBe(422)
  })
})

describe('the agent API', () => {
  it('answers every error in JSON, and an unknown path with 404', async () => {
    const answer = await call(app, null, 'GET', 'jobs/x/nothing')
    expect([answer.status, Object.keys(answer.body)]).toEqual([404, ['message']])
    const bad = await call(app, (await anAgentWorld(app)).token, 'POST', 'register', { body: [] })
    expect([bad.status, Object.keys(bad.body)]).toEqual([400, ['message']])
  })
})
