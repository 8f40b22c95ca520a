import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld, type AgentWorld } from '../../../test/agent-client.ts'
import { useOwnApp } from '../../../test/app.ts'
import { aPipeline } from '../../../test/builders.ts'
import { aBuild } from '../../../test/runs.ts'
import { claimJobs } from './claim.ts'
import { abilityOf, type Claimant } from './claimant.ts'

const app = useOwnApp()

const machines = ['os=linux', 'os=mac', 'arch=arm', 'gpu=*']

/** Every list of at most two of these, in jobs of three priorities. */
async function aMixedQueue(): Promise<AgentWorld> {
  const world = await anAgentWorld(app)
  const rules = [
    [],
    ...machines.flatMap((one, at) => [[one], ...machines.slice(at + 1).map((other) => [one, other])]),
  ]
  const steps = rules.flatMap((agents, at) =>
    [0, 1, 2].map((turn) => ({ command: 'true', agents, priority: (at * 7 + turn * 5) % 3 })),
  )
  await aBuild(app, world.org, await aPipeline(app, world.org, JSON.stringify(steps)))
  return world
}

async function aClaimant(world: AgentWorld, tags: string[]): Promise<Claimant> {
  const { id } = await anAgent(app, world.token, { tags })
  return { agentId: id, ability: abilityOf([...tags, 'queue=default']) }
}

/** As in one list, job by job. */
async function expectedFor({ queue }: AgentWorld, { ability }: Claimant): Promise<string[]> {
  const { rows } = await sql<{ id: string; rules: string[] }>`
    select id, agent_query_rules as rules from jobs where queue_id = ${queue.id} and state = 'scheduled'
    order by priority desc, scheduled_at, position, id`.execute(app.db)
  return rows.filter(({ rules }) => rules.every((rule) => ability.rules.has(rule))).map(({ id }) => id)
}

const queueOf = ({ org, queue }: AgentWorld) => ({ organizationId: org.id, queueId: queue.id })

describe('jobs with different rules', () => {
  it('are claimed by one agent in the order of the queue', async () => {
    const world = await aMixedQueue()
    const claimant = await aClaimant(world, ['os=linux', 'gpu=a100'])
    const expected = await expectedFor(world, claimant)
    expect(expected).toHaveLength(12)
    const claimed: string[] = []
    for (;;) {
      const { assigned } = await claimJobs(app.ctx, queueOf(world), [claimant])
      const [job] = assigned
      if (job === undefined) break
      claimed.push(job.jobId)
      await sql`update jobs set state = 'finished', agent_id = null, finished_at = now() where id = ${job.jobId}`.execute(
        app.db,
      )
    }
    expect(claimed).toEqual(expected)
  })

  it('are claimed by many agents as the first jobs that any of them can run', async () => {
    const world = await aMixedQueue()
    const claimants = await Promise.all(
      [['os=linux'], ['os=mac', 'arch=arm'], ['os=linux', 'gpu=a100'], []].map((tags) =>
        aClaimant(world, tags),
      ),
    )
    const all = {
      agentId: '',
      ability: abilityOf(['queue=default', 'os=linux', 'os=mac', 'arch=arm', 'gpu=a100']),
    }
    const able = new Set((await Promise.all(claimants.map((one) => expectedFor(world, one)))).flat())
    const first = (await expectedFor(world, all)).filter((id) => able.has(id)).slice(0, claimants.length)
    const { assigned } = await claimJobs(app.ctx, queueOf(world), claimants)
    expect(assigned.length).toBeGreaterThan(0)
    expect(first).toEqual(expect.arrayContaining(assigned.map(({ jobId }) => jobId)))
  })

  it('are each claimed once by agents that claim at the same time', async () => {
    const world = await aMixedQueue()
    const tags = ['os=linux', 'os=mac', 'arch=arm', 'gpu=a100']
    const claimants = await Promise.all(Array.from({ length: 12 }, () => aClaimant(world, tags)))
    const all = await Promise.all(claimants.map((one) => claimJobs(app.ctx, queueOf(world), [one])))
    const jobs = all.flatMap(({ assigned }) => assigned.map(({ jobId }) => jobId))
    expect(new Set(jobs).size).toBe(claimants.length)
    expect(jobs).toHaveLength(claimants.length)
  })

  it('are told apart, however they are written', async () => {
    const world = await anAgentWorld(app)
    const separators = [',', '\n', '","', '\u001f', ' ']
    const steps = separators.map((separator) => ({
      command: 'true',
      agents: [`a=1${separator}b=2`],
      priority: 1,
    }))
    const pipeline = JSON.stringify([...steps, { command: 'true', agents: ['a=1', 'b=2'] }])
    const build = await aBuild(app, world.org, await aPipeline(app, world.org, pipeline))
    const claimant = await aClaimant(world, ['a=1', 'b=2'])
    const { assigned } = await claimJobs(app.ctx, queueOf(world), [claimant])
    expect(assigned).toMatchObject([{ buildId: build.id }])
    const { rows } = await sql<{ rules: string[] }>`
      select agent_query_rules as rules from jobs where id = ${assigned[0]?.jobId}`.execute(app.db)
    expect(rows).toEqual([{ rules: ['a=1', 'b=2'] }])
  })
})
