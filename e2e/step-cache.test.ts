// `cache:` of a step with a real server and real agents: the local one, whose jobs run as another user where that is possible,
// and one that a person starts.
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { aBucket } from '../testbed/src/bucket.ts'
import {
  aDataDirectory,
  aDirectory,
  aSharedDirectory,
  eventually,
  spawnMillrace,
  startServer,
  theServer,
  type Client,
  type Json,
  type Server,
  type Settings,
} from './millrace.ts'

const agentToken = 'a-registration-token-of-tests'
const adminToken = 'an-administrators-token-of-tests'

async function start(settings: Settings): Promise<{ server: Server; dataDir: string }> {
  const dataDir = aDataDirectory()
  const server = await startServer({
    MILLRACE_DATA_DIR: dataDir,
    MILLRACE_ADMIN_TOKEN: adminToken,
    MILLRACE_AGENT_TOKEN: agentToken,
    ...settings,
  })
  return { server, dataDir }
}

const pipelines = '/v2/organizations/default/pipelines'

async function aPipeline(server: Client, name: string, command: string, paths: string): Promise<void> {
  const clusters = await server.get('/v2/organizations/default/clusters')
  const configuration = JSON.stringify({
    env: { BUILDKITE_SKIP_CHECKOUT: 'true', BUILDKITE_CLEAN_CHECKOUT: 'true' },
    steps: [{ command, cache: paths }],
  })
  const body = { name, repository: 'none', cluster_id: clusters.body['0']?.['id'], configuration }
  const made = await server.post(pipelines, body)
  expect(made.status).toBe(201)
}

async function build(
  server: Client,
  name: string,
  more: object = {},
): Promise<{ state: string; log: string }> {
  const path = `${pipelines}/${name}/builds`
  const made = await server.post(path, { commit: 'HEAD', branch: 'main', ...more })
  expect(made.status).toBe(201)
  const findEnded = async () => {
    const { body } = await server.get(`${path}/${String(made.body['number'])}`)
    return (body['finished_at'] as unknown) !== null && body
  }
  const ended: Json = await eventually('the build ends', findEnded)
  const url = `${server.url}/v2/organizations/default/jobs/${String(ended['jobs']?.['0']?.['id'])}/log.txt`
  const log = await fetch(url, { headers: { Authorization: `Bearer ${server.token}` } })
  return { state: String(ended['state']), log: `\n${await log.text()}` }
}

const fromFork = {
  pull_request_id: 7,
  pull_request_base_branch: 'main',
  pull_request_repository: 'https://git.example.com/stranger/app.git',
}

/** Counts the builds in a file of the cache. */
const count = 'mkdir -p deps/in; echo x >> deps/in/count; ln -sf in/count deps/link; wc -l < deps/link'

describe('the cache of a step', () => {
  it('is kept by the local agent, and read by forks without being written', async () => {
    const { server, dataDir } = await start({})
    await aPipeline(server, 'counting', count, 'deps')
    const first = await build(server, 'counting')
    expect(first).toMatchObject({ state: 'passed', log: expect.stringContaining('# There is no cache yet') })
    expect(first.log).toMatch(/# Saved 1 file, 2 B; 1 of 1 pack changed/)
    const second = await build(server, 'counting')
    expect(second.log).toMatch(/# Restored 1 file, 2 B, from branch main/)
    expect(second.log).toMatch(/\n2\n/)
    const topic = await build(server, 'counting', { branch: 'topic' })
    expect(topic.log).toMatch(/# Restored 1 file, 4 B, from branch main/)
    const fork = await build(server, 'counting', { branch: 'theirs', ...fromFork })
    expect(fork.log).toMatch(/# Restored 1 file, 4 B, from branch main/)
    expect(fork.log).toContain('# The cache is not saved: builds of pull requests from forks')
    expect((await build(server, 'counting')).log).toMatch(/\n3\n/)
    const { body: caches } = await server.get(`${pipelines}/counting/caches`)
    expect(Object.values(caches).map(({ branch }) => String(branch))).toEqual(['main', 'topic'])
    // Somebody loses or damages the store.
    const blobs = join(dataDir, 'blobs')
    for (const folder of readdirSync(blobs)) rmSync(join(blobs, folder), { recursive: true })
    const without = await build(server, 'counting')
    expect(without.log).toContain('# The job runs without a cache: a blob is missing')
    expect(without).toMatchObject({ state: 'passed', log: expect.stringMatching(/\n1\n/) })
    expect((await build(server, 'counting')).log).toMatch(/\n2\n/)
  })

  it('goes between agents of different machines and a bucket', async () => {
    const bucket = await aBucket()
    onTestFinished(() => bucket.close())
    const { server } = await start({ MILLRACE_AGENTS: '0', ...bucket.env('ci', '&direct=on') })
    const home = aSharedDirectory()
    await aPipeline(server, 'counting', count.replaceAll('deps', '~/deps'), '~/deps')
    for (const turn of [1, 2, 3]) {
      const folder = aDirectory()
      const HOME = join(home, String(turn))
      mkdirSync(HOME)
      const place = ['--endpoint', `${server.url}/v3`, '--token', agentToken, '--build-path', folder]
      const agent = spawnMillrace(['agent', 'start', ...place, '--disconnect-after-job'], { HOME })
      const { state, log } = await build(server, 'counting')
      expect([state, log]).toEqual(['passed', expect.stringMatching(new RegExp(`\\n${turn}\\n`))])
      expect((await agent.ended).code).toBe(0)
    }
    expect((await bucket.keys()).filter((key) => key.startsWith('ci/caches/')).length).toBeGreaterThan(1)
  })

  it('is not saved with a file that cannot be read, and the job passes', async () => {
    const server = theServer()
    const name = `unreadable-${Date.now()}`
    await aPipeline(server, name, 'mkdir -p deps; echo x > deps/a; chmod 0 deps/a; id -u', 'deps')
    const { state, log } = await build(server, name)
    expect(state).toBe('passed')
    // Only a job of root can read it.
    expect(log).toMatch(/\n0\n|# The cache is not saved: EACCES/)
  })
})
