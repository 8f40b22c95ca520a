import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { aCluster, aMember, anAdmin, anOrganization } from '../../../../test/builders.ts'

const app = useApp()

async function ranges(given: { hosted?: boolean } = {}) {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const cluster = await aCluster(app, org, admin, given)
  return { org, admin, path: `${cluster.path}/network_ranges` }
}

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/network_ranges', () => {
  it('answers an empty array for a cluster that is not hosted', async () => {
    const { admin, path } = await ranges()
    const answer = await app.request('GET', path, { token: admin.token })
    expect([answer.status, answer.body]).toEqual([200, []])
    expect(answer.headers.get('link')).toBeNull()
  })

  it('answers 503 for a hosted cluster while the hosted-agent service is not running', async () => {
    const { admin, path } = await ranges({ hosted: true })
    const answer = await app.request('GET', path, { token: admin.token })
    expect([answer.status, answer.body]).toEqual([
      503,
      { message: 'Could not load network ranges: the hosted-agent service is not running' },
    ])
  })

  it('needs the permission to manage the cluster, and a cluster of the organization', async () => {
    const [{ org, admin, path }, theirs] = [await ranges(), await ranges()]
    expect((await app.request('GET', path, { token: (await aMember(app, org)).token })).status).toBe(403)
    const foreign = theirs.path.replace(theirs.org.path, org.path)
    const answer = await app.request('GET', foreign, { token: admin.token })
    expect([answer.status, answer.body]).toEqual([404, { message: 'No cluster found' }])
  })
})
