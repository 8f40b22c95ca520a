import { describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld, call, registerBody } from '../../test/agent-client.ts'
import { eventually } from '../../test/app.ts'
import { useNotifications, type TestService } from '../../test/notifications.ts'
import { watchAgents } from '../conductor/lost-agents.ts'

const { app, aService } = useNotifications()

const events = [
  'agent.connected',
  'agent.lost',
  'agent.disconnected',
  'agent.stopping',
  'agent.stopped',
  'agent.blocked',
  'cluster_token.registration_blocked',
]

const eventsOf = (service: TestService, count: number) =>
  eventually(`${count} events`, async () => service.events().length >= count && service.events())

describe('a webhook that listens to agents', () => {
  it('gets events when agents connect, are stopping, have stopped and disconnect, in order', async () => {
    const world = await anAgentWorld(app)
    const service = await aService(world.org, world.admin, { settings: { events } })
    const stopped = await anAgent(app, world.token, { name: 'one' })
    const path = `${world.org.path}/agents/${stopped.id}`
    await app.request('PUT', `${path}/stop`, { token: world.admin.token, body: {} })
    await stopped.call('POST', 'disconnect')
    await stopped.call('POST', 'disconnect')
    const bodies = await eventsOf(service, 3)
    expect(bodies.map(({ event }) => event)).toEqual(['agent.connected', 'agent.stopping', 'agent.stopped'])
    expect(bodies[0]?.agent).toMatchObject({ id: stopped.id, name: 'one', hostname: 'ci-host-1' })
    expect(bodies[0]?.sender).toMatchObject({ id: world.admin.id })

    const leaving = await anAgent(app, world.token)
    await leaving.call('POST', 'disconnect')
    expect((await eventsOf(service, 5)).slice(3).map(({ event }) => event)).toEqual([
      'agent.connected',
      'agent.disconnected',
    ])
  })

  it('gets an event when an agent is lost', async () => {
    const world = await anAgentWorld(app)
    const service = await aService(world.org, world.admin, { settings: { events: ['agent.lost'] } })
    const agent = await anAgent(app, world.token)
    const ahead = new Date(Date.now() + 24 * 60 * 60 * 1000)
    await watchAgents({ ...app.ctx, now: () => ahead })
    const [lost] = await eventsOf(service, 1)
    expect(lost).toMatchObject({ event: 'agent.lost', agent: { id: agent.id, connection_state: 'lost' } })
  })

  it('gets an event for a blocked address, once a minute', async () => {
    const world = await anAgentWorld(app)
    const service = await aService(world.org, world.admin, { settings: { events } })
    const agent = await anAgent(app, world.token)
    const [token] = (await app.request('GET', `${world.cluster.path}/tokens`, { token: world.admin.token }))
      .list
    const path = `${world.cluster.path}/tokens/${token?.id}`
    const body = { allowed_ip_addresses: '10.0.0.0/8' }
    expect((await app.request('PUT', path, { token: world.admin.token, body })).status).toBe(200)
    for (const _ of [1, 2, 3]) {
      expect((await agent.ping()).status).toBe(403)
      expect((await call(app, world.token, 'POST', 'register', { body: registerBody() })).status).toBe(403)
    }
    const bodies = await eventsOf(service, 4)
    expect(bodies.map(({ event }) => String(event)).sort()).toEqual([
      'agent.blocked',
      'agent.connected',
      'agent.disconnected',
      'cluster_token.registration_blocked',
    ])
    expect(bodies.find(({ event }) => String(event) === 'agent.blocked')).toMatchObject({
      blocked_ip: '127.0.0.1',
      agent: { id: agent.id },
      cluster_token: { id: token?.id, allowed_ip_addresses: '10.0.0.0/8' },
    })
    expect(JSON.stringify(bodies)).not.toContain(world.token)
  })

  it('gets only events of clusters in its scope, whatever its branch filter is', async () => {
    const [ours, theirs] = [await anAgentWorld(app), await anAgentWorld(app)]
    const settings = { events: ['agent.connected'] }
    const scoped = await aService(ours.org, ours.admin, {
      settings,
      scope: 'some_clusters',
      scope_uuids: [ours.cluster.id],
      branch_configuration: 'main',
    })
    await anAgent(app, theirs.token)
    await anAgent(app, ours.token)
    expect((await eventsOf(scoped, 1)).map(({ agent }) => String(agent.name))).toEqual(['tester'])
  })
})
