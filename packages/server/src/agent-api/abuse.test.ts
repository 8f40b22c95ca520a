// Known attacks against the agent API. The numbers are those of docs/abuse-cases.md.
import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld, call, openStream } from '../../test/agent-client.ts'
import { useOwnApp } from '../../test/app.ts'
import { aFile, announce, batchOf, here, report, send, upload } from '../../test/artifact-files.ts'
import { aPipeline } from '../../test/builders.ts'
import { aRunningJob, sendChunk, type RunningScene } from '../../test/job-runs.ts'
import { aBuild, statesOf, applyEvent } from '../../test/runs.ts'
import { watchAgents } from '../conductor/lost-agents.ts'
import { sweep } from '../conductor/sweep.ts'

const app = useOwnApp()

const later = (seconds: number) => ({ ...app.ctx, now: () => new Date(Date.now() + seconds * 1000) })

/** Everything below the data directory. */
const filesHere = async () => {
  const entries = await readdir(app.ctx.config.dataDir, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

const download = async ({ short, admin }: RunningScene, id: string | undefined) => {
  const { body } = await app.request('GET', `${short}/artifacts/${id}/download`, { token: admin.token })
  return fetch(here(app, String(body.url)))
}

describe('abuse case 5: encoded traversal in an artifact path', () => {
  const hostile = [
    '%2e%2e/%2e%2e/etc/passwd',
    '..%2f..%2fetc%2fpasswd',
    '..%252f..%252fx',
    'a/..%c0%af../b',
    '\uff0e\uff0e/x',
    '....//....//x',
  ]

  it('names the artifact and nothing else: its bytes come back, and no file is called so', async () => {
    const scene = await aRunningJob(app)
    const ids = await upload(
      app,
      scene.run,
      hostile.map((path) => aFile(path, `content of ${path}`)),
    )
    for (const [index, id] of ids.entries()) {
      const response = await download(scene, id)
      expect(await response.text()).toBe(`content of ${hostile[index]}`)
      expect(response.headers.get('content-disposition')).not.toMatch(/filename="?[^"]*\.\.\//)
    }
    for (const name of await filesHere()) expect(name).toMatch(/^[0-9a-zA-Z._-]+$/)
  })

  it('in the address of a file reaches no other file', async () => {
    const scene = await aRunningJob(app)
    const [id] = await upload(app, scene.run, [aFile('a.txt')])
    for (const way of ['..%2f..%2fsecret-key', '%2e%2e%2f%2e%2e%2fsecret-key', `${id}%2f..%2f..%2fx`]) {
      const path = `/v2/artifacts/${way}/file`
      expect((await fetch(app.address + path)).status).toBeGreaterThanOrEqual(400)
      const authorized = await app.request('GET', `${scene.short}/artifacts/${way}`, {
        token: scene.admin.token,
      })
      expect(authorized.status).toBe(404)
    }
  })
})

/** Two builds of one cluster, and one of another organization. */
const threeBuilds = async () => {
  const own = await aRunningJob(app)
  return { own, neighbour: await aRunningJob(app, undefined, own), stranger: await aRunningJob(app) }
}

describe('abuse case 8: an agent reads or writes the files of another build', () => {
  it('may not add files or output to it, nor report on its files', async () => {
    const { own, neighbour, stranger } = await threeBuilds()
    for (const victim of [neighbour, stranger]) {
      const batch = { id: randomUUID(), upload_destination: '', artifacts: [] }
      const add = await own.run.call('POST', `jobs/${victim.run.id}/artifacts`, { body: batch })
      expect(add.status).toBe(403)
      const chunk = { sequence: 1, offset: 0, text: 'forged' }
      const log = await sendChunk(app, { id: victim.run.id, token: own.run.token }, chunk)
      expect(log.status).toBe(403)

      const file = aFile('theirs.txt')
      const { artifact_ids: ids } = batchOf(await announce(victim.run, [file]))
      // Under the own job's address, too, the artifacts of others are passed over.
      await report(own.run, [{ id: ids[0] ?? '', state: 'error' }])
      const shown = await app.request('GET', `${victim.short}/artifacts/${ids[0]}`, {
        token: victim.admin.token,
      })
      expect(shown.body.state).toBe('new')
    }
  })

  it('may not send bytes for its files with a ticket of its own', async () => {
    const { own, stranger } = await threeBuilds()
    const file = aFile('a.txt')
    const mine = batchOf(await announce(own.run, [file], { multipart_supported: false }))
    const theirs = batchOf(await announce(stranger.run, [file], { multipart_supported: false }))
    const instructions = mine.per_artifact_instructions?.[mine.artifact_ids[0] ?? ''] ?? {}
    const data = { ...instructions.data, artifact_id: theirs.artifact_ids[0] ?? '' }
    expect((await send(app, { ...instructions, data }, file)).status).toBe(403)
  })

  it('may look for files in its own cluster and in no other', async () => {
    const { own, neighbour, stranger } = await threeBuilds()
    for (const scene of [neighbour, stranger]) await upload(app, scene.run, [aFile('a.txt')])
    const search = (scene: RunningScene) =>
      own.run.call('GET', `builds/${scene.build.id}/artifacts/search?query=*&state=finished`)
    expect((await search(neighbour)).body).toMatchObject([{ path: 'a.txt' }])
    expect((await search(stranger)).status).toBe(404)
  })
})

describe('abuse case 10: the name of an uploaded file used as a path', () => {
  it.each(['../../../../tmp/millrace-abuse', '/tmp/millrace-abuse', 'C:\\millrace-abuse', 'a\\..\\..\\b'])(
    '%j is not looked at: the ticket says which file it is',
    async (path) => {
      const scene = await aRunningJob(app)
      const file = aFile('ok.txt', 'content')
      const { artifact_ids: ids, per_artifact_instructions: all = {} } = batchOf(
        await announce(scene.run, [file], { multipart_supported: false }),
      )
      const id = ids[0] ?? ''
      expect((await send(app, all[id] ?? {}, { ...file, path })).status).toBe(200)
      await report(scene.run, [{ id, state: 'finished' }])
      expect(await (await download(scene, id)).text()).toBe('content')
      expect((await readdir('/tmp')).join()).not.toContain('millrace-abuse')
      expect((await filesHere()).join()).not.toContain('millrace-abuse')
    },
  )
})

describe('abuse case 16: a job’s id under the address of another organization', () => {
  it('is 404 on every address that names a job, with tokens of either side', async () => {
    const { own, stranger } = await threeBuilds()
    await upload(app, stranger.run, [aFile('a.txt')])
    const ways = ['', '/log', '/log.txt', '/log/rows', '/env', '/artifacts', '/waiting']
    for (const way of ways) {
      const path = `${own.org.path}/jobs/${stranger.run.id}${way}`
      expect([way, (await app.request('GET', path, { token: own.admin.token })).status]).toEqual([way, 404])
      expect([way, (await app.request('GET', path, { token: stranger.admin.token })).status]).toEqual([
        way,
        404,
      ])
    }
    for (const verb of ['cancel', 'retry', 'reprioritize', 'unblock']) {
      const path = `${own.org.path}/jobs/${stranger.run.id}/${verb}`
      const answer = await app.request('PUT', path, { token: own.admin.token, body: { priority: 1 } })
      expect([verb, answer.status]).toEqual([verb, 404])
    }
    expect(await stranger.run.state()).toBe('running')
  })
})

describe('abuse case 17: an agent speaks for the job of another', () => {
  const verbs: ReadonlyArray<[string, string, object]> = [
    ['PUT', 'start', {}],
    ['PUT', 'finish', { exit_status: '0' }],
    ['POST', 'data/set', { key: 'k', value: 'v' }],
    ['POST', 'annotations', { body: 'x' }],
    ['POST', 'pipelines', { uuid: randomUUID(), pipeline: { steps: ['wait'] } }],
    ['POST', 'oidc/tokens', {}],
    ['PUT', 'promise_failure', { exit_status: 1 }],
  ]

  let scenes: Awaited<ReturnType<typeof threeBuilds>>
  let tokens: string[] = []

  beforeAll(async () => {
    scenes = await threeBuilds()
    const ended = await aRunningJob(app, undefined, scenes.own)
    await ended.run.finish()
    const others = [scenes.neighbour, scenes.stranger, ended]
    tokens = [scenes.own.token, ...others.flatMap(({ run }) => [run.token, run.agent.session])]
  })

  it.each(verbs)('%s jobs/:id/%s is refused to every other token', async (method, verb, body) => {
    const { run } = scenes.own
    const answers = await Promise.all(
      tokens.map((token) => call(app, token, method, `jobs/${run.id}/${verb}`, { body })),
    )
    for (const { status } of answers) expect(status).toBeOneOf([401, 403])
    expect(await run.state()).toBe('running')
  })

  it('may not accept or acquire it, nor hear what its agent hears', async () => {
    const { own } = scenes
    const idle = await anAgent(app, own.token)
    for (const verb of ['accept', 'acquire']) {
      expect((await idle.call('PUT', `jobs/${own.run.id}/${verb}`)).status).toBe(422)
    }
    expect((await openStream(idle, own.run.agent.id)).status).toBe(404)
    expect(await own.run.state()).toBe('running')
  })

  it('may not speak for a job that was taken from it and given to another', async () => {
    const world = await anAgentWorld(app)
    await aBuild(app, world.org, await aPipeline(app, world.org, 'steps: [{ command: one }]'))
    const slow = await anAgent(app, world.token)
    const stale = await slow.accept((await slow.offered()) ?? '')
    await slow.call('POST', 'disconnect')
    const fresh = await (await anAgent(app, world.token)).begin()
    expect(fresh.id).toBe(stale.id)
    for (const answer of [await stale.start(), await stale.finish(0)]) expect(answer.status).toBe(401)
    expect(await fresh.state()).toBe('running')
  })
})

describe('abuse case 20: secrets in the server’s own log and lists', () => {
  it('no token of anybody is in a line of the log, also when requests fail', async () => {
    const scene = await aRunningJob(app)
    const { run, admin, token } = scene
    await run.call('PUT', `jobs/${run.id}/nothing`, { body: { broken: true } })
    await call(app, token, 'POST', 'register', { body: { meta_data: 'wrong' } })
    await call(app, `${run.token}x`, 'GET', `jobs/${run.id}`)
    const file = aFile('a.txt')
    const [id] = await upload(app, run, [file])
    const { body } = await app.request('GET', `${scene.short}/artifacts/${id}/download`, {
      token: admin.token,
    })
    await fetch(here(app, String(body.url)))
    const ticket = new URL(String(body.url)).search.replace(/^\?\w+=/, '')
    const logged = app.logLines.join('\n')
    for (const secret of [run.token, run.agent.session, admin.token, token, ticket]) {
      expect(logged).not.toContain(secret)
    }
  })

  it('lists of tokens, agents, jobs and their environments show none', async () => {
    const scene = await aRunningJob(app)
    const { run, admin, org, cluster, token } = scene
    const secrets = [run.token, run.agent.session, token, admin.token]
    const paths = [
      `${cluster.path}/tokens`,
      `${org.path}/agents`,
      `${org.path}/agents/${run.agent.id}`,
      scene.buildPath,
      scene.short,
      `${scene.short}/env`,
      '/v2/access-token',
    ]
    for (const path of paths) {
      const { status, text } = await app.request('GET', path, { token: admin.token })
      expect([path, status]).toEqual([path, 200])
      for (const secret of secrets) expect(text).not.toContain(secret)
    }
  })
})

describe('abuse case 21: jobs between two states', () => {
  const aJobAndAgent = async () => {
    const world = await anAgentWorld(app)
    const build = await aBuild(app, world.org, await aPipeline(app, world.org, 'steps: [{ command: one }]'))
    return { world, build, agent: await anAgent(app, world.token) }
  }
  const states = async (build: Parameters<typeof statesOf>[1]) => (await statesOf(app, build))['one']

  it('one that is assigned and never accepted goes to another agent', async () => {
    const { world, build, agent } = await aJobAndAgent()
    expect(await agent.offered()).not.toBeNull()
    await sweep(later(61))
    expect(await states(build)).toBe('scheduled')
    const run = await (await anAgent(app, world.token)).begin()
    expect((await run.finish()).status).toBe(200)
    expect(await states(build)).toBe('passed')
  })

  it('one whose agent accepts and dies goes to another agent', async () => {
    const { build, agent } = await aJobAndAgent()
    await agent.accept((await agent.offered()) ?? '')
    await watchAgents(later(181))
    expect(await states(build)).toBe('scheduled')
  })

  it('one that is canceled before its start ends at the first refusal, and is offered no more', async () => {
    const { build, agent } = await aJobAndAgent()
    const run = await agent.accept((await agent.offered()) ?? '')
    await applyEvent(app, build, { type: 'cancel_build', reason: null })
    expect((await run.start()).status).toBe(422)
    expect(await states(build)).toBe('canceled')
    // An agent that tries again finds that its token has ended with the job.
    expect((await run.start()).status).toBe(401)
    expect(await agent.offered()).toBeNull()
  })

  it('one of a canceled build is not retried, by rule or by hand', async () => {
    const world = await anAgentWorld(app)
    const steps = 'steps: [{ command: one, retry: { automatic: [{ exit_status: "*", limit: 2 }] } }]'
    const pipeline = await aPipeline(app, world.org, steps)
    const build = await aBuild(app, world.org, pipeline)
    const run = await (await anAgent(app, world.token)).begin()
    await applyEvent(app, build, { type: 'cancel_build', reason: null })
    expect((await run.finish(-1, { signal: 'SIGTERM', signal_reason: 'cancel' })).status).toBe(200)
    expect(await statesOf(app, build)).toEqual({ one: 'canceled' })
    const path = `${world.org.path}/jobs/${run.id}/retry`
    expect((await app.request('PUT', path, { token: world.admin.token })).status).toBe(422)
    expect(await (await anAgent(app, world.token)).offered()).toBeNull()
  })
})
