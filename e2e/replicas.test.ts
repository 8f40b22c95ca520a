import { describe, expect, it } from 'vitest'
import { anEmptyDatabase } from './databases.ts'
import { aDirectory, eventually, millrace, spawnMillrace, startMs, startServer, stop } from './millrace.ts'

describe('several processes on one DATABASE_URL', () => {
  it('create one first organization when they start at once', async () => {
    const settings = {
      DATABASE_URL: await anEmptyDatabase('replicas'),
      MILLRACE_SECRET_KEY: 'a key of 32+ characters that all replicas share',
      MILLRACE_DATA_DIR: `${aDirectory()}/never-made`,
      MILLRACE_DRAIN_SECONDS: '0',
    }
    const replicas = await Promise.all([startServer(settings), startServer(settings), startServer(settings)])
    const tokens = replicas.map(({ token }) => token).filter((token) => token !== '')
    expect(tokens).toHaveLength(1)
    const [token = ''] = tokens
    for (const replica of replicas) {
      const { body } = await replica.get('/v2/organizations/default/clusters', token)
      expect(body).toMatchObject([{ name: 'Default cluster' }])
    }

    // A revocation takes effect at once on all of them.
    const { body } = await replicas[0].get('/v2/access-token', token)
    expect((await millrace(['token', 'revoke', String(body['uuid'])], settings)).code).toBe(0)
    for (const replica of replicas) {
      expect((await replica.get('/v2/organizations/default/clusters', token)).status).toBe(401)
    }
    const ends = await Promise.all(replicas.map(stop))
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0])
  })
})

describe('millrace serve and millrace worker', () => {
  it('take one role each, and create no first organization', async () => {
    const settings = {
      DATABASE_URL: await anEmptyDatabase('roles'),
      MILLRACE_DATA_DIR: aDirectory(),
      MILLRACE_DRAIN_SECONDS: '0',
    }
    const api = await startServer(settings, 'serve')
    expect(api.token).toBe('')
    expect((await api.get('/readyz')).status).toBe(200)
    const worker = await startServer(settings, 'worker')
    await expect(worker.get('/readyz')).rejects.toThrow('fetch failed')
    expect((await api.get('/v2/organizations/default/clusters', 'mrt_unknown')).status).toBe(401)
    // Both log JSON lines to stderr.
    const lines = api.output().stderr.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
      expect.objectContaining({ method: 'GET', path: '/readyz', status: 200 }),
    )
    expect((await stop(api)).code).toBe(0)
    expect((await stop(worker)).code).toBe(0)
  })

  it('create the first organization if its token is set, and agents find theirs in the environment', async () => {
    const [token, agentToken] = ['a-token-chosen-by-a-script', 'a-token-chosen-for-agents']
    const settings = {
      DATABASE_URL: await anEmptyDatabase('first_tokens'),
      MILLRACE_DATA_DIR: aDirectory(),
      MILLRACE_ADMIN_TOKEN: token,
      MILLRACE_AGENT_TOKEN: agentToken,
      MILLRACE_DRAIN_SECONDS: '0',
    }
    const api = await startServer(settings, 'serve')
    expect(api.token).toBe('')
    expect(api.output().stdout + api.output().stderr).not.toContain(token)
    const worker = await startServer(settings, 'worker')
    const agent = spawnMillrace(['agent', 'start'], {
      MILLRACE_AGENT_TOKEN: agentToken,
      MILLRACE_AGENT_ENDPOINT: `${api.url}/v3`,
      MILLRACE_AGENT_QUEUE: '',
      MILLRACE_AGENT_TAGS: 'os=linux',
      MILLRACE_AGENT_SPAWN: '2',
      MILLRACE_AGENT_BUILD_PATH: aDirectory(),
    })
    const pipelines = '/v2/organizations/default/pipelines'
    const configuration = 'steps: [{command: "env | grep -c ^MILLRACE_AGENT_", agents: {os: linux}}]'
    const pipeline = { name: 'Variables', repository: 'none', configuration }
    expect((await api.post(pipelines, pipeline, token)).status).toBe(201)
    const build = { commit: 'HEAD', branch: 'main', env: { BUILDKITE_SKIP_CHECKOUT: 'true' } }
    const { body } = await api.post(`${pipelines}/variables/builds`, build, token)
    const path = `${pipelines}/variables/builds/${String(body['number'])}`
    const ended = await eventually('the build ends', async () => {
      const { body: found } = await api.get(path, token)
      return found['finished_at'] !== null && found
    })
    expect(ended['state']).toBe('passed')
    const job = String(ended['jobs']?.['0']?.['id'])
    const { body: log } = await api.get(`${path}/jobs/${job}/log`, token)
    // Every variable but the token.
    expect(String(log['content'])).toMatch(/^5\r?$/m)
    const { body: agents } = await api.get('/v2/organizations/default/agents', token)
    expect(agents).toHaveLength(2)
    expect((await stop(agent)).code).toBe(0)
    expect((await stop(api)).code).toBe(0)
    expect((await stop(worker)).code).toBe(0)
  })

  it('say how to create the first user, and refuse a restore and another secret key', async () => {
    const key = 'k'.repeat(40)
    const settings = {
      DATABASE_URL: await anEmptyDatabase('first_steps'),
      MILLRACE_DATA_DIR: aDirectory(),
      MILLRACE_SECRET_KEY: key,
      MILLRACE_DRAIN_SECONDS: '0',
      PORT: '0',
    }
    const api = spawnMillrace(['serve'], settings)
    const said = async () => api.output().stdout.includes('token create --user') && api.output().stdout
    expect(await eventually('it says how to begin', said, startMs)).toContain('org create acme')
    const restored = await millrace(['restore', '/nothing/there.tar.gz'], settings)
    expect(restored).toMatchObject({ code: 1, stdout: '' })
    expect(restored.stderr).toMatch(/^A Millrace server runs on this database: .*\.\n$/)

    const other = await millrace(['serve'], { ...settings, MILLRACE_SECRET_KEY: 'o'.repeat(40) })
    expect(other).toMatchObject({ code: 1, stdout: '' })
    expect(other.stderr).toMatch(/^The secrets in this database are sealed with another key: .*\.\n$/)
    const both = await startServer({ ...settings, MILLRACE_SECRET_KEY: `${'n'.repeat(40)},${key}` }, 'worker')
    expect(both.output().stderr).toContain('MILLRACE_SECRET_KEY holds 2 keys: a comma separates keys.')
    // It could not open values sealed with the new key.
    expect((await millrace(['worker'], settings)).code).toBe(1)
    const split = await millrace(['serve'], { ...settings, MILLRACE_SECRET_KEY: `${key},and more` })
    expect(split.stderr).toContain('no key can hold a comma')
    expect((await stop(both)).code).toBe(0)
    expect((await stop(api)).code).toBe(0)
  })
})
