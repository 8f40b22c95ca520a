// A fork decides which concurrency group its jobs name, and which priority they have.
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useOwnApp } from '../../test/app.ts'
import { anAgent, anAgentWorld, type AgentWorld } from '../../test/agent-client.ts'
import { aPipeline } from '../../test/builders.ts'
import { aBuild, applyEvent, jobNamed, statesOf, type TestBuild } from '../../test/runs.ts'
import { sweep } from './sweep.ts'

const app = useOwnApp()

const fork = { commitOrigin: 'fork' as const }
const highest = 2_147_483_647

const deploy = '{ command: deploy, concurrency: 1, concurrency_group: deploy }'
const stuck = '{ command: stuck, concurrency: 1, concurrency_group: deploy, agents: { nosuch: agent } }'

const buildOf = async (world: AgentWorld, steps: string, given = {}) =>
  aBuild(app, world.org, await aPipeline(app, world.org, `steps: [${steps}]`), given)

const later = (seconds: number) => ({ ...app.ctx, now: () => new Date(Date.now() + seconds * 1000) })

const waitingOf = async (world: AgentWorld, build: TestBuild, name: string) => {
  const url = `/v2/organizations/${world.org.slug}/jobs/${await jobNamed(app, build, name)}/waiting`
  return (await app.request('GET', url, { token: world.admin.token })).body
}

describe('a concurrency group that a fork names', () => {
  it('does not hold up trusted jobs of the group, and has slots of its own', async () => {
    const world = await anAgentWorld(app)
    const forked = await buildOf(world, stuck, fork)
    const trusted = await buildOf(world, deploy)
    expect(await statesOf(app, forked)).toEqual({ stuck: 'scheduled' })
    expect(await statesOf(app, trusted)).toEqual({ deploy: 'scheduled' })

    const second = await buildOf(world, deploy, fork)
    expect(await statesOf(app, second)).toEqual({ deploy: 'limited' })
    expect(await waitingOf(world, second, 'deploy')).toMatchObject({
      code: 'concurrency_group',
      reason: expect.stringContaining('the concurrency group "deploy" of forks: 1 of 1 slots are held'),
    })
    const third = await buildOf(world, deploy)
    expect(await waitingOf(world, third, 'deploy')).toMatchObject({ jobs_ahead: 0, concurrency: { held: 1 } })
  })

  it('does not hold them up by an upload or by a rebuild', async () => {
    const world = await anAgentWorld(app)
    const uploading = await buildOf(world, '{ command: upload }', fork)
    const run = await (await anAgent(app, world.token)).begin()
    const pipeline = { steps: [{ command: 'stuck', concurrency: 1, concurrency_group: 'deploy' }] }
    const body = { uuid: randomUUID(), pipeline }
    expect(await run.call('POST', `jobs/${run.id}/pipelines`, { body })).toMatchObject({ status: 200 })
    await run.finish()
    expect(await statesOf(app, uploading)).toMatchObject({ stuck: 'scheduled' })

    const rebuilt = await buildOf(world, deploy, {
      rebuiltFrom: { id: uploading.id, number: uploading.number },
    })
    expect(await statesOf(app, rebuilt)).toEqual({ deploy: 'limited' })
    expect(await statesOf(app, await buildOf(world, deploy))).toEqual({ deploy: 'scheduled' })
  })
})

describe('a slot of a concurrency group', () => {
  it('goes to a job that an agent can take, when none can take the job that has it', async () => {
    const world = await anAgentWorld(app)
    await anAgent(app, world.token)
    const [first, second] = [await buildOf(world, stuck), await buildOf(world, deploy)]
    await sweep(later(30))
    expect([await statesOf(app, first), await statesOf(app, second)]).toEqual([
      { stuck: 'scheduled' },
      { deploy: 'limited' },
    ])
    await sweep(later(61))
    expect([await statesOf(app, first), await statesOf(app, second)]).toEqual([
      { stuck: 'limited' },
      { deploy: 'scheduled' },
    ])
    await applyEvent(app, second, { type: 'cancel_build', reason: null })
    expect(await statesOf(app, first)).toEqual({ stuck: 'scheduled' })
  })

  it('stays with a job that has an agent, also when others wait for long', async () => {
    const world = await anAgentWorld(app)
    const [first, second] = [await buildOf(world, deploy), await buildOf(world, deploy)]
    const run = await (await anAgent(app, world.token)).begin()
    await sweep(later(61))
    expect(await run.state()).toBe('running')
    expect(await statesOf(app, second)).toEqual({ deploy: 'limited' })
    await run.finish()
    expect([await statesOf(app, first), await statesOf(app, second)]).toEqual([
      { deploy: 'passed' },
      { deploy: 'scheduled' },
    ])
  })

  it('stays where it is while no agent can take any of the jobs', async () => {
    const world = await anAgentWorld(app)
    const [first, second] = [await buildOf(world, stuck), await buildOf(world, deploy)]
    await sweep(later(61))
    expect([await statesOf(app, first), await statesOf(app, second)]).toEqual([
      { stuck: 'scheduled' },
      { deploy: 'limited' },
    ])
  })
})

describe('the priority of a job of a fork', () => {
  it('never brings it before a trusted job of the queue', async () => {
    const world = await anAgentWorld(app)
    await buildOf(world, `{ command: first, parallelism: 3, priority: ${highest} }`, fork)
    const trusted = await buildOf(world, '{ command: mine, priority: -5 }')
    expect(await waitingOf(world, trusted, 'mine')).toMatchObject({ jobs_ahead: 0 })
    const [one, other] = [await anAgent(app, world.token), await anAgent(app, world.token)]
    expect(await one.offered()).toBe(await jobNamed(app, trusted, 'mine'))
    expect(await other.offered()).not.toBeNull()
  })
})
