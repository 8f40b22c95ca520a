import { describe, expect, it } from 'vitest'
import { eventually, startApp, useOwnApp } from '../../test/app.ts'
import { anAgent, anAgentWorld, call, openStream, type AgentAnswer } from '../../test/agent-client.ts'
import { aPipeline } from '../../test/builders.ts'
import { aBuild, buildState, statesOf, applyEvent } from '../../test/runs.ts'
import { agentWatcher, watchAgents } from './lost-agents.ts'
import { wakeAgent } from './dispatch/wake.ts'

let aheadMs = 0
const app = useOwnApp({
  env: { MILLRACE_PING_HOLD_SECONDS: '0' },
  now: () => new Date(Date.now() + aheadMs),
})

/** As a worker sees it that many seconds from now. */
const later = (seconds: number) => ({ ...app.ctx, now: () => new Date(Date.now() + seconds * 1000) })

/** As workers see it that many seconds after the call, however slow the test is. */
const fromNow = () => {
  const base = app.ctx.now().getTime()
  return (seconds: number) => ({ ...app.ctx, now: () => new Date(base + seconds * 1000) })
}

const stateOf = async (id: string) => {
  const row = await app.db
    .selectFrom('agents')
    .select(['connection_state', 'lost_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return [row.connection_state, row.lost_at !== null]
}

describe('an agent that falls silent', () => {
  it('is lost after its time, not before, and its session with it', async () => {
    const { token } = await anAgentWorld(app)
    const before = fromNow()
    const agent = await anAgent(app, token)
    await watchAgents(before(179))
    expect(await stateOf(agent.id)).toEqual(['connected', false])
    await watchAgents(later(181))
    expect(await stateOf(agent.id)).toEqual(['lost', true])
    expect((await agent.call('POST', 'heartbeat')).status).toBe(401)
    expect((await agent.ping()).status).toBe(401)
  })

  it('stays connected when it sends a heartbeat', async () => {
    const { token } = await anAgentWorld(app)
    const agent = await anAgent(app, token)
    await app.db
      .updateTable('agents')
      .set({ last_seen_at: '2020-01-01T00:00:00Z' })
      .where('id', '=', agent.id)
      .execute()
    await agent.call('POST', 'heartbeat')
    await watchAgents(later(100))
    expect(await stateOf(agent.id)).toEqual(['connected', false])
  })

  it('gets the whole time again after a start, whatever the clock of the machine shows', async () => {
    const { token } = await anAgentWorld(app)
    const agent = await anAgent(app, token)
    const watch = agentWatcher()
    const after = fromNow()
    const startedAt = after(400).now()
    for (const seconds of [401, 450, 500, 550, 579]) await watch({ ...after(seconds), startedAt })
    expect(await stateOf(agent.id)).toEqual(['connected', false])
    await watch({ ...after(581), startedAt })
    expect(await stateOf(agent.id)).toEqual(['lost', true])
  })

  it('gets the whole time again after the database was away for long', async () => {
    const { org, token } = await anAgentWorld(app)
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: one }]'))
    const agent = await anAgent(app, token)
    await agent.begin()
    const watch = agentWatcher()
    const after = fromNow()
    await watch(after(0))
    // The runs in between have failed.
    for (const seconds of [400, 460, 520, 575]) await watch(after(seconds))
    expect(await stateOf(agent.id)).toEqual(['connected', false])
    await watch(after(581))
    expect(await stateOf(agent.id)).toEqual(['lost', true])
    expect(await statesOf(app, build)).toEqual({ one: 'failed' })
  })

  it('ends the job it had started with exit status -1', async () => {
    const { org, token } = await anAgentWorld(app)
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: one }]'))
    const run = await (await anAgent(app, token)).begin()
    await watchAgents(later(181))
    const job = await app.db.selectFrom('jobs').selectAll().where('id', '=', run.id).executeTakeFirstOrThrow()
    expect(job).toMatchObject({ state: 'failed', exit_status: -1, signal: null, signal_reason: null })
    expect(await buildState(app, build)).toBe('failed')
    expect((await run.finish()).status).toBe(200)
    expect(await statesOf(app, build)).toEqual({ one: 'failed' })
  })

  it('leaves the job it had not started to another, and lets a retry rule apply', async () => {
    const { org, token } = await anAgentWorld(app)
    const steps = 'steps: [{ command: one, retry: { automatic: [{ exit_status: -1, limit: 1 }] } }]'
    const build = await aBuild(app, org, await aPipeline(app, org, steps))
    const first = await anAgent(app, token)
    await first.accept((await first.offered()) ?? '')
    await watchAgents(later(181))
    expect(await statesOf(app, build)).toEqual({ one: 'scheduled' })
    await (await anAgent(app, token)).begin()
    await watchAgents(later(181))
    expect(await statesOf(app, build)).toEqual({ one: 'scheduled' })
    const run = await (await anAgent(app, token)).begin()
    await run.finish()
    expect(await buildState(app, build)).toBe('passed')
  })

  it('ends a job that was being canceled', async () => {
    const { org, token } = await anAgentWorld(app)
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: one }]'))
    await (await anAgent(app, token)).begin()
    await applyEvent(app, build, { type: 'cancel_build', reason: null })
    await watchAgents(later(181))
    expect(await buildState(app, build)).toBe('canceled')
  })
})

describe('a job that falls silent while its agent lives', () => {
  /** The agent's heartbeats have come for an hour already. */
  const aLivelyAgent = async () => {
    const { org, token } = await anAgentWorld(app)
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: one }]'))
    const agent = await anAgent(app, token)
    const run = await agent.begin()
    const last_seen_at = new Date(Date.now() + 3600_000).toISOString()
    await app.db.updateTable('agents').set({ last_seen_at }).where('id', '=', agent.id).execute()
    const ask = () => run.call('GET', `jobs/${run.id}`)
    return { build, agent, run, ask }
  }

  it('ends like one whose agent was lost, after twice that time', async () => {
    const { build, run, ask } = await aLivelyAgent()
    const before = fromNow()
    expect((await ask()).status).toBe(200)
    await watchAgents(before(359))
    expect(await statesOf(app, build)).toEqual({ one: 'running' })
    await watchAgents(later(361))
    const job = await app.db.selectFrom('jobs').selectAll().where('id', '=', run.id).executeTakeFirstOrThrow()
    expect(job).toMatchObject({ state: 'failed', exit_status: -1, signal: null, signal_reason: null })
  })

  it('continues when its agent is of a kind that never asks', async () => {
    const { build } = await aLivelyAgent()
    await watchAgents(later(3000))
    expect(await statesOf(app, build)).toEqual({ one: 'running' })
  })

  it('ends within the time that loses an agent when it sent no request and its agent has a stream', async () => {
    const before = fromNow()
    const { build, agent, run } = await aLivelyAgent()
    const stream = await openStream(agent)
    await stream.next()
    await watchAgents(before(179))
    expect(await statesOf(app, build)).toEqual({ one: 'running' })
    await watchAgents(later(181))
    expect(await statesOf(app, build)).toEqual({ one: 'failed' })
    expect(await run.state()).toBe('401')
    stream.close()
  })

  it('continues for hours on a stream while its agent asks for its state', async () => {
    const { build, agent, ask } = await aLivelyAgent()
    const stream = await openStream(agent)
    await stream.next()
    await ask()
    const heardAt = new Date(Date.now() + 3500_000).toISOString()
    await app.db.updateTable('agents').set({ job_heard_at: heardAt }).where('id', '=', agent.id).execute()
    await watchAgents(later(3600))
    expect(await statesOf(app, build)).toEqual({ one: 'running' })
    stream.close()
  })

  it('stays with an agent that asks for work while the job still sends requests', async () => {
    const { build, agent, ask } = await aLivelyAgent()
    await ask()
    expect((await agent.ping()).body).toEqual({})
    expect(await statesOf(app, build)).toEqual({ one: 'running' })
    aheadMs = 60_000
    await agent.ping()
    aheadMs = 0
    expect(await statesOf(app, build)).toEqual({ one: 'failed' })
  })

  it('stays with an agent on a stream that asks one process while another has not written the request yet', async () => {
    const other = await startApp({ env: { MILLRACE_PING_HOLD_SECONDS: '0' } }, app.database)
    const { org, token } = await anAgentWorld(app)
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: one }]'))
    const agent = await anAgent(app, token)
    const stream = await openStream(agent)
    await stream.next()
    stream.close()
    const run = await agent.begin()
    await app.ctx.agentActivity.flush()
    expect(await run.state()).toBe('running')
    const answers: AgentAnswer[] = []
    const ping = call(other, agent.session, 'GET', 'ping').then((answer) => void answers.push(answer))
    // The first process writes the request within a second.
    await eventually('the ping is answered', async () => {
      await wakeAgent(app.db, agent.id)
      return answers.length > 0
    })
    await ping
    expect(answers[0]?.body).toEqual({})
    expect(await statesOf(app, build)).toEqual({ one: 'running' })
    await other.close()
  })

  it('ends when its agent on a stream asks for work and no process can have a request of it', async () => {
    const { org, token } = await anAgentWorld(app)
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: one }]'))
    const agent = await anAgent(app, token)
    const stream = await openStream(agent)
    await stream.next()
    await agent.begin()
    await app.ctx.agentActivity.flush()
    aheadMs = 13_000
    await agent.ping()
    aheadMs = 0
    stream.close()
    expect(await statesOf(app, build)).toEqual({ one: 'failed' })
  })
})

describe('an agent that starts again under its old name', () => {
  it('leaves its job to the session that lost it, and takes new jobs meanwhile', async () => {
    const { org, token } = await anAgentWorld(app)
    const build = await aBuild(
      app,
      org,
      await aPipeline(app, org, 'steps: [{ command: one }, { command: two }]'),
    )
    const before = await anAgent(app, token, { name: 'box' })
    await before.begin()
    const after = await anAgent(app, token, { name: 'box' })
    await (await after.begin()).finish()
    const last_seen_at = new Date(Date.now() + 3600_000).toISOString()
    await app.db.updateTable('agents').set({ last_seen_at }).where('id', '=', after.id).execute()
    await watchAgents(later(181))
    expect(await statesOf(app, build)).toEqual({ one: 'failed', two: 'passed' })
    expect([await stateOf(before.id), await stateOf(after.id)]).toEqual([
      ['lost', true],
      ['connected', false],
    ])
  })
})

describe('an agent whose disconnect is lost', () => {
  it('may repeat it, and is lost in time when it never arrives; its job ends either way', async () => {
    const { org, token } = await anAgentWorld(app)
    const pipeline = await aPipeline(app, org, 'steps: [{ command: one }]')
    const repeated = await aBuild(app, org, pipeline)
    const twice = await anAgent(app, token)
    await twice.begin()
    expect((await twice.call('POST', 'disconnect')).status).toBe(200)
    expect((await twice.call('POST', 'disconnect')).status).toBe(200)
    expect(await statesOf(app, repeated)).toEqual({ one: 'failed' })
    const unheard = await aBuild(app, org, pipeline)
    await (await anAgent(app, token)).begin()
    await watchAgents(later(181))
    expect(await statesOf(app, unheard)).toEqual({ one: 'failed' })
  })
})

describe('a paused agent', () => {
  it('resumes by itself after five minutes, or after the time it was paused for', async () => {
    const { token } = await anAgentWorld(app)
    const [short, long] = [await anAgent(app, token), await anAgent(app, token)]
    await short.call('POST', 'pause', { body: {} })
    await long.call('POST', 'pause', { body: { timeout_in_minutes: 10 } })
    const action = async (agent: typeof short) => (await agent.ping()).body.action
    // Later than the pause, yet too early for silence.
    const at = (seconds: number) => ({
      ...later(seconds),
      config: { ...app.ctx.config, timers: { ...app.ctx.config.timers, agentLostSeconds: 9999 } },
    })
    await watchAgents(at(290))
    expect([await action(short), await action(long)]).toEqual(['pause', 'pause'])
    await watchAgents(at(310))
    expect([await action(short), await action(long)]).toEqual([undefined, 'pause'])
    await watchAgents(at(610))
    expect(await action(long)).toBeUndefined()
  })
})
