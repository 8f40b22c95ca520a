import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../../test/app.ts'
import { anAgent, anAgentWorld, type AgentWorld, type TestRun } from '../../../test/agent-client.ts'
import { aPipeline } from '../../../test/builders.ts'
import { aBuild } from '../../../test/runs.ts'

const app = useApp()

async function aRun(world: AgentWorld): Promise<TestRun> {
  await aBuild(app, world.org, await aPipeline(app, world.org, 'steps: [{ command: one }]'))
  return (await anAgent(app, world.token)).begin()
}

let run: TestRun
let neighbor: TestRun
let stranger: TestRun
beforeAll(async () => {
  const world = await anAgentWorld(app)
  ;[run, neighbor, stranger] = [await aRun(world), await aRun(world), await aRun(await anAgentWorld(app))]
})

const digest = (letter: string) => ({ algorithm: 'sha256', value: letter.repeat(64) })
const blobs = (letter: string) => [{ digest: digest(letter), file_size: 1024, compression: 'zstd' }]

/** Parts that begin with `?` are not mandatory. */
const key = (...parts: string[]) =>
  parts.map((part) => ({ value: part.replace(/^\?/, ''), mandatory: !part.startsWith('?') }))

const peek = (of: TestRun, paths: string[], ...parts: string[]) =>
  of.call('POST', 'cache_registries/~/peek', { body: { target_paths: paths, cache_key: key(...parts) } })

const retrieve = (of: TestRun, paths: string[], ...parts: string[]) =>
  of.call('POST', 'cache_registries/~/retrieve', { body: { target_paths: paths, cache_key: key(...parts) } })

const announce = (of: TestRun, paths: string[], letter: string, ...parts: string[]) =>
  of.call('PUT', 'cache_registries/~/store', {
    body: { target_paths: paths, cache_key: key(...parts), blobs: blobs(letter), platform: 'linux/amd64' },
  })

const commit = (of: TestRun, uploadId: unknown) =>
  of.call('PUT', 'cache_registries/~/commit', { body: { upload_id: uploadId } })

async function save(of: TestRun, paths: string[], letter: string, ...parts: string[]): Promise<void> {
  const { body } = await announce(of, paths, letter, ...parts)
  expect((await commit(of, body.upload_id)).status).toBe(200)
}

async function countEntries(key: string): Promise<number> {
  const { rows } = await sql`select from cache_entries where key_values = ${key}::text[]`.execute(app.db)
  return rows.length
}

describe('GET /v3/cache_registries/:registry', () => {
  it('shows the cluster’s default registry as ~, the same one to many that ask at once', async () => {
    const world = await anAgentWorld(app)
    const fresh = await aRun(world)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => fresh.call('GET', 'cache_registries/~')),
    )
    expect(answers[0]).toMatchObject({
      status: 200,
      body: { uuid: expect.any(String), name: 'Default', store: 'agent_managed' },
    })
    expect(new Set(answers.map(({ body }) => body.uuid)).size).toBe(1)
    expect((await fresh.call('GET', 'cache_registries/default')).body).toEqual(answers[0]?.body)
  })

  it('answers 404 for one that is not there, in the words agents know', async () => {
    for (const [method, path] of [
      ['GET', 'nope'],
      ['POST', 'nope/peek'],
    ] as const) {
      const body = { target_paths: ['a'], cache_key: key('a') }
      const answer = await run.call(method, `cache_registries/${path}`, method === 'GET' ? {} : { body })
      expect([answer.status, answer.body]).toEqual([404, { message: 'Cache registry not found' }])
    }
  })
})

describe('POST /v3/cache_registries/:registry/peek', () => {
  it('misses with exactly the text that agents take for a miss', async () => {
    const answer = await peek(run, ['nothing'], 'here')
    expect([answer.status, answer.body]).toEqual([404, { message: 'Cache entry not found' }])
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  })

  it('finds an entry once it is committed, whatever the order of its paths', async () => {
    const { body: announced } = await announce(run, ['b', 'a'], 'a', 'peek', 'linux')
    expect(announced).toEqual({
      upload_id: expect.any(String),
      multipart: false,
      upload_instructions: [],
      message: expect.any(String),
    })
    expect((await peek(run, ['a', 'b'], 'peek', 'linux')).status).toBe(404)
    expect((await commit(neighbor, announced.upload_id)).body).toEqual({ message: expect.any(String) })
    expect((await commit(run, announced.upload_id)).status).toBe(200)
    const { status, body } = await peek(neighbor, ['a', 'b', 'a'], 'peek', 'linux')
    expect([status, body]).toEqual([
      200,
      {
        target_paths: ['a', 'b'],
        cache_key: key('peek', 'linux'),
        blobs: blobs('a'),
        store: 'agent_managed',
        message: expect.any(String),
      },
    ])
    expect((await peek(run, ['a'], 'peek', 'linux')).status).toBe(404)
    expect((await peek(run, ['a', 'b'], 'peek')).status).toBe(404)
  })

  it('does not take a similar entry for the same', async () => {
    await save(run, ['near'], 'b', 'near', 'v1')
    expect((await peek(run, ['near'], 'near', '?v2')).status).toBe(404)
  })

  it('shows nothing to another cluster', async () => {
    await save(run, ['ours'], 'c', 'ours')
    expect((await peek(stranger, ['ours'], 'ours')).status).toBe(404)
    expect((await peek(neighbor, ['ours'], 'ours')).status).toBe(200)
  })
})

describe('POST /v3/cache_registries/:registry/retrieve', () => {
  it('prefers the exact entry, then the one with the most parts, then the newest', async () => {
    await save(run, ['p'], '1', 'node', 'linux', 'x', 'y')
    await save(run, ['p'], '2', 'node', 'linux', 'z', 'z')
    await save(run, ['p'], '3', 'node', 'darwin', 'x', 'y')
    const found = async (...parts: string[]) => {
      const { status, body } = await retrieve(run, ['p'], ...parts)
      return status === 200 ? [String(body.blobs['0']?.digest.value).charAt(0), body.fallback] : status
    }
    expect(await found('node', 'linux', '?x', '?y')).toEqual(['1', false])
    expect(await found('node', 'linux', '?x', '?new')).toEqual(['1', true])
    expect(await found('node', 'linux', '?new', '?new')).toEqual(['2', true])
    expect(await found('node', 'linux', 'new', '?y')).toBe(404)
    expect(await found('node', 'windows', '?x', '?y')).toBe(404)
    const { body } = await retrieve(run, ['p'], 'node', 'linux', '?x', '?new')
    expect(body).toEqual({
      target_paths: ['p'],
      cache_key: key('node', 'linux', 'x', 'y'),
      blobs: blobs('1'),
      store: 'agent_managed',
      expires_at: expect.stringMatching(/Z$/),
      fallback: true,
      multipart: false,
      download_instructions: [],
      message: expect.any(String),
    })
  })

  it('does not find what has expired', async () => {
    await save(run, ['old'], '1', 'old')
    await sql`update cache_entries set expires_at = '2020-01-01' where key_values = '{old}'`.execute(app.db)
    expect((await retrieve(run, ['old'], 'old')).body).toEqual({ message: 'Cache entry not found' })
    await save(run, ['other'], '2', 'other')
    expect(await countEntries('{old}')).toBe(0)
  })
})

describe('PUT /v3/cache_registries/:registry/store and commit', () => {
  it('let the last of several at one address win', async () => {
    const uploads = await Promise.all(
      ['1', '2', '3'].map((letter) => announce(run, ['race'], letter, 'race')),
    )
    const answers = await Promise.all(uploads.map(({ body }) => commit(run, body.upload_id)))
    expect(answers.map(({ status }) => status)).toContain(200)
    await save(run, ['race'], '4', 'race')
    expect((await peek(run, ['race'], 'race')).body.blobs).toEqual(blobs('4'))
    expect(await countEntries('{race}')).toBe(1)
  })

  it('refuse an upload that was not announced, here or in another cluster', async () => {
    const { body } = await announce(run, ['mine'], '1', 'mine')
    for (const [of, id] of [
      [run, randomUUID()],
      [run, 'nonsense'],
      [stranger, body.upload_id],
    ] as const) {
      expect((await commit(of, id)).status).toBe(404)
    }
  })

  it.each([
    { cache_key: [] },
    { target_paths: [] },
    { blobs: [] },
    { blobs: [{ digest: { algorithm: 'md5', value: 'x' }, file_size: 1, compression: 'zstd' }] },
    { blobs: [{ digest: digest('a'), file_size: -1, compression: 'zstd' }] },
  ])('refuse %j', async (given) => {
    const body = {
      target_paths: ['a'],
      cache_key: key('a'),
      blobs: blobs('a'),
      platform: 'linux/amd64',
      ...given,
    }
    const answer = await run.call('PUT', 'cache_registries/~/store', { body })
    expect([answer.status, Object.keys(answer.body)]).toEqual([422, ['message']])
  })
})

describe('POST /v3/cache_registries/:registry/expire', () => {
  it('takes back an entry whose bytes are gone, and only that', async () => {
    await save(run, ['gone'], '1', 'gone', 'a')
    await save(run, ['gone'], '2', 'gone', 'b')
    const expire = () =>
      run.call('POST', 'cache_registries/~/expire', {
        body: { target_paths: ['gone'], cache_key: key('gone', 'a') },
      })
    expect([(await expire()).status, (await expire()).status]).toEqual([200, 200])
    expect((await peek(run, ['gone'], 'gone', 'a')).status).toBe(404)
    expect((await peek(run, ['gone'], 'gone', 'b')).status).toBe(200)
  })
})
