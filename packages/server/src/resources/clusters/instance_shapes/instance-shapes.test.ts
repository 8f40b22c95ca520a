import { describe, expect, it } from 'vitest'
import { useApp, useOwnApp } from '../../../../test/app.ts'
import { aMember, anOrganization } from '../../../../test/builders.ts'
import { MemoryEngine } from '../../../../test/hosted/memory-engine.ts'
import { ownArchitecture } from '../queues/rules.ts'

const hosting = useOwnApp({ hosted: new MemoryEngine().open('tests of shapes') })
const app = useApp()

describe('GET /v2/organizations/{org}/instance_shapes', () => {
  it('lists the machines that hosted queues may have, smallest first', async () => {
    const org = await anOrganization(hosting)
    const { token } = await aMember(hosting, org)
    const { status, list } = await hosting.request('GET', `${org.path}/instance_shapes`, { token })
    expect(status).toBe(200)
    expect(list[0]).toEqual({
      name: `LINUX_${ownArchitecture.toUpperCase()}_2X4`,
      machine_type: 'linux',
      architecture: ownArchitecture,
      cpu: 2,
      memory: 4,
    })
    expect(list.map(({ cpu }) => cpu)).toEqual([2, 4, 8, 16, 32, 64])
  })

  it('lists none where no hosted clusters run', async () => {
    const org = await anOrganization(app)
    const { token } = await aMember(app, org)
    const { status, list } = await app.request('GET', `${org.path}/instance_shapes`, { token })
    expect([status, list]).toEqual([200, []])
  })
})
