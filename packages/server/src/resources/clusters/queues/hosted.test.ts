// Hosted queues: the size of their machine, and its image.
import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { aCluster, anAdmin, anOrganization, aQueue } from '../../../../test/builders.ts'

const app = useApp()

async function aPlace() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const cluster = await aCluster(app, org, admin, { hosted: true })
  const path = `${cluster.path}/queues`
  const create = (body: unknown) => app.request('POST', path, { token: admin.token, body })
  return { admin, cluster, path, create }
}

const linux = { hostedAgents: { instanceShape: 'LINUX_AMD64_2X4' } }
const mac = { hostedAgents: { instanceShape: 'MACOS_ARM64_M4_6X28' } }

describe('a hosted queue', () => {
  it('shows its machine and its image', async () => {
    const { create, admin, path } = await aPlace()
    const ignored = { instanceShape: 'LINUX_ARM64_16X64', agentImageRef: 'registry.test/a:v1' }
    const created = await create({ key: 'linux', hostedAgents: ignored })
    expect(created.body).toMatchObject({
      hosted: true,
      hosted_agents: {
        instance_shape: {
          machine_type: 'linux',
          architecture: 'arm64',
          cpu: 16,
          memory: 64,
          name: 'LINUX_ARM64_16X64',
        },
        platform_settings: { linux: { agent_image_ref: null } },
      },
    })
    expect((await create({ key: 'mac', ...mac })).body.hosted_agents).toEqual({
      instance_shape: {
        machine_type: 'macos',
        architecture: 'arm64',
        cpu: 6,
        memory: 28,
        name: 'MACOS_ARM64_M4_6X28',
      },
      platform_settings: { macos: {} },
    })
    const plain = (await create({ key: 'own-machines' })).body
    expect(plain).not.toHaveProperty('hosted')
    expect(plain).not.toHaveProperty('hosted_agents')
    const list = await app.request('GET', path, { token: admin.token })
    expect(list.list.map(({ hosted }) => hosted)).toEqual([true, true, undefined])
  })

  it('changes its size and its image', async () => {
    const { admin, cluster } = await aPlace()
    const { path } = await aQueue(app, cluster, admin, linux)
    const put = (hostedAgents: object) =>
      app.request('PUT', path, { token: admin.token, body: { hostedAgents } })
    const image = { instanceShape: 'LINUX_AMD64_8X32', agentImageRef: 'registry.test/a:v1' }
    expect((await put(image)).body.hosted_agents).toMatchObject({
      instance_shape: { cpu: 8, memory: 32 },
      platform_settings: { linux: { agent_image_ref: 'registry.test/a:v1' } },
    })
    expect((await put({ instanceShape: 'LINUX_AMD64_2X4' })).body.hosted_agents).toMatchObject({
      platform_settings: { linux: { agent_image_ref: 'registry.test/a:v1' } },
    })
    const cleared = await put({ instanceShape: 'LINUX_AMD64_2X4', agentImageRef: null })
    expect(cleared.body.hosted_agents).toMatchObject({
      platform_settings: { linux: { agent_image_ref: null } },
    })
  })

  it.each([
    ['another architecture', linux, { instanceShape: 'LINUX_ARM64_2X4' }, 'changed to LINUX_ARM64_2X4'],
    ['another system', linux, mac.hostedAgents, 'changed to MACOS_ARM64_M4_6X28'],
    ['an unknown shape', linux, { instanceShape: 'HUGE' }, 'changed to HUGE'],
    ['no shape', linux, { agentImageRef: 'registry.test/a:v1' }, 'changed to '],
  ])('answers 422 for %s', async (_, given, hostedAgents, reason) => {
    const { admin, cluster } = await aPlace()
    const { path } = await aQueue(app, cluster, admin, given)
    const answer = await app.request('PUT', path, { token: admin.token, body: { hostedAgents } })
    expect([answer.status, answer.body.message]).toEqual([
      422,
      `Validation failed: Instance shape cannot be ${reason}`,
    ])
  })

  it('answers 422 for an image on a mac queue', async () => {
    const { admin, cluster } = await aPlace()
    const { path } = await aQueue(app, cluster, admin, mac)
    const hostedAgents = { ...mac.hostedAgents, agentImageRef: 'registry.test/a:v1' }
    const answer = await app.request('PUT', path, { token: admin.token, body: { hostedAgents } })
    expect([answer.status, answer.body.message]).toEqual([
      422,
      'Validation failed: Agent image ref cannot be configured for hosted mac queues',
    ])
  })
})
