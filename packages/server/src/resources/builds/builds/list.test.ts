import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { startApp, useApp, type Json } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  aNewcomer,
  anAdmin,
  anOrganization,
  aPipeline,
  aQueue,
  aToken,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { aBuild, runJob, startJob, applyEvent, type TestBuild } from '../../../../test/runs.ts'

const app = useApp()

let org: TestOrganization
let admin: TestUser
let pipeline: { id: string; slug: string; path: string }
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
  pipeline = await aPipeline(app, org, 'steps: [{ command: a }]')
})

const get = (path: string, token = admin.token) => app.request('GET', path, { token })
const numbers = (list: Json[]) => list.map(({ number }) => Number(number))

const withoutCounts = (build: Json) =>
  Object.fromEntries(Object.entries(build).filter(([key]) => key !== 'job_state_counts'))

/** Three list forms, of an organization that has only this one pipeline. */
const forms = (owner = org, own = pipeline) => ['/v2/builds', `${owner.path}/builds`, `${own.path}/builds`]

async function setTimes(
  build: TestBuild,
  times: { created_at?: string; finished_at?: string },
): Promise<void> {
  await app.db.updateTable('builds').set(times).where('id', '=', build.id).execute()
  if (times.created_at === undefined) return
  const { created_at } = times
  await app.db.updateTable('build_meta_data').set({ created_at }).where('build_id', '=', build.id).execute()
}

describe('every list of builds', () => {
  it('is newest first, and the id breaks ties', async () => {
    const own = await aPipeline(app, org, 'steps: [{ command: a }]')
    const made = [await aBuild(app, org, own), await aBuild(app, org, own), await aBuild(app, org, own)]
    for (const build of made.slice(1)) await setTimes(build, { created_at: '2026-03-01T00:00:00.000Z' })
    const ids = made.map(({ id }) => id)
    const listed = (await get(`${own.path}/builds`)).list.map(({ id }) => String(id))
    expect(listed).toEqual([...ids.slice(0, 1), ...ids.slice(1).sort().toReversed()])
  })

  it('shows each build as getting it does, but for the counts of its jobs', async () => {
    const elsewhere = await anOrganization(app)
    const owner = await anAdmin(app, elsewhere)
    const own = await aPipeline(app, elsewhere, 'steps: [{ command: a }, wait, { block: b }]')
    const build = await aBuild(app, elsewhere, own, { metaData: { k: 'v' } })
    const shown = withoutCounts((await get(`${own.path}/builds/${build.number}`, owner.token)).body)
    for (const path of forms(elsewhere, own)) {
      expect((await get(path, owner.token)).list).toEqual([shown])
    }
  })

  it('leaves out jobs and pipelines, and adds retried runs, when asked to', async () => {
    const own = await aPipeline(app, org, 'steps: [{ command: a, retry: { automatic: true } }]')
    await runJob(app, await aBuild(app, org, own), 'a', 1)
    const one = async (query: string) => (await get(`${own.path}/builds${query}`)).list[0] ?? {}
    expect(Object.keys(await one('?exclude_jobs=true'))).not.toContain('jobs')
    expect(Object.keys(await one('?exclude_pipeline=true'))).not.toContain('pipeline')
    expect((await one('')).jobs).toHaveLength(1)
    expect((await one('?include_retried_jobs=true')).jobs).toHaveLength(2)
  })
})

describe('the filters of build lists', () => {
  let owner: TestUser
  let paths: string[]
  let other: TestUser
  const made: TestBuild[] = []

  beforeAll(async () => {
    const elsewhere = await anOrganization(app)
    owner = await anAdmin(app, elsewhere)
    other = await aMember(app, elsewhere)
    const own = await aPipeline(app, elsewhere, 'steps: [{ command: a }]')
    paths = forms(elsewhere, own)
    const requests = [
      { branch: 'main', commit: 'aaa', creatorId: owner.id, metaData: { env: 'prod', team: 'x' } },
      { branch: 'feature/a', commit: 'bbb', creatorId: other.id, metaData: { env: 'prod' } },
      { branch: 'feature/b', commit: 'aaa', creatorId: null, metaData: { env: 'test', 'a[b]': 'c' } },
      { branch: 'dev_1', commit: 'ccc', creatorId: owner.id },
      { branch: 'devx1', commit: 'ddd', creatorId: owner.id },
      { branch: 'main', commit: 'HEAD', creatorId: owner.id },
    ]
    for (const [index, request] of requests.entries()) {
      const build = await aBuild(app, elsewhere, own, request)
      await setTimes(build, { created_at: `2026-01-0${index + 1}T12:00:00.000Z` })
      made.push(build)
    }
  })

  it.each([
    ['branch=main', [6, 1]],
    ['branch[]=main&branch[]=dev_1', [6, 4, 1]],
    ['branch[]=main&branch[]=main', [6, 1]],
    ['branch=feature/*', [3, 2]],
    ['branch=*e*', [5, 4, 3, 2]],
    ['branch=dev_*', [4]],
    ['branch[]=*1&branch[]=main', [6, 5, 4, 1]],
    ['branch=feature', []],
    ['branch=%25', []],
    ['commit=aaa', [3, 1]],
    ['commit=aa', []],
    ['commit[]=aaa&commit[]=bbb', [3, 2, 1]],
    ['meta_data[env]=prod', [2, 1]],
    ['meta_data%5Benv%5D=prod&meta_data%5Bteam%5D=x', [1]],
    ['meta_data[env]=prod&meta_data[team]=y', []],
    ['meta_data[a[b]]=c', [3]],
    ['created_from=2026-01-05T12:00:00Z', [6, 5]],
    ['created_from=2026-01-05T14:00:00%2B02:00', [6, 5]],
    ['created_from=2026-01-05T14:00:00+02:00', [6, 5]],
    ['created_to=2026-01-02T12:00:00.000Z', [1]],
    ['created_from=2026-01-02&created_to=2026-01-04', [3, 2]],
    ['branch=main&commit=aaa', [1]],
    ['branch=feature/*&meta_data[env]=prod', [2]],
    ['state=scheduled&branch=main&meta_data[env]=prod', [1]],
    ['branch=main&state=passed', []],
    ['branch=&state=&commit=&unknown=1', [6, 5, 4, 3, 2, 1]],
  ])('%s', async (query, found) => {
    for (const path of paths) {
      const answer = await get(`${path}?${query}`, owner.token)
      expect([path, answer.status, numbers(answer.list)]).toEqual([path, 200, found])
    }
  })

  it('creator is the user who created the build', async () => {
    for (const path of paths) {
      expect(numbers((await get(`${path}?creator=${other.id}`, owner.token)).list)).toEqual([2])
      const both = await get(`${path}?creator=${owner.id}&branch=main`, owner.token)
      expect(numbers(both.list)).toEqual([6, 1])
      expect((await get(`${path}?creator=${admin.id}`, owner.token)).list).toEqual([])
    }
  })

  it('finished_from takes builds that finished then or later, and no others', async () => {
    const [first, second] = made
    if (first === undefined || second === undefined) throw new Error('No builds.')
    await setTimes(first, { finished_at: '2026-02-01T00:00:00.000Z' })
    await setTimes(second, { finished_at: '2026-02-02T00:00:00.000Z' })
    for (const path of paths) {
      const since = async (time: string) =>
        numbers((await get(`${path}?finished_from=${time}`, owner.token)).list)
      expect(await since('2026-02-02T00:00:00Z')).toEqual([2])
      expect(await since('2026-02-01')).toEqual([2, 1])
      expect(await since('2026-02-03')).toEqual([])
    }
  })

  it.each([
    [
      'state=sleeping',
      /^Unknown state "sleeping"; accepted are creating, scheduled, running, failing, blocked, .*finished\.$/,
    ],
    ['state[]=passed&state[]=Passed', /^Unknown state "Passed"/],
    ['creator=ada@example.com', /^Unknown creator "ada@example.com"; accepted is the id of a user\.$/],
    ['created_from=yesterday', /^Unknown created_from "yesterday"; accepted is an ISO 8601 time/],
    ['created_to=2026-13-01', /^Unknown created_to "2026-13-01"/],
    ['finished_from=0000-01-01', /^Unknown finished_from "0000-01-01"/],
  ])('%s answers 422 and names what is accepted', async (query, message) => {
    for (const path of paths) {
      const answer = await get(`${path}?${query}`, owner.token)
      expect([answer.status, answer.body.message]).toEqual([422, expect.stringMatching(message)])
    }
  })
})

describe('the state filter of build lists', () => {
  let own: { id: string; slug: string; path: string }
  let owner: TestUser
  let paths: string[]
  beforeAll(async () => {
    const elsewhere = await anOrganization(app)
    owner = await anAdmin(app, elsewhere)
    own = await aPipeline(app, elsewhere, 'steps: [{ command: a }, { command: b }]')
    paths = forms(elsewhere, own)
    const build = () => aBuild(app, elsewhere, own)
    const end = async (made: TestBuild, status: number) => {
      await runJob(app, made, 'a', status)
      await runJob(app, made, 'b')
    }
    const cancel = (made: TestBuild) => applyEvent(app, made, { type: 'cancel_build', reason: null })
    await build()
    await startJob(app, await build(), 'a')
    await end(await build(), 0)
    await end(await build(), 1)
    await runJob(app, await build(), 'a', 1)
    await cancel(await build())
    const canceling = await build()
    await startJob(app, canceling, 'a')
    await cancel(canceling)
    await applyEvent(app, await build(), { type: 'skip_build' })
    const configure = (configuration: string) =>
      app.db.updateTable('pipelines').set({ configuration }).where('id', '=', own.id).execute()
    await configure('steps: [{ command: a, if: "false" }]')
    await build()
    await configure('steps: [{ block: b }]')
    await build()
    await configure('steps: [{ block: b, blocked_state: running }]')
    await build()
  })

  it.each([
    ['state=scheduled', [1]],
    ['state=running', [11, 2]],
    ['state=passed', [10, 3]],
    ['state=failed', [4]],
    ['state=failing', [5]],
    ['state=canceled', [6]],
    ['state=canceling', [7]],
    ['state=skipped', [8]],
    ['state=not_run', [9]],
    ['state=blocked', [11, 10]],
    ['state=finished', [11, 10, 6, 4, 3]],
    ['state=creating', []],
    ['state=waiting', []],
    ['state=waiting_failed', []],
    ['state[]=scheduled&state[]=running', [11, 2, 1]],
    ['state[]=passed&state[]=blocked', [11, 10, 3]],
    ['state[]=finished&state[]=passed', [11, 10, 6, 4, 3]],
    ['state=blocked&branch=main', [11, 10]],
  ])('%s', async (query, found) => {
    for (const path of paths) {
      const answer = await get(`${path}?${query}`, owner.token)
      expect([path, answer.status, numbers(answer.list)]).toEqual([path, 200, found])
    }
  })
})

describe('include_paused=false', () => {
  it('leaves out builds that lie on paused queues only, and the paused jobs of the others', async () => {
    const elsewhere = await anOrganization(app)
    const owner = await anAdmin(app, elsewhere)
    const cluster = await aCluster(app, elsewhere, owner)
    const [paused, active] = [
      await aQueue(app, cluster, owner, { key: 'paused' }),
      await aQueue(app, cluster, owner, { key: 'active' }),
    ]
    const own = await aPipeline(app, elsewhere, '', { cluster_id: cluster.id })
    const build = async (configuration: string, cluster_id: string | null = cluster.id) => {
      await app.db
        .updateTable('pipelines')
        .set({ configuration, cluster_id })
        .where('id', '=', own.id)
        .execute()
      await aBuild(app, elsewhere, own)
    }
    await build(
      'steps: [{ command: a, agents: { queue: paused } }, wait, { command: b, agents: { queue: paused } }]',
    )
    await build(
      'steps: [{ command: a, agents: { queue: paused } }, { command: b, agents: { queue: active } }]',
    )
    await build('steps: [{ command: a }]', null)
    await build('steps: [{ command: a, if: "false", agents: { queue: active } }]')
    const answer = await app.request('POST', `${paused.path}/pause_dispatch`, { token: owner.token })
    expect([answer.status, active.key]).toEqual([200, 'active'])
    for (const path of forms(elsewhere, own)) {
      const commands = (list: Json[]) =>
        list.map(({ number, jobs }) => [number, (jobs as unknown as Json[]).map(({ command }) => command)])
      expect(commands((await get(`${path}?include_paused=false`, owner.token)).list)).toEqual([
        [4, ['a']],
        [3, ['a']],
        [2, ['b']],
      ])
      expect(numbers((await get(`${path}?include_paused=true`, owner.token)).list)).toEqual([4, 3, 2, 1])
      expect(numbers((await get(path, owner.token)).list)).toEqual([4, 3, 2, 1])
    }
  })
})

describe('the pages of build lists', () => {
  let owner: TestUser
  let paths: string[]
  beforeAll(async () => {
    const elsewhere = await anOrganization(app)
    owner = await anAdmin(app, elsewhere)
    const own = await aPipeline(app, elsewhere, 'steps: [{ command: a }]')
    paths = forms(elsewhere, own)
    for (let count = 0; count < 7; count++) await aBuild(app, elsewhere, own, { branch: 'page' })
  })

  const linksOf = (answer: { headers: Headers }) =>
    Object.fromEntries(
      (answer.headers.get('link') ?? '')
        .split(', ')
        .filter(Boolean)
        .map((entry) => {
          const [, url = '', rel = ''] = /^<(.*)>; rel="(.*)"$/.exec(entry) ?? []
          return [rel, url.replace('http://millrace.test', '')]
        }),
    )

  it('are reached by numbered links', async () => {
    for (const path of paths) {
      const first = await get(`${path}?per_page=3&branch=page`, owner.token)
      expect(Object.keys(linksOf(first))).toEqual(['next', 'next-cursor'])
      expect(linksOf(first)['next']).toBe(`${path}?branch=page&page=2&per_page=3`)
      const second = await get(linksOf(first)['next'] ?? '', owner.token)
      const third = await get(linksOf(second)['next'] ?? '', owner.token)
      expect([first, second, third].map(({ list }) => numbers(list))).toEqual([[7, 6, 5], [4, 3, 2], [1]])
      expect(Object.keys(linksOf(third))).toEqual(['first', 'prev'])
      expect((await get(`${path}?page=9`, owner.token)).list).toEqual([])
    }
  })

  it('are reached by cursors beside them', async () => {
    for (const path of paths) {
      const first = await get(`${path}?per_page=3&state=scheduled`, owner.token)
      const second = await get(linksOf(first)['next-cursor'] ?? '', owner.token)
      expect(Object.keys(linksOf(second))).toEqual(['next-cursor'])
      const third = await get(linksOf(second)['next-cursor'] ?? '', owner.token)
      expect([first, second, third].map(({ list }) => numbers(list))).toEqual([[7, 6, 5], [4, 3, 2], [1]])
      expect(third.headers.get('link')).toBeNull()
      expect(linksOf(second)['next-cursor']).not.toContain('page=2')
    }
  })

  it('refuse a cursor that was changed or is of another list', async () => {
    const [all = '', ofOrg = ''] = paths
    const cursor = linksOf(await get(`${ofOrg}?per_page=3`, owner.token))['next-cursor'] ?? ''
    const after = new URL(cursor, 'http://x').searchParams.get('after') ?? ''
    for (const path of [`${all}?after=${after}`, `${ofOrg}?after=${after}x`, `${ofOrg}?after=abc`]) {
      const answer = await get(path, owner.token)
      expect([answer.status, answer.body.message]).toEqual([
        400,
        expect.stringMatching(/^The cursor is invalid/),
      ])
    }
  })

  // Errors, List builds (all three forms), 400.
  it('answer 400 when a list is read too deep, unless it is narrowed or follows a cursor', async () => {
    const shallow = await startApp({ env: { MILLRACE_DEEPEST_LISTING: '100' } }, app.database)
    const ask = (path: string) => shallow.request('GET', path, { token: owner.token })
    try {
      for (const path of paths) {
        const deep = await ask(`${path}?page=2&per_page=100`)
        expect([deep.status, deep.body]).toEqual([
          400,
          {
            message:
              'Listing builds this deep is not supported. Please narrow your query using filters such as branch or created_from.',
          },
        ])
        expect((await ask(`${path}?page=34&per_page=3`)).status).toBe(200)
        expect((await ask(`${path}?page=35&per_page=3`)).status).toBe(400)
        for (const filter of [
          'branch=main',
          'branch=m*',
          'commit=HEAD',
          `creator=${owner.id}`,
          'meta_data[a]=b',
          'created_from=2020-01-01',
          'finished_from=2020-01-01',
        ]) {
          expect([filter, (await ask(`${path}?page=200&${filter}`)).status]).toEqual([filter, 200])
        }
        for (const filter of ['state=passed', 'created_to=2099-01-01', 'exclude_jobs=true']) {
          expect([filter, (await ask(`${path}?page=200&${filter}`)).status]).toEqual([filter, 400])
        }
        const cursor = linksOf(await ask(`${path}?per_page=3`))['next-cursor'] ?? ''
        expect((await ask(`${cursor}&page=200`)).status).toBe(200)
      }
    } finally {
      await shallow.close()
    }
  })

  it('too large to hold in memory are written in pieces, and read the same', async () => {
    const own = await aPipeline(app, org, 'steps: [{ command: a }]')
    const made = [await aBuild(app, org, own), await aBuild(app, org, own), await aBuild(app, org, own)]
    const columns = await sql<{ name: string }>`
      select column_name as name from information_schema.columns
      where table_schema = 'public' and table_name = 'jobs' and column_name not in ('id', 'slot', 'position')`.execute(
      app.db,
    )
    const names = sql.raw(columns.rows.map(({ name }) => name).join(', '))
    await sql`
      insert into jobs (id, slot, position, ${names})
      select gen_random_uuid(), i, position || '.' || lpad(i::text, 5, '0'), ${names}
      from jobs, generate_series(1, 1500) i where pipeline_id = ${own.id}`.execute(app.db)
    await sql`update build_tallies set jobs = 1501 where build_id = any (${made.map(({ id }) => id)}::uuid[])`.execute(
      app.db,
    )
    const answer = await get(`${own.path}/builds`)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.headers.get('content-length')).toBeNull()
    const single = await Promise.all([3, 2, 1].map((number) => get(`${own.path}/builds/${number}`)))
    expect(answer.list).toEqual(single.map(({ body }) => withoutCounts(body)))
    expect(answer.list.map(({ jobs }) => (jobs as unknown as Json[]).length)).toEqual([1501, 1501, 1501])
  })
})

describe('GET /builds', () => {
  it('lists the builds of every organization the token may access, and of no other', async () => {
    const [first, second, third] = [
      await anOrganization(app),
      await anOrganization(app),
      await anOrganization(app),
    ]
    const user = await aMember(app, first)
    await aNewcomer(app, second, { email: user.email })
    for (const owner of [first, second, third]) {
      await aBuild(app, owner, await aPipeline(app, owner, 'steps: [{ command: a }]'), { branch: owner.slug })
    }
    const branches = async (token: string) =>
      (await get('/v2/builds', token)).list.map(({ branch }) => String(branch))
    expect(await branches(user.token)).toEqual([second.slug, first.slug])
    const narrow = await aToken(app, user, { organizations: [first] })
    expect(await branches(narrow)).toEqual([first.slug])
    await app.db
      .updateTable('organizations')
      .set({ allowed_ip_addresses: '10.0.0.0/8' })
      .where('id', '=', second.id)
      .execute()
    expect(await branches(user.token)).toEqual([first.slug])
    const loner = await aMember(app, third)
    expect(await branches(loner.token)).toEqual([third.slug])
  })

  it('shows other tenants nothing by filters that name what is theirs', async () => {
    const theirs = await anOrganization(app)
    const owner = await anAdmin(app, theirs)
    const own = await aPipeline(app, theirs, 'steps: [{ command: a }]')
    await aBuild(app, theirs, own, {
      creatorId: owner.id,
      branch: 'secret',
      commit: 'fff',
      metaData: { k: 'theirs' },
    })
    for (const query of [
      `creator=${owner.id}`,
      'branch=secret',
      'branch=sec*',
      'commit=fff',
      'meta_data[k]=theirs',
    ]) {
      for (const path of ['/v2/builds', `${org.path}/builds`, `${pipeline.path}/builds`]) {
        expect((await get(`${path}?${query}`)).list).toEqual([])
        expect((await get(`/v2/builds?${query}`, owner.token)).list).toHaveLength(1)
      }
    }
  })
})
