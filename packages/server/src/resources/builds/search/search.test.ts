import { beforeAll, describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld, type AgentWorld } from '../../../../test/agent-client.ts'
import { baseUrl, useApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, aPipeline, aQueue, aToken } from '../../../../test/builders.ts'
import { aBuild } from '../../../../test/runs.ts'

const app = useApp()
const configuration = 'steps: [{command: a}]'
const commit = '3f9c2e1'.padEnd(40, 'a')

let world: AgentWorld

const ask = (q: string, { token, path } = { token: world.admin.token, path: world.org.path }) =>
  app.request('GET', `${path}/search?q=${encodeURIComponent(q)}`, { token })

const titles = async (...given: Parameters<typeof ask>) => {
  const { status, list } = await ask(...given)
  expect(status).toBe(200)
  return list.map(({ type, title }) => `${String(type)} ${String(title)}`)
}

beforeAll(async () => {
  world = await anAgentWorld(app)
})

describe('GET /v2/organizations/{org.slug}/search', () => {
  it('finds each type by a part of its name, in any case, with the address of its page', async () => {
    const { org, cluster } = world
    await app.db.updateTable('clusters').set({ name: 'The Otter' }).where('id', '=', cluster.id).execute()
    const queue = await aQueue(app, cluster, world.admin, { key: 'otter-large' })
    const agent = await anAgent(app, world.token, { name: 'host-otter-1' })
    await aPipeline(app, org, configuration, { name: 'Otter', slug: 'sea-animal' })
    await aPipeline(app, org, configuration, {
      name: 'Old',
      slug: 'old-otter',
      archived_at: new Date().toISOString(),
    })
    const { list } = await ask('OTTER')
    const clusterUrl = `${baseUrl}/organizations/${org.slug}/clusters/${cluster.id}`
    expect(list).toEqual([
      {
        type: 'pipeline',
        title: 'Otter',
        subtitle: 'sea-animal',
        web_url: `${baseUrl}/${org.slug}/sea-animal`,
      },
      {
        type: 'queue',
        title: 'otter-large',
        subtitle: 'The Otter',
        web_url: `${clusterUrl}/queues/${queue.id}`,
      },
      {
        type: 'pipeline',
        title: 'Old',
        subtitle: 'old-otter, archived',
        web_url: `${baseUrl}/${org.slug}/old-otter`,
      },
      { type: 'cluster', title: 'The Otter', subtitle: null, web_url: clusterUrl },
      {
        type: 'agent',
        title: 'host-otter-1',
        subtitle: expect.any(String),
        web_url: `${clusterUrl}/queues/${world.queue.id}/agents/${agent.id}`,
      },
    ])
  })

  it('finds builds by number with and without #, newest first, and by the digits of their commit', async () => {
    const { org, admin } = await anAgentWorld(app)
    const place = { token: admin.token, path: org.path }
    const [one, two] = [
      await aPipeline(app, org, configuration, { name: 'One', slug: 'one' }),
      await aPipeline(app, org, configuration, { name: 'Two', slug: 'two', last_build_number: 10 }),
    ]
    await app.db.updateTable('pipelines').set({ last_build_number: 10 }).where('id', '=', one.id).execute()
    await aBuild(app, org, one, { commit, message: 'Fix it\n\nBecause it broke.' })
    await aBuild(app, org, two, { commit })
    await aBuild(app, org, two, { commit: '3f9c2e2'.padEnd(40, '0') })
    for (const q of ['#11', '11', ' 11 '])
      expect(await titles(q, place)).toEqual(['build Two #11', 'build One #11'])
    for (const q of ['3f9c2e1', '3F9C2E1AA', commit])
      expect(await titles(q, place)).toEqual(['commit 3f9c2e1aaa in Two #11', 'commit 3f9c2e1aaa in One #11'])
    const { list } = await ask('#11', place)
    expect(list[1]).toEqual({
      type: 'build',
      title: 'One #11',
      subtitle: 'Fix it',
      web_url: `${baseUrl}/${org.slug}/one/builds/11`,
    })
    expect(await titles('3f9c2e', place)).toEqual([])
    expect(await titles(`${commit}a`, place)).toEqual([])
  })

  it('has at most 10 of a type and 20 in all, exact and beginning names first', async () => {
    const { org, admin, cluster } = await anAgentWorld(app)
    const place = { token: admin.token, path: org.path }
    const indices = Array.from({ length: 12 }, (_, index) => String(index).padStart(2, '0'))
    for (const index of indices) {
      await aPipeline(app, org, configuration, { name: `a crab ${index}`, slug: `p${index}` })
      await aQueue(app, cluster, admin, { key: `crab-${index}` })
    }
    await aPipeline(app, org, configuration, { name: 'z', slug: 'crab' })
    const found = await titles('crab', place)
    expect(found).toEqual([
      'pipeline z',
      ...indices.slice(0, 10).map((index) => `queue crab-${index}`),
      ...indices.slice(0, 9).map((index) => `pipeline a crab ${index}`),
    ])
  })

  it('leaves out hidden pipelines, their builds and other organizations', async () => {
    const org = await anOrganization(app)
    const other = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const member = await aMember(app, org)
    const names = [
      { in: org, name: 'Heron hidden', visibility: 'private' },
      { in: org, name: 'Heron open', visibility: 'public' },
      { in: other, name: 'Heron foreign', visibility: 'public' },
    ]
    for (const { in: owner, name, visibility } of names)
      await aBuild(app, owner, await aPipeline(app, owner, configuration, { name, visibility }), { commit })
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    const place = { token: member.token, path: org.path }
    expect(await titles('heron', place)).toEqual(['pipeline Heron open'])
    expect(await titles('#1', place)).toEqual(['build Heron open #1'])
    expect(await titles(commit, place)).toEqual(['commit 3f9c2e1aaa in Heron open #1'])
    expect(await titles('#1', { token: admin.token, path: org.path })).toHaveLength(2)
    expect((await ask('heron', { token: member.token, path: other.path })).status).toBe(404)
  })

  it('has each type only for tokens that may read it', async () => {
    const { org, admin, cluster, token: clusterToken } = await anAgentWorld(app)
    await aPipeline(app, org, configuration, { name: '1 gull' })
    await aBuild(app, org, await aPipeline(app, org, configuration, { name: 'Tern', slug: 'tern' }))
    await aQueue(app, cluster, admin, { key: 'gull' })
    await anAgent(app, clusterToken, { name: 'gull' })
    const found = async (q: string, ...scopes: string[]) =>
      titles(q, {
        token: await aToken(app, admin, { scopes: ['read_organizations', ...scopes] }),
        path: org.path,
      })
    expect(await found('gull')).toEqual([])
    expect(await found('gull', 'read_pipelines')).toEqual(['pipeline 1 gull'])
    expect(await found('gull', 'read_clusters')).toEqual(['queue gull'])
    expect(await found('gull', 'read_agents')).toEqual(['agent gull'])
    expect(await found('#1', 'read_pipelines', 'read_agents', 'read_clusters')).toEqual([])
    expect(await found('#1', 'read_builds')).toEqual(['build Tern #1'])
    const narrow = await aToken(app, admin, { scopes: ['read_pipelines'] })
    expect((await ask('gull', { token: narrow, path: org.path })).status).toBe(403)
  })

  it('refuses text that is missing, too short or too long', async () => {
    for (const q of ['', 'a', 'x'.repeat(201)]) expect((await ask(q)).status).toBe(400)
    const { token } = world.admin
    expect((await app.request('GET', `${world.org.path}/search`, { token })).status).toBe(400)
  })

  it.each([
    '  ',
    '%%',
    '__',
    '\\\\',
    `'; drop table builds; --`,
    '#99999999999',
    '9999999999',
    '\ud83e\udda6\u202e',
    '(((((',
  ])('takes %j as plain text', async (q) => {
    expect(await titles(q)).toEqual([])
  })

  it('refuses characters that PostgreSQL cannot store', async () => {
    expect((await ask('a\u0000b')).status).toBe(400)
  })
})
