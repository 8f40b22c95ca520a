// Pull requests of which no delivery told, at a small host program that speaks git and the list of Gitea's API.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually, startApp, type TestApp } from '../../test/app.ts'
import { aCluster, anAdmin, anOrganization, unique, type TestUser } from '../../test/builders.ts'
import { commitOf, deliver, giteaEvent } from '../../test/deliveries.ts'
import { aGitHost, type TestGitHost } from '../../test/remote-hosts/git-host.ts'
import { pollDue } from '../../test/polls.ts'
import type { Context } from '../context.ts'
import { isUntrusted } from '../conductor/trust.ts'
import { outboundClient } from '../lib/outbound.ts'

let now = new Date()
let app: TestApp
let host: TestGitHost
beforeAll(async () => {
  app = await startApp({ now: () => now, env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })
  host = await aGitHost()
})
afterAll(async () => {
  await host.close()
  await app.close()
})

interface Shown {
  number: number
  title: string
  state: 'open'
  head: { ref: string; sha: string; repo: { id: number; full_name: string } }
  base: { ref: string; repo: { id: number; full_name: string } }
}

let open: Shown[]
let asked: Array<{ path: string; status: number; authorization: string | undefined }>
let refusal: { status: number } | null
/** Pages from this one on are never answered. */
let silentFrom: number
/** Sent instead of the list. */
let streamed: (() => Readable) | null
beforeEach(() => {
  open = []
  streamed = null
  silentFrom = Infinity
  asked = []
  refusal = null
  host.api = (path, headers) => {
    const page = Number(new URL(path, host.address).searchParams.get('page'))
    const body = open.slice((page - 1) * 50, page * 50)
    const etag = `"${createHash('sha1').update(JSON.stringify(open)).digest('hex')}"`
    const answer =
      refusal ?? (headers['if-none-match'] === etag ? { status: 304 } : { headers: { ETag: etag }, body })
    asked.push({
      path,
      status: 'status' in answer ? answer.status : 200,
      authorization: headers.authorization,
    })
    if (streamed !== null) return { stream: streamed() }
    return page >= silentFrom ? null : answer
  }
})

/** Pipelines of other tests are polled too. */
const askedOf = ({ json }: { json: { full_name: string } }) =>
  asked.filter(({ path }) => path.includes(`/${json.full_name}/`))

const aPull = (number: number, head: string, { fork = false } = {}): Shown => {
  const own = { id: 1, full_name: 'app' }
  return {
    number,
    title: `Change ${number}`,
    state: 'open',
    head: { ref: `feature-${number}`, sha: commitOf(head), repo: fork ? { id: 2, full_name: 'fork' } : own },
    base: { ref: 'main', repo: own },
  }
}

async function aConnected(settings: object = {}) {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  await aCluster(app, org, admin)
  const repository = await host.aRepository(unique('pulled'))
  await repository.commit('main')
  const connection = { type: 'gitea', url: host.address, token: 'a-token-of-the-host' }
  await app.request('POST', `${org.path}/repository_connections`, { token: admin.token, body: connection })
  const made = await app.request('POST', `${org.path}/pipelines`, {
    token: admin.token,
    body: {
      name: unique('pulled'),
      repository: repository.json.clone_url,
      configuration: 'steps: [{ command: make }]',
      provider_settings: settings,
    },
  })
  const id = String(made.body.id)
  const path = `${org.path}/pipelines/${String(made.body.slug)}`
  await deliver(app, { id }, giteaEvent('ping', { repository: repository.json }))
  return { org, id, repository, ...toolsOf(admin, path, id) }
}

const toolsOf = (admin: TestUser, path: string, id: string) => ({
  get: async (below: string) => (await app.request('GET', `${path}${below}`, { token: admin.token })).body,
  builds: async () =>
    (await app.request('GET', `${path}/builds`, { token: admin.token })).list.map((build) => {
      const pull = build.pull_request as { id?: string } | null
      return [pull?.id, build.branch, build.commit, build.found_by]
    }),
  reconcile: (ctx?: Context) => reconcileAll([id], ctx),
})

async function reconcileAll(ids: readonly string[], ctx: Context = app.ctx): Promise<void> {
  now = new Date(now.getTime() + 12 * 60_000)
  const at = now.toISOString()
  await eventually('the repositories are polled', async () => {
    await sql`update pipeline_polls set next_poll_at = ${at} where pipeline_id = any (${ids}::uuid[])`.execute(
      app.db,
    )
    await pollDue(ctx)
    const { rows } = await sql`
      select from pipeline_polls where pipeline_id = any (${ids}::uuid[]) and polled_at >= ${at}`.execute(
      app.db,
    )
    return rows.length === ids.length
  })
}

async function* oneByteAtATime() {
  for (;;) {
    yield '['
    await setTimeout(20)
  }
}

function* withoutEnd() {
  for (;;) yield ' '.repeat(65_536)
}

describe('a reconcile', () => {
  it('builds each commit of a pull request that no delivery named once, also if its delivery comes late', async () => {
    // Otherwise the push of the branch is what is built.
    const { id, repository, builds, reconcile } = await aConnected({ build_branches: false })
    open = [aPull(1, 'old')]
    await reconcile()
    expect(await builds()).toEqual([])
    open = [aPull(2, 'lost'), aPull(1, 'old')]
    await reconcile()
    await reconcile()
    const lost = ['2', 'feature-2', commitOf('lost'), 'reconcile']
    expect(await builds()).toEqual([lost])
    const late = giteaEvent('pull_request', {
      action: 'opened',
      number: 2,
      pull_request: open[0],
      repository: repository.json,
    })
    const answer = await deliver(app, { id }, late)
    expect(answer.body.message).toBe('This commit was heard of before, and built as #1.')
    open = [{ ...aPull(1, 'newer') }, aPull(2, 'lost')]
    await reconcile()
    expect(await builds()).toEqual([['1', 'feature-1', commitOf('newer'), 'reconcile'], lost])
  })

  it('does not build what a delivery named before, in whatever order', async () => {
    const settings = { skip_pull_request_builds_for_existing_commits: false }
    const { id, repository, builds, reconcile } = await aConnected(settings)
    await reconcile()
    for (const head of ['second', 'first']) {
      open = [aPull(3, head)]
      const fields = { action: 'opened', number: 3, pull_request: open[0], repository: repository.json }
      await deliver(app, { id }, giteaEvent('pull_request', fields))
    }
    open = [aPull(3, 'second')]
    await reconcile()
    expect((await builds()).map(([, , commit, by]) => [commit, by])).toEqual([
      [commitOf('first'), 'webhook'],
      [commitOf('second'), 'webhook'],
    ])
  })

  it('asks on the condition that something has changed, with the token', async () => {
    const { repository, reconcile } = await aConnected()
    open = [aPull(1, 'old')]
    await reconcile()
    await reconcile()
    expect(askedOf(repository).map(({ status }) => status)).toEqual([200, 304])
    expect(new Set(asked.map(({ authorization }) => authorization))).toEqual(
      new Set(['token a-token-of-the-host']),
    )
  })

  it('builds forks only where the pipeline does, without trust', async () => {
    for (const [settings, count] of [
      [{}, 0],
      [{ build_pull_request_forks: true }, 1],
    ] as const) {
      const { org, id, reconcile } = await aConnected(settings)
      open = []
      await reconcile()
      open = [aPull(4, 'of a fork', { fork: true })]
      await reconcile()
      const { rows } = await sql<{ id: string; branch: string }>`
        select id, branch from builds where pipeline_id = ${id}`.execute(app.db)
      expect(rows).toHaveLength(count)
      for (const build of rows) expect(await isUntrusted(app.db, org.id, [build.id])).toBe(true)
    }
  })

  it('says why the host did not list them, and builds pushes nevertheless', async () => {
    const { repository, builds, get, reconcile } = await aConnected()
    await reconcile()
    refusal = { status: 403 }
    const pushed = await repository.commit('main')
    await reconcile()
    expect(await builds()).toMatchObject([[undefined, 'main', pushed, 'reconcile']])
    expect(await get('/repository_health')).toMatchObject({
      reconcile_error: null,
      pull_requests_error: 'The host answered 403',
    })
    refusal = null
    await reconcile()
    expect(await get('/repository_health')).toMatchObject({ pull_requests_error: null })
  })

  it.each([1, 2])(
    'builds pushes although page %i of the list is never answered, and says so',
    async (page) => {
      const { repository, builds, get, reconcile } = await aConnected()
      await reconcile()
      open = Array.from({ length: 120 }, (_, index) => aPull(index + 1, `head ${index}`))
      silentFrom = page
      const pushed = await repository.commit('main')
      const impatient = outboundClient({ allow: '127.0.0.0/8', timeoutMs: 300 })
      await reconcile({ ...app.ctx, outbound: impatient })
      expect(await builds()).toMatchObject([[undefined, 'main', pushed, 'reconcile']])
      expect(await get('/repository_health')).toMatchObject({
        reconcile_error: null,
        pull_requests_error: 'No answer within 0.3 seconds.',
      })
      silentFrom = Infinity
      await reconcile()
      expect(await get('/repository_health')).toMatchObject({ pull_requests_error: null })
      expect((await builds()).length).toBe(21)
    },
  )

  it.each([
    ['one byte at a time', oneByteAtATime, 500],
    // Its size ends it.
    ['without an end', withoutEnd, 600_000],
  ])(
    'ends although the lists of several repositories come %s, and builds pushes',
    async (_, list, bodyMs) => {
      const all = await Promise.all(Array.from({ length: 6 }, () => aConnected()))
      const ids = all.map(({ id }) => id)
      await reconcileAll(ids)
      const lists: Readable[] = []
      streamed = () => {
        const stream = Readable.from(list(), { objectMode: false })
        lists.push(stream)
        return stream
      }
      const pushed = await Promise.all(all.map(({ repository }) => repository.commit('main')))
      const quick = outboundClient({ allow: '127.0.0.0/8', bodyMs })
      await reconcileAll(ids, { ...app.ctx, outbound: quick })
      for (const [index, { builds, get }] of all.entries()) {
        expect(await builds()).toMatchObject([[undefined, 'main', pushed[index], 'reconcile']])
        expect(await get('/repository_health')).toMatchObject({
          reconcile_error: null,
          pull_requests_error: 'The host sends its list of pull requests too slowly, or it is too long.',
        })
      }
      await eventually('the connections are closed', async () => lists.every(({ destroyed }) => destroyed))
      expect(lists.length).toBeGreaterThanOrEqual(all.length)
      await quick.close()
    },
  )

  it('takes a part of 10,000 pull requests at a time', async () => {
    const { repository, builds, reconcile } = await aConnected()
    await reconcile()
    open = Array.from({ length: 10_000 }, (_, index) => aPull(index + 1, `head ${index}`))
    asked = []
    await reconcile()
    expect(askedOf(repository).length).toBe(4)
    expect((await builds()).length).toBe(20)
  })

  it('forgets those that the host no longer lists', async () => {
    const { id, reconcile } = await aConnected()
    const known = async () =>
      (await sql`select from pull_requests where pipeline_id = ${id}`.execute(app.db)).rows.length
    open = [aPull(1, 'old'), aPull(2, 'other')]
    await reconcile()
    expect(await known()).toBe(2)
    open = [aPull(2, 'other')]
    await reconcile()
    expect(await known()).toBe(1)
  })
})
