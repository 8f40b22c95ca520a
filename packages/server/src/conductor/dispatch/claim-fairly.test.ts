import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld, type AgentWorld } from '../../../test/agent-client.ts'
import { eventually, useOwnApp } from '../../../test/app.ts'
import { aMember, aPipeline, aQueue, type TestUser } from '../../../test/builders.ts'
import { aBuild, type TestBuild } from '../../../test/runs.ts'
import { handlers } from '../../worker.ts'
import { claimJobs } from './claim.ts'
import { abilityOf, type Claimant } from './claimant.ts'
import { dispatcherOf } from './dispatcher.ts'

const app = useOwnApp({ env: { MILLRACE_PING_HOLD_SECONDS: '30' } })

async function setFair(world: AgentWorld, body: object): Promise<void> {
  const { status, text } = await app.request('PATCH', world.queue.path, { token: world.admin.token, body })
  if (status !== 200) throw new Error(text)
}

async function aFairWorld(body: object = { fair_by: 'creator' }): Promise<AgentWorld> {
  const world = await anAgentWorld(app)
  await setFair(world, body)
  return world
}

const someJobs = (count: number, given: object = {}) =>
  JSON.stringify([{ command: 'true', parallelism: count, ...given }])

async function aBuildOf(
  world: AgentWorld,
  user: TestUser,
  count: number,
  given: object = {},
): Promise<TestBuild> {
  const pipeline = await aPipeline(app, world.org, someJobs(count, given))
  return aBuild(app, world.org, pipeline, { creatorId: user.id })
}

const queueOf = ({ org, queue }: AgentWorld, isFair = true) => ({
  organizationId: org.id,
  queueId: queue.id,
  isFair,
})

async function someAgents(world: AgentWorld, count: number): Promise<Claimant[]> {
  const made = Array.from({ length: count }, () => anAgent(app, world.token))
  return (await Promise.all(made)).map(({ id }) => ({ agentId: id, ability: abilityOf(['queue=default']) }))
}

/** The builds of the claimed jobs. Agents that wait are given jobs until there is none, as the dispatcher does it. */
async function claimFor(world: AgentWorld, claimants: readonly Claimant[]): Promise<string[]> {
  const builds: string[] = []
  let waiting = [...claimants]
  for (;;) {
    const { assigned, unfit } = await claimJobs(app.ctx, queueOf(world), waiting)
    if (assigned.length + unfit.length === 0) return builds
    const busy = new Set([...unfit, ...assigned.map(({ agentId }) => agentId)])
    waiting = waiting.filter(({ agentId }) => !busy.has(agentId))
    builds.push(...assigned.map(({ buildId }) => buildId))
  }
}

async function endJobs({ org }: AgentWorld, seconds = 60): Promise<void> {
  await sql`
    update jobs set state = 'finished', agent_id = null, finished_at = now(),
      started_at = now() - make_interval(secs => ${seconds})
    where organization_id = ${org.id} and state = 'assigned'`.execute(app.db)
}

const sharesOf = async ({ queue }: AgentWorld) =>
  app.db
    .selectFrom('queue_shares')
    .select(['share_key', 'finish', 'running'])
    .where('queue_id', '=', queue.id)
    .orderBy('share_key')
    .execute()

describe('a fair queue', () => {
  it('lets nobody wait longer than two jobs behind the 60 jobs of one member', async () => {
    const world = await aFairWorld()
    const agents = await someAgents(world, 5)
    await aBuildOf(world, await aMember(app, world.org), 60)
    expect(await claimFor(world, agents)).toHaveLength(5)
    const people = await Promise.all(Array.from({ length: 10 }, () => aMember(app, world.org)))
    const builds = await Promise.all(people.map((person) => aBuildOf(world, person, 1)))
    const served: string[] = []
    for (let round = 0; round < 2; round++) {
      await endJobs(world)
      served.push(...(await claimFor(world, agents)))
    }
    expect(new Set(served)).toEqual(new Set(builds.map(({ id }) => id)))
  })

  it('is as fair to an agent that claims alone', async () => {
    const world = await aFairWorld()
    const agents = await someAgents(world, 1)
    const [one, other] = [await aMember(app, world.org), await aMember(app, world.org)]
    const builds = [await aBuildOf(world, one, 6), await aBuildOf(world, other, 6)].map(({ id }) => id)
    const served: string[] = []
    for (let round = 0; round < 6; round++) {
      served.push(...(await claimFor(world, agents)))
      await endJobs(world)
    }
    expect(builds.map((id) => served.filter((each) => each === id).length)).toEqual([3, 3])
  })

  it('gives shares agents by their weights', async () => {
    const world = await aFairWorld()
    const agents = await someAgents(world, 1)
    const [light, heavy] = [await aMember(app, world.org), await aMember(app, world.org)]
    await setFair(world, { fair_weights: { [heavy.id]: 3 } })
    const builds = [await aBuildOf(world, light, 20), await aBuildOf(world, heavy, 20)].map(({ id }) => id)
    const served: string[] = []
    for (let round = 0; round < 12; round++) {
      served.push(...(await claimFor(world, agents)))
      await endJobs(world)
    }
    expect(builds.map((id) => served.filter((each) => each === id).length)).toEqual([3, 9])
  })

  it('takes the highest priority first', async () => {
    const world = await aFairWorld()
    const agents = await someAgents(world, 4)
    const [one, other] = [await aMember(app, world.org), await aMember(app, world.org)]
    await aBuildOf(world, one, 4)
    const urgent = await aBuildOf(world, other, 4, { priority: 1 })
    expect(await claimFor(world, agents)).toEqual(Array.from({ length: 4 }, () => urgent.id))
  })

  it('gives each job once to agents that claim at the same time', async () => {
    const world = await aFairWorld()
    const agents = await someAgents(world, 12)
    const people = await Promise.all(Array.from({ length: 3 }, () => aMember(app, world.org)))
    const builds = await Promise.all(people.map((person) => aBuildOf(world, person, 10)))
    const claims = await Promise.all(agents.map((agent) => claimJobs(app.ctx, queueOf(world), [agent])))
    const assigned = claims.flatMap((each) => each.assigned)
    expect(new Set(assigned.map(({ jobId }) => jobId)).size).toBe(12)
    const counts = builds.map(({ id }) => assigned.filter(({ buildId }) => buildId === id).length)
    expect(counts).toEqual([4, 4, 4])
  })

  it('gives jobs with rules only to agents that satisfy them', async () => {
    const world = await aFairWorld()
    const [agent] = await someAgents(world, 1)
    const member = await aMember(app, world.org)
    await aBuildOf(world, member, 5, { agents: ['os=mac'], priority: 1 })
    const build = await aBuildOf(world, member, 1)
    expect(await claimFor(world, agent === undefined ? [] : [agent])).toEqual([build.id])
  })

  it('charges nobody for jobs that were given back', async () => {
    const world = await aFairWorld()
    const agents = await someAgents(world, 2)
    const member = await aMember(app, world.org)
    await aBuildOf(world, member, 2)
    await claimFor(world, agents)
    expect(await sharesOf(world)).toMatchObject([{ share_key: `u:${member.id}`, running: 120 }])
    await sql`update jobs set state = 'scheduled', agent_id = null where organization_id = ${world.org.id}`.execute(
      app.db,
    )
    const other = await aMember(app, world.org)
    await aBuildOf(world, other, 1)
    await claimFor(world, agents.slice(0, 1))
    expect((await sharesOf(world)).find(({ share_key }) => share_key === `u:${other.id}`)).toMatchObject({
      running: 60,
    })
    expect((await sharesOf(world)).find(({ share_key }) => share_key === `u:${member.id}`)).toMatchObject({
      running: 0,
      finish: 0,
    })
  })

  it('keeps no charge of a job that ended while no process ran', async () => {
    const world = await aFairWorld()
    const agents = await someAgents(world, 3)
    const member = await aMember(app, world.org)
    await aBuildOf(world, member, 3)
    await claimFor(world, agents)
    await endJobs(world, 7)
    await claimFor(world, agents)
    const [share] = await sharesOf(world)
    expect(share?.running).toBe(0)
    expect(share?.finish).toBeCloseTo(21, 1)
    const charged = sql`select from jobs where organization_id = ${world.org.id} and charge is not null`
    expect((await charged.execute(app.db)).rows).toHaveLength(0)
  })

  it('lets machines use all agents while no person waits, and their part otherwise', async () => {
    const world = await aFairWorld({ fair_by: 'creator', machine_limit_percent: 50 })
    const agents = await someAgents(world, 4)
    const robot = await aMember(app, world.org)
    await app.db.updateTable('users').set({ is_service_account: true }).where('id', '=', robot.id).execute()
    const flood = await aBuildOf(world, robot, 20, { priority: 5 })
    expect(await claimFor(world, agents)).toEqual(Array.from({ length: 4 }, () => flood.id))
    await endJobs(world)
    const build = await aBuildOf(world, await aMember(app, world.org), 10)
    const served = await claimFor(world, agents)
    expect(served.filter((id) => id === flood.id)).toHaveLength(2)
    expect(served.filter((id) => id === build.id)).toHaveLength(2)
  })
})

describe('a change of fair_by', () => {
  const keysOf = async ({ org }: AgentWorld) => {
    const { rows } = await sql<{ key: string | null }>`
      select distinct share_key as key from jobs where organization_id = ${org.id} and finished_at is null order by 1`.execute(
      app.db,
    )
    return rows.map(({ key }) => key)
  }

  it('moves the jobs that wait, and jobs that nobody moved are claimed too', async () => {
    const world = await anAgentWorld(app)
    const agents = await someAgents(world, 3)
    const member = await aMember(app, world.org)
    const build = await aBuildOf(world, member, 9)
    expect(await keysOf(world)).toEqual([null])
    await setFair(world, { fair_by: 'creator' })
    expect(await keysOf(world)).toEqual([`u:${member.id}`])
    expect(await claimFor(world, agents)).toHaveLength(3)
    await setFair(world, { fair_by: 'team' })
    expect(await keysOf(world)).toEqual(['t:'])
    await endJobs(world)
    expect(await claimFor(world, agents)).toHaveLength(3)
    await sql`update jobs set share_key = null where build_id = ${build.id}`.execute(app.db)
    await endJobs(world)
    expect(await claimFor(world, agents)).toHaveLength(3)
  })

  it('reaches jobs that were made meanwhile', async () => {
    const world = await aFairWorld()
    const member = await aMember(app, world.org)
    await aBuildOf(world, member, 2)
    await sql`update jobs set share_key = null where organization_id = ${world.org.id}`.execute(app.db)
    await handlers.assign_shares(app.ctx, { queue_id: world.queue.id, organization_id: world.org.id })
    expect(await keysOf(world)).toEqual([`u:${member.id}`])
  })

  it('ends what claims of the other kind find', async () => {
    const world = await aFairWorld()
    const agents = await someAgents(world, 2)
    await aBuildOf(world, await aMember(app, world.org), 2)
    const nothing = { assigned: [], unfit: [] }
    expect(await claimJobs(app.ctx, queueOf(world, false), agents)).toEqual(nothing)
    expect(await claimJobs(app.ctx, queueOf(world, false), agents.slice(0, 1))).toEqual(nothing)
    await setFair(world, { fair_by: 'none' })
    expect(await claimJobs(app.ctx, queueOf(world), agents)).toEqual(nothing)
    expect((await claimJobs(app.ctx, queueOf(world, false), agents)).assigned).toHaveLength(2)
  })

  it('reaches agents that wait', async () => {
    const world = await anAgentWorld(app)
    const agent = await anAgent(app, world.token)
    const offered = agent.offered()
    await eventually('it waits', async () => (dispatcherOf(app.ctx)?.countWaiting() ?? 0) > 0)
    await setFair(world, { fair_by: 'pipeline' })
    const { status } = await app.request(
      'POST',
      `${world.org.path}/pipelines/${(await aPipeline(app, world.org, someJobs(1))).slug}/builds`,
      {
        token: world.admin.token,
        body: { commit: 'HEAD', branch: 'main' },
      },
    )
    expect(status).toBe(201)
    expect(await offered).not.toBeNull()
  })
})

describe('what is said of a job that waits in a fair queue', () => {
  async function waitingOf(world: AgentWorld, build: TestBuild) {
    const { rows } = await sql<{ id: string }>`
      select id from jobs where build_id = ${build.id} and state = 'scheduled' order by position, id`.execute(
      app.db,
    )
    const answers = await Promise.all(
      rows.map(({ id }) =>
        app.request('GET', `${world.org.path}/jobs/${id}/waiting`, { token: world.admin.token }),
      ),
    )
    return answers.map(({ body: { code, reason, jobs_ahead } }) => ({ code, reason, jobs_ahead }))
  }

  it('is when its share is next', async () => {
    const world = await aFairWorld()
    const agents = await someAgents(world, 1)
    const [one, other, third] = await Promise.all([1, 2, 3].map(() => aMember(app, world.org)))
    if (one === undefined || other === undefined || third === undefined) throw new Error('There are three.')
    const flood = await aBuildOf(world, one, 4)
    await claimFor(world, agents)
    const second = await aBuildOf(world, other, 1)
    const last = await aBuildOf(world, third, 2)
    expect(await waitingOf(world, second)).toEqual([
      {
        code: 'agents_busy',
        reason: 'The job is the next of the queue "default"; its agents are busy.',
        jobs_ahead: 0,
      },
    ])
    expect(await waitingOf(world, last)).toEqual([
      {
        code: 'share_turn',
        reason: 'Its creator is next after 1 job in the queue "default".',
        jobs_ahead: 1,
      },
      {
        code: 'share_turn',
        reason: '3 jobs come first in the queue "default", 1 of them of the same creator.',
        jobs_ahead: 3,
      },
    ])
    const { body } = await app.request('GET', `${world.queue.path}/jobs`, { token: world.admin.token })
    const listed = body as unknown as Array<{
      build: { number: number }
      position: number
      pipeline: { slug: string }
    }>
    const expected: string[] = []
    for (let round = 0; round < 6; round++) {
      await endJobs(world)
      expected.push(...(await claimFor(world, agents)))
    }
    expect(expected.slice(0, 2)).toEqual([second.id, last.id])
    expect(expected.filter((id) => id === flood.id)).toHaveLength(3)
    expect(listed.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('is that the slots of machines are in use', async () => {
    const world = await aFairWorld({ fair_by: 'creator', machine_limit_percent: 50 })
    const agents = await someAgents(world, 2)
    const robot = await aMember(app, world.org)
    await app.db.updateTable('users').set({ is_service_account: true }).where('id', '=', robot.id).execute()
    const flood = await aBuildOf(world, robot, 3)
    await claimFor(world, agents)
    await aBuildOf(world, await aMember(app, world.org), 1)
    expect(await waitingOf(world, flood)).toMatchObject([
      {
        code: 'machines_limited',
        reason: 'The only slot of machines in the queue "default" is in use, and jobs of people come first.',
      },
    ])
  })
})

it('the settings are checked', async () => {
  const world = await anAgentWorld(app)
  const send = async (body: object) =>
    (await app.request('PATCH', world.queue.path, { token: world.admin.token, body })).status
  expect(await send({ fair_by: 'name' })).toBe(422)
  expect(await send({ machine_limit_percent: 40 })).toBe(422)
  expect(await send({ fair_by: 'team', fair_weights: { everyone: 2 } })).toBe(422)
  expect(await send({ fair_by: 'team', fair_weights: { [world.admin.id]: 0 } })).toBe(422)
  expect(
    await send({ fair_by: 'team', fair_weights: { [world.admin.id]: 5 }, machine_limit_percent: 40 }),
  ).toBe(200)
  const { body } = await app.request('GET', world.queue.path, { token: world.admin.token })
  expect(body).toMatchObject({
    fair_by: 'team',
    fair_weights: { [world.admin.id]: 5 },
    machine_limit_percent: 40,
  })
  const other = await aQueue(app, { path: world.queue.path.split('/queues/')[0] ?? '' }, world.admin)
  const { body: plain } = await app.request('GET', other.path, { token: world.admin.token })
  expect(plain).toMatchObject({ fair_by: 'none', fair_weights: {}, machine_limit_percent: null })
})
