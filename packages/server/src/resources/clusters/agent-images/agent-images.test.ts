import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { baseUrl, eventually, sortedStatuses, startApp, useApp, useOwnApp } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aQueue,
  aToken,
  auditTrail,
  withFeature,
  withoutFeature,
} from '../../../../test/builders.ts'
import { MemoryEngine } from '../../../../test/hosted/memory-engine.ts'
import { buildImages, waitForBuilds } from './build.ts'
import { sweepImages } from './sweep.ts'

const engine = new MemoryEngine()
const driver = engine.open('tests of agent images')
const env = { MILLRACE_HOSTED: 'docker:///in/memory.sock', MILLRACE_HOSTED_BASE_IMAGE: 'base:1' }
const app = useOwnApp({ hosted: driver, env })
const withoutService = useApp()
beforeEach(async () => {
  engine.recover()
  // Images that earlier tests created and did not build would be built first.
  await sql`update agent_images set status = 'FAILED' where status = 'BUILDING'`.execute(app.db)
})

const image = { name: 'tools', dockerfile: 'RUN cp /etc/two /tool' }
const noImage = { message: 'No agent image found with the given ID.' }
const notRunning = { message: 'The hosted-agent service is not running. Asking again is safe.' }
const couldNot = (what: string) => ({
  message: `The hosted-agent service could not ${what}. Asking again is safe.`,
})

async function images(given: { hosted?: boolean; feature?: boolean } = {}, on = app) {
  const { feature = true, ...cluster } = given
  const org = await anOrganization(on)
  await (feature ? withFeature : withoutFeature)(on, org, 'custom_agent_images')
  const [admin, maintainer] = [await anAdmin(on, org), await aMember(on, org)]
  const maintainers = [{ user: maintainer.id }]
  const { id: clusterId, path: clusterPath } = await aCluster(on, org, admin, { maintainers, ...cluster })
  const path = `${clusterPath}/agent-images`
  const ask = async (method: string, below = '', token = maintainer.token, body: object = image) => {
    const answer = await on.request(method, `${path}${below}`, {
      token,
      ...(method === 'POST' ? { body } : {}),
    })
    return [answer.status, answer.body]
  }
  const create = async (body: object = image) => {
    const answer = await on.request('POST', path, { token: maintainer.token, body })
    expect(answer.status).toBe(201)
    return answer.body
  }
  const get = async (id: unknown) =>
    (await on.request('GET', `${path}/${String(id)}`, { token: maintainer.token })).body
  /** Creates an image, and has a worker build it. */
  const built = async (body: object = image) => {
    const { id } = await create(body)
    await buildAll()
    return get(id)
  }
  return { org, admin, maintainer, clusterId, clusterPath, path, ask, create, get, built }
}

async function buildAll() {
  await buildImages(app.ctx)
  await waitForBuilds(app.ctx)
}

const operations = [
  ['GET', ''],
  ['GET', '/abc123def4567'],
  ['POST', ''],
  ['DELETE', '/abc123def4567'],
  ['GET', '/abc123def4567/log'],
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

  it('is available if hosted clusters are configured, and only then', async () => {
    for (const [on, status] of [[app, 200] as const, [withoutService, 404] as const]) {
      const org = await anOrganization(on)
      const admin = await anAdmin(on, org)
      const cluster = await aCluster(on, org, admin)
      const answer = await on.request('GET', `${cluster.path}/agent-images`, { token: admin.token })
      expect(answer.status).toBe(status)
    }
  })

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

describe('an installation that runs no hosted-agent service', () => {
  it('answers 503 to every operation that needs the service, and an empty list for clusters that are not hosted', async () => {
    const { ask } = await images({ hosted: true }, withoutService)
    expect(await ask('GET')).toEqual([503, notRunning])
    expect(await ask('GET', '/abc123def4567')).toEqual([503, notRunning])
    expect(await ask('POST')).toEqual([503, notRunning])
    expect(await ask('DELETE', '/abc123def4567')).toEqual([404, noImage])
    expect(await (await images({}, withoutService)).ask('GET')).toEqual([200, []])
  })
})

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/agent-images', () => {
  it('answers an empty array for a cluster that is not hosted', async () => {
    expect(await (await images()).ask('GET')).toEqual([200, []])
  })

  it('lists the images of the cluster by name', async () => {
    const [{ path, maintainer, create }, other] = [
      await images({ hosted: true }),
      await images({ hosted: true }),
    ]
    await other.create({ name: 'elsewhere', dockerfile: '' })
    for (const name of ['b', 'C', 'a', 'ä']) await create({ name, dockerfile: '' })
    const { list } = await app.request('GET', path, { token: maintainer.token })
    expect(list.map(({ name }) => name)).toEqual(['C', 'a', 'b', 'ä'])
  })

  it.each(['not reached', 'hangs', 'cut off'] as const)(
    'List agent images 503: hosted-agent service cannot return the images (%s)',
    async (trouble) => {
      const { ask } = await images({ hosted: true })
      engine.fail(trouble, 'check')
      expect(await ask('GET')).toEqual([503, couldNot('return the images')])
      engine.recover()
      expect(await ask('GET')).toEqual([200, []])
    },
  )
})

describe('GET /v2/organizations/{org.slug}/clusters/{cluster.id}/agent-images/{id}', () => {
  it('Get agent image 404: cluster not hosted', async () => {
    expect(await (await images()).ask('GET', '/abc123def4567')).toEqual([404, noImage])
  })

  it('answers 404 for an unknown id and for an image of another cluster', async () => {
    const [mine, theirs] = [await images({ hosted: true }), await images({ hosted: true })]
    const { id } = await theirs.create()
    for (const below of ['/abc123def4567', `/${String(id)}`, '/%00', `/${'a'.repeat(300)}`]) {
      expect((await mine.ask('GET', below))[0]).toBe(404)
      expect((await mine.ask('DELETE', below))[0]).toBe(404)
      expect((await mine.ask('GET', `${below}/log`))[0]).toBe(404)
    }
  })

  it.each(['not reached', 'hangs', 'cut off'] as const)(
    'Get agent image 503: hosted-agent service cannot return the image (%s)',
    async (trouble) => {
      const { ask, create } = await images({ hosted: true })
      const made = await create()
      engine.fail(trouble, 'check')
      expect(await ask('GET', `/${String(made.id)}`)).toEqual([503, couldNot('return the image')])
      engine.recover()
      expect(await ask('GET', `/${String(made.id)}`)).toEqual([200, made])
    },
  )
})

describe('POST /v2/organizations/{org.slug}/clusters/{cluster.id}/agent-images', () => {
  it('answers 201 with an image that is being built', async () => {
    const { org, clusterId, create } = await images({ hosted: true })
    const made = await create()
    expect(made.id).toMatch(/^[a-z0-9]{13}$/)
    const url = `${baseUrl}/v2/organizations/${org.slug}/clusters/${clusterId}`
    expect(made).toEqual({
      id: made.id,
      name: 'tools',
      status: 'BUILDING',
      image_ref: null,
      version: 1,
      last_build_error: null,
      dockerfile: 'RUN cp /etc/two /tool',
      base_image: 'FROM base:1',
      composed_dockerfile: 'FROM base:1\nRUN cp /etc/two /tool',
      url: `${url}/agent-images/${String(made.id)}`,
      log_url: `${url}/agent-images/${String(made.id)}/log`,
      web_url: `${baseUrl}/organizations/${org.slug}/clusters/${clusterId}/agent_images/${String(made.id)}`,
      cluster_url: url,
    })
    expect(await auditTrail(app, org, 'AGENT_IMAGE_CREATED')).toMatchObject([
      { subject: { uuid: clusterId }, data: { agent_image_id: made.id, name: 'tools', version: 1 } },
    ])
  })

  it('Create agent image 409: an image with that name already exists in the cluster', async () => {
    const { org, ask, create } = await images({ hosted: true })
    await create()
    expect(await ask('POST')).toEqual([
      409,
      { message: 'an agent image named "tools" already exists in this cluster' },
    ])
    expect(await auditTrail(app, org, 'AGENT_IMAGE_CREATED')).toHaveLength(1)
    await (await images({ hosted: true })).create()
  })

  it('gives a name to one of many concurrent requests, and leaves no gap in the versions', async () => {
    const { maintainer, path, ask, create } = await images({ hosted: true })
    const post = () => app.request('POST', path, { token: maintainer.token, body: image })
    const answers = await Promise.all(Array.from({ length: 6 }, post))
    expect(sortedStatuses(answers)).toEqual([201, 409, 409, 409, 409, 409])
    const id = String(answers.find(({ status }) => status === 201)?.body.id)
    expect((await ask('DELETE', `/${id}`))[0]).toBe(204)
    expect(await create()).toMatchObject({ version: 2 })
  })

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
    ['a copy of another image', { name: 'a', dockerfile: 'COPY --from=b / /' }, 'must not COPY --from'],
  ])('Create agent image 422: validation failure, %s', async (_, body, reason) => {
    const { maintainer, path } = await images({ hosted: true })
    const answer = await app.request('POST', path, { token: maintainer.token, body })
    expect(answer.status).toBe(422)
    expect(answer.body.message).toMatch(/^Validation failed: /)
    expect(answer.body.message).toContain(reason)
  })

  it.each(['not reached', 'hangs', 'cut off'] as const)(
    'Create agent image 503: hosted-agent service could not create it; safe to retry (%s)',
    async (trouble) => {
      const { org, ask } = await images({ hosted: true })
      engine.fail(trouble, 'check')
      expect(await ask('POST')).toEqual([503, couldNot('create the image')])
      engine.recover()
      expect(await ask('GET')).toEqual([200, []])
      expect(await auditTrail(app, org, 'AGENT_IMAGE_CREATED')).toEqual([])
      expect((await ask('POST'))[0]).toBe(201)
    },
  )

  it('creates one image for one Idempotency-Key, also after a 503', async () => {
    const { maintainer, path } = await images({ hosted: true })
    const headers = { 'Idempotency-Key': 'one image' }
    const post = () => app.request('POST', path, { token: maintainer.token, body: image, headers })
    engine.fail('not reached', 'check')
    expect((await post()).status).toBe(503)
    engine.recover()
    const [first, again] = [await post(), await post()]
    expect([first.status, again.status, again.body.id]).toEqual([201, 201, first.body.id])
  })

  it('refuses more images than a cluster may have', async () => {
    const { org, clusterId, ask } = await images({ hosted: true })
    await sql`
      insert into agent_images (id, organization_id, cluster_id, name, version, status, dockerfile, base_image, ref)
      select left(md5(random()::text), 13), ${org.id}::uuid, ${clusterId}::uuid, 'n' || n, 1, 'FAILED', '', '', ${clusterId} || n
      from generate_series(1, 100) as n`.execute(app.db)
    const [status, body] = await ask('POST')
    expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining('at most 100')])
  })
})

describe('the build of an agent image', () => {
  it('ends READY with an image_ref that containers can be started from', async () => {
    const { clusterId, built } = await images({ hosted: true })
    const made = await built()
    const ref = `localhost/millrace/${clusterId}/${String(made.id)}:v1`
    expect(made).toMatchObject({ status: 'READY', image_ref: ref, last_build_error: null })
    expect(await driver.listImages()).toContain(ref)
  })

  it('builds the base image alone if there are no instructions', async () => {
    const { built } = await images({ hosted: true })
    expect(await built({ name: 'plain', dockerfile: '' })).toMatchObject({
      status: 'READY',
      composed_dockerfile: 'FROM base:1\n',
    })
  })

  it('ends FAILED with the output of the command, then the last error of the builder', async () => {
    const { built } = await images({ hosted: true })
    engine.programs['make'] = async ({ write }) => {
      write('src/main.c:1: no such header\n')
      return 2
    }
    const failed = await built({ name: 'made', dockerfile: 'RUN make tool' })
    expect(failed.last_build_error).toMatch(
      /src\/main\.c:1: no such header\n+The command "make tool" ended with 2\./,
    )
    const made = await built({ name: 'broken', dockerfile: 'RUN cp /nowhere /tool' })
    expect(made).toMatchObject({ status: 'FAILED', image_ref: null })
    expect(made.last_build_error).toContain('cp /nowhere /tool')
  })

  it('has a log that can be read during the build and afterwards', async () => {
    const { maintainer, path, create } = await images({ hosted: true })
    const { id } = await create({ name: 'chatty', dockerfile: 'RUN cat /etc/one' })
    const log = () => app.request('GET', `${path}/${String(id)}/log`, { token: maintainer.token })
    expect((await log()).body).toEqual({ url: `${baseUrl}${path}/${String(id)}/log`, content: '', size: 0 })
    engine.holdBuilds()
    await buildImages(app.ctx)
    await eventually('the log has its first line', async () =>
      String((await log()).body.content).includes('FROM base:1'),
    )
    engine.releaseBuilds()
    await waitForBuilds(app.ctx)
    expect((await log()).body).toMatchObject({ content: 'FROM base:1\nRUN cat /etc/one\none\n', size: 33 })
  })

  it('continues when the service answers again', async () => {
    const { create, get } = await images({ hosted: true })
    const { id } = await create()
    engine.fail('not reached', 'buildImage')
    await buildAll()
    expect(await get(id)).toMatchObject({
      status: 'BUILDING',
      image_ref: null,
      last_build_error: 'The engine is not reached.',
    })
    engine.recover()
    await buildAll()
    expect(await get(id)).toMatchObject({ status: 'BUILDING' })
    await letLeasesRunOut()
    await buildAll()
    expect(await get(id)).toMatchObject({ status: 'READY', last_build_error: null })
  })

  it('ends FAILED when the service does not answer for too long', async () => {
    const { create, get } = await images({ hosted: true })
    const { id } = await create()
    engine.fail('not reached', 'buildImage')
    await buildAll()
    expect(await get(id)).toMatchObject({ status: 'BUILDING' })
    const past = sql`build_started_at = now() - interval '30 minutes'`
    await sql`update agent_images set ${past} where id = ${String(id)}`.execute(app.db)
    await letLeasesRunOut()
    await buildAll()
    expect(await get(id)).toMatchObject({
      status: 'FAILED',
      last_build_error:
        'The build was tried 2 times in 30 minutes. The last answer: The engine is not reached.',
    })
  })

  it('is repeated from the beginning when the answer is lost', async () => {
    const { create, get } = await images({ hosted: true })
    const { id } = await create()
    engine.fail('cut off', 'buildImage')
    await buildAll()
    engine.recover()
    await letLeasesRunOut()
    await buildAll()
    expect(await get(id)).toMatchObject({ status: 'READY' })
  })

  it('is restarted by another worker when its worker dies, and the first worker can change nothing any more', async () => {
    const { create, get } = await images({ hosted: true })
    const { id } = await create({ name: 'broken', dockerfile: 'RUN false' })
    const second = await startApp({ hosted: driver, env }, app.database)
    try {
      engine.holdBuilds()
      await buildImages(app.ctx)
      await sql`update agent_images set dockerfile = '' where id = ${String(id)}`.execute(app.db)
      // The held worker has not renewed its lease, so the database shows it as dead.
      await letLeasesRunOut()
      await buildImages(second.ctx)
      engine.releaseBuilds()
      await Promise.all([waitForBuilds(app.ctx), waitForBuilds(second.ctx)])
      expect(await get(id)).toMatchObject({ status: 'READY', last_build_error: null })
    } finally {
      await second.close()
    }
  })

  it('ends FAILED after its time limit, and leaves no image', async () => {
    const { create, get } = await images({ hosted: true })
    const { id } = await create({ name: 'endless', dockerfile: 'RUN sleep 600' })
    const { hosted } = app.ctx.config
    if (hosted === null) throw new Error('There is an engine.')
    const impatient = {
      ...app.ctx,
      config: { ...app.ctx.config, hosted: { ...hosted, imageBuildMinutes: 0.002 } },
    }
    const before = await driver.listImages()
    await buildImages(impatient)
    await waitForBuilds(impatient)
    expect(await get(id)).toMatchObject({
      status: 'FAILED',
      image_ref: null,
      last_build_error: expect.stringContaining('The build took longer than 0.002 minutes and was ended.'),
    })
    expect(await driver.listImages()).toEqual(before)
  })

  it('runs at most the configured number of builds at once in all workers', async () => {
    const { create, get } = await images({ hosted: true })
    const ids = []
    for (const name of ['a', 'b', 'c']) ids.push((await create({ name, dockerfile: '' })).id)
    const second = await startApp({ hosted: driver, env }, app.database)
    try {
      engine.holdBuilds()
      await Promise.all([buildImages(app.ctx), buildImages(second.ctx)])
      await Promise.all([buildImages(app.ctx), buildImages(second.ctx)])
      const { rows } = await sql`select from agent_images where build_lease_id is not null`.execute(app.db)
      expect(rows).toHaveLength(2)
      engine.releaseBuilds()
      await Promise.all([waitForBuilds(app.ctx), waitForBuilds(second.ctx)])
      await buildAll()
      for (const id of ids) expect(await get(id)).toMatchObject({ status: 'READY' })
    } finally {
      await second.close()
    }
  })

  it('limits the log, and stores the part of an error that the database can hold', async () => {
    const { maintainer, path, built } = await images({ hosted: true })
    const noisy = new MemoryEngine({
      async shout({ write }) {
        for (let line = 0; line < 30; line++) write(`\0${'x'.repeat(99_999)}`)
        return 1
      },
    })
    Object.assign(engine.programs, { shout: noisy.programs['shout'] })
    const { id, status } = await built({ name: 'noisy', dockerfile: 'RUN shout' })
    expect(status).toBe('FAILED')
    const { body } = await app.request('GET', `${path}/${String(id)}/log`, { token: maintainer.token })
    expect(Number(body.size)).toBeLessThan(1_200_000)
    expect(body.content).toContain('[What comes after this is not kept.]')
  })

  async function letLeasesRunOut() {
    await sql`update agent_images set build_lease_until = now() - interval '1 second' where status = 'BUILDING'`.execute(
      app.db,
    )
  }
})

describe('DELETE /v2/organizations/{org.slug}/clusters/{cluster.id}/agent-images/{id}', () => {
  it('answers 204, and a new image with the same name gets the next version', async () => {
    const { org, ask, built } = await images({ hosted: true })
    const first = await built()
    expect((await ask('DELETE', `/${String(first.id)}`))[0]).toBe(204)
    expect(await ask('GET', `/${String(first.id)}`)).toEqual([404, noImage])
    expect(await driver.listImages()).not.toContain(first.image_ref)
    expect(await built()).toMatchObject({ version: 2, status: 'READY' })
    expect(await auditTrail(app, org, 'AGENT_IMAGE_DELETED')).toMatchObject([
      { data: { agent_image_id: first.id, name: 'tools', version: 1 } },
    ])
  })

  it('Delete agent image 404: no image with that ID', async () => {
    const { ask, built } = await images({ hosted: true })
    expect(await ask('DELETE', '/abc123def4567')).toEqual([404, noImage])
    const { id } = await built()
    await ask('DELETE', `/${String(id)}`)
    expect(await ask('DELETE', `/${String(id)}`)).toEqual([404, noImage])
  })

  it('Delete agent image 404: the cluster is not hosted', async () => {
    expect(await (await images()).ask('DELETE', '/abc123def4567')).toEqual([404, noImage])
  })

  it('Delete agent image 409: image is assigned to one or more queues', async () => {
    const { admin, clusterPath, ask, built } = await images({ hosted: true })
    const { id, image_ref } = await built()
    const shape = { instanceShape: 'LINUX_AMD64_2X4' }
    const queue = await aQueue(app, { path: clusterPath }, admin, { hostedAgents: shape })
    const put = (agentImageRef: unknown) =>
      app.request('PUT', queue.path, {
        token: admin.token,
        body: { hostedAgents: { ...shape, agentImageRef } },
      })
    expect((await put(image_ref)).status).toBe(200)
    const [status, body] = await ask('DELETE', `/${String(id)}`)
    expect([status, JSON.stringify(body)]).toEqual([
      409,
      expect.stringContaining('in use by one or more queues; reassign those queues before deleting it'),
    ])
    expect(await driver.listImages()).toContain(image_ref)
    expect((await put(null)).status).toBe(200)
    expect((await ask('DELETE', `/${String(id)}`))[0]).toBe(204)
  })

  it.each(['not reached', 'hangs'] as const)(
    'Delete agent image 503: hosted-agent service could not delete it; safe to retry (%s)',
    async (trouble) => {
      const { ask, get, built } = await images({ hosted: true })
      const made = await built()
      engine.fail(trouble, 'deleteImage')
      expect(await ask('DELETE', `/${String(made.id)}`)).toEqual([503, couldNot('delete the image')])
      engine.recover()
      expect(await get(made.id)).toEqual(made)
      expect(await driver.listImages()).toContain(made.image_ref)
      expect((await ask('DELETE', `/${String(made.id)}`))[0]).toBe(204)
    },
  )

  it('Delete agent image 503: the service deleted it, and the answer was lost', async () => {
    const { ask, built } = await images({ hosted: true })
    const { id } = await built()
    engine.fail('cut off', 'deleteImage')
    expect((await ask('DELETE', `/${String(id)}`))[0]).toBe(503)
    engine.recover()
    expect((await ask('DELETE', `/${String(id)}`))[0]).toBe(204)
  })

  it('Delete agent image 503: the service deleted it, and the image is built again', async () => {
    const { ask, get, built } = await images({ hosted: true })
    const made = await built()
    engine.fail('cut off', 'deleteImage')
    expect((await ask('DELETE', `/${String(made.id)}`))[0]).toBe(503)
    engine.recover()
    expect(await driver.listImages()).not.toContain(made.image_ref)
    await sweepImages(app.ctx)
    expect(await get(made.id)).toMatchObject({ status: 'BUILDING', image_ref: null })
    await buildAll()
    expect(await get(made.id)).toMatchObject({ status: 'READY', image_ref: made.image_ref })
    expect(await driver.listImages()).toContain(made.image_ref)
    await sweepImages(app.ctx)
    expect(await get(made.id)).toMatchObject({ status: 'READY' })
  })

  it('Delete agent image 409: a container uses it', async () => {
    const { clusterId, ask, built } = await images({ hosted: true })
    const { id, image_ref } = await built()
    const container = {
      id: '0191b0a0-0000-7000-8000-000000000001',
      clusterId,
      image: String(image_ref),
      command: ['sleep', '600'],
      environment: {},
      limits: { cpus: 1, memoryMb: 64, processes: 10 },
      mounts: [],
    }
    await driver.startContainer(container)
    expect(await ask('DELETE', `/${String(id)}`)).toEqual([
      409,
      { message: expect.stringContaining(`A container is made from the image ${String(image_ref)}`) },
    ])
    await driver.stopContainer(container.id)
    expect((await ask('DELETE', `/${String(id)}`))[0]).toBe(204)
  })

  it('aborts a running build and leaves no image', async () => {
    const { ask, create } = await images({ hosted: true })
    const { id } = await create()
    engine.holdBuilds()
    await buildImages(app.ctx)
    expect((await ask('DELETE', `/${String(id)}`))[0]).toBe(204)
    engine.releaseBuilds()
    await waitForBuilds(app.ctx)
    expect((await driver.listImages()).filter((ref) => ref.includes(String(id)))).toEqual([])
  })

  it('is completed by a worker when the server process dies during it', async () => {
    const { org, ask, built } = await images({ hosted: true })
    const { id, image_ref } = await built()
    await sql`update agent_images set deleting_at = now() - interval '10 minutes' where id = ${String(id)}`.execute(
      app.db,
    )
    engine.fail('not reached', 'deleteImage')
    await sweepImages(app.ctx)
    engine.recover()
    await sweepImages(app.ctx)
    expect(await ask('GET', `/${String(id)}`)).toEqual([404, noImage])
    expect(await driver.listImages()).not.toContain(image_ref)
    expect(await auditTrail(app, org, 'AGENT_IMAGE_DELETED')).toMatchObject([{ actor: null }])
  })

  it('is deleted with its cluster, also from the service', async () => {
    const { admin, clusterPath, built } = await images({ hosted: true })
    const { image_ref } = await built()
    expect((await app.request('DELETE', clusterPath, { token: admin.token })).status).toBe(204)
    await sweepImages(app.ctx)
    expect(await driver.listImages()).not.toContain(image_ref)
  })
})

describe('the agentImageRef of a hosted queue', () => {
  async function aHostedQueue() {
    const place = await images({ hosted: true })
    const shape = { instanceShape: 'LINUX_AMD64_2X4' }
    const queue = await aQueue(app, { path: place.clusterPath }, place.admin, { hostedAgents: shape })
    const put = async (agentImageRef: unknown) => {
      const body = { hostedAgents: { ...shape, agentImageRef } }
      return (await app.request('PUT', queue.path, { token: place.admin.token, body })).status
    }
    return { ...place, put }
  }

  it('is a READY image of the cluster, or one from another registry', async () => {
    const { built, put } = await aHostedQueue()
    expect(await put((await built()).image_ref)).toBe(200)
    expect(await put('registry.example.com/team/tools:v2')).toBe(200)
  })

  it('is refused with 422 for an image of another cluster, one that is not READY, and one that does not exist', async () => {
    const [mine, theirs] = [await aHostedQueue(), await aHostedQueue()]
    const failed = await mine.built({ name: 'broken', dockerfile: 'RUN false' })
    for (const ref of [
      (await theirs.built()).image_ref,
      `localhost/millrace/${mine.clusterId}/${String(failed.id)}:v1`,
      'localhost/millrace/nobody/nothing:v1',
      '../containers/json',
      'cafe',
      'a b',
    ]) {
      expect(await mine.put(ref)).toBe(422)
    }
  })

  it('and a concurrent deletion of the image: one of them is refused', async () => {
    const { ask, built, put } = await aHostedQueue()
    const { id, image_ref } = await built()
    const [assigned, [deleted]] = await Promise.all([put(image_ref), ask('DELETE', `/${String(id)}`)])
    expect([
      [200, 409],
      [422, 204],
    ]).toContainEqual([assigned, deleted])
  })
})
