import { describe, expect, it } from 'vitest'
import { useApp } from '../../../test/app.ts'
import { aCluster, aMember, anAdmin, anOrganization, aToken, withFeature } from '../../../test/builders.ts'

const app = useApp()
const image = { name: 'node', dockerfile: 'RUN apt-get install -y nodejs' }
const noImage = { message: 'No agent image found with the given ID.' }
const retry = { message: 'The hosted-agent service is not running. Asking again is safe.' }

async function images(given: { hosted?: boolean; feature?: boolean } = {}) {
  const { feature = true, ...cluster } = given
  const org = await anOrganization(app)
  await withFeature(app, org, 'custom_agent_images', feature)
  const [admin, maintainer] = [await anAdmin(app, org), await aMember(app, org)]
  const maintainers = [{ user: maintainer.id }]
  const path = `${(await aCluster(app, org, admin, { maintainers, ...cluster })).path}/agent-images`
  const ask = async (method: string, below = '', token = maintainer.token) => {
    const body = method === 'POST' ? { body: image } : {}
    const answer = await app.request(method, `${path}${below}`, { token, ...body })
    return [answer.status, answer.body]
  }
  return { org, admin, maintainer, path, ask }
}

const operations = [
  ['GET', ''],
  ['GET', '/abc123def4567'],
  ['POST', ''],
  ['DELETE', '/abc123def4567'],
] as const

describe('every agent image operation', () => {
  it.each(operations)(
    'Any agent image operation 404: feature unavailable for the organization (%s %s)',
    async (method, below) => {
      for (const hosted of [true, false]) {
        const { ask } = await images({ feature: false, hosted })
        expect(await ask(method, below)).toEqual([
          404,
          { message: 'Agent images are not available for this organization' },
        ])
      }
    },
  )

  it.each(operations)('needs the permission to manage the cluster (%s %s)', async (method, below) => {
    const { org, admin, ask } = await images()
    expect((await ask(method, below, (await aMember(app, org)).token))[0]).toBe(403)
    const scopes = [method === 'GET' ? 'write_clusters' : 'read_clusters']
    expect((await ask(method, below, await aToken(app, admin, { scopes })))[0]).toBe(403)
  })

  it.each(operations)(
    'answers 404 for the cluster of another organization (%s %s)',
    async (method, below) => {
      const [mine, theirs] = [await images(), await images({ hosted: true })]
      const path = `${theirs.path.replace(theirs.org.path, mine.org.path)}${below}`
      const body = method === 'POST' ? { body: image } : {}
      const answer = await app.request(method, path, { token: mine.admin.token, ...body })
      expect([answer.status, answer.body]).toEqual([404, { message: 'No cluster found' }])
    },
  )
})

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/agent-images', () => {
  it('answers an empty array for a cluster that is not hosted', async () => {
    expect(await (await images()).ask('GET')).toEqual([200, []])
  })

  it('List agent images 503: hosted-agent service cannot return the images', async () => {
    expect(await (await images({ hosted: true })).ask('GET')).toEqual([503, retry])
  })
})

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/agent-images/{id}', () => {
  it('Get agent image 404: cluster not hosted', async () => {
    expect(await (await images()).ask('GET', '/abc123def4567')).toEqual([404, noImage])
  })

  it('Get agent image 503: hosted-agent service cannot return the image', async () => {
    expect(await (await images({ hosted: true })).ask('GET', '/abc123def4567')).toEqual([503, retry])
  })
})

describe('POST /v2/organizations/{org.slug}/clusters/{cluster.id}/agent-images', () => {
  it('Create agent image 422: cluster not hosted', async () => {
    expect(await (await images()).ask('POST')).toEqual([
      422,
      { message: 'Agent images can only be created in a hosted cluster' },
    ])
  })

  it.each([
    ['no name', { dockerfile: '' }, 'name is required'],
    ['an empty name', { name: '', dockerfile: '' }, 'name must not be empty'],
    ['a blank name', { name: ' ', dockerfile: '' }, 'name must not be blank'],
    ['a name that is no string', { name: 1, dockerfile: '' }, 'name must be a string'],
    ['no dockerfile', { name: 'a' }, 'dockerfile is required'],
    ['a dockerfile that is null', { name: 'a', dockerfile: null }, 'dockerfile must be a string'],
    ['a FROM instruction', { name: 'a', dockerfile: 'FROM alpine' }, 'must not have a FROM instruction'],
  ])('Create agent image 422: validation failure, %s', async (_, body, reason) => {
    const { maintainer, path } = await images({ hosted: true })
    const answer = await app.request('POST', path, { token: maintainer.token, body })
    expect(answer.status).toBe(422)
    expect(answer.body.message).toMatch(/^Validation failed: /)
    expect(answer.body.message).toContain(reason)
  })

  it('Create agent image 503: hosted-agent service could not create it; safe to retry', async () => {
    const { maintainer, path, ask } = await images({ hosted: true })
    expect(await ask('POST')).toEqual([503, retry])
    const empty = { name: 'plain', dockerfile: '' }
    expect((await app.request('POST', path, { token: maintainer.token, body: empty })).status).toBe(503)
  })
})

describe('DELETE /v2/organizations/{org.slug}/clusters/{cluster.id}/agent-images/{id}', () => {
  it('Delete agent image 404: the cluster is not hosted', async () => {
    expect(await (await images()).ask('DELETE', '/abc123def4567')).toEqual([404, noImage])
  })

  it('Delete agent image 503: hosted-agent service could not delete it; safe to retry', async () => {
    expect(await (await images({ hosted: true })).ask('DELETE', '/abc123def4567')).toEqual([503, retry])
  })
})
