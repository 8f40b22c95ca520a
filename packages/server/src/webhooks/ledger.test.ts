import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useOwnApp } from '../../test/app.ts'
import { aCluster, anAdmin, anOrganization, unique, type TestOrganization } from '../../test/builders.ts'
import { deliver, giteaEvent, noCommit, type TestDelivery } from '../../test/deliveries.ts'
import { aGitHost, type TestGitHost } from '../../test/remote-hosts/git-host.ts'
import { pollDue } from '../../test/polls.ts'

let now = new Date()
const app = useOwnApp({
  now: () => now,
  env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' },
})

let host: TestGitHost
let org: TestOrganization
let token: string
beforeAll(async () => {
  host = await aGitHost()
  org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  token = admin.token
  await aCluster(app, org, admin)
})
afterAll(() => host.close())

/** A repository with a pipeline whose webhook has worked once. */
async function aPipelineOf(body: object = {}) {
  const repository = await host.aRepository(unique('app'))
  const first = await repository.commit('main')
  const { clone_url } = repository.json
  const made = await app.request('POST', `${org.path}/pipelines`, {
    token,
    body: {
      name: unique('pushed'),
      repository: clone_url,
      configuration: 'steps: [{ command: make }]',
      ...body,
    },
  })
  if (made.status !== 201) throw new Error(made.text)
  const id = String(made.body.id)
  const path = `${org.path}/pipelines/${String(made.body.slug)}`
  const send = (delivery: TestDelivery) => deliver(app, { id }, delivery)
  const push = (ref: string, before: string | null, after: string | null) =>
    giteaEvent('push', {
      ref,
      before: before ?? noCommit,
      after: after ?? noCommit,
      repository: repository.json,
      head_commit: after === null ? null : { id: after, message: 'Go on' },
    })
  const builds = async () =>
    (await app.request('GET', `${path}/builds`, { token })).list
      .map(({ branch, commit, found_by }) => [branch, commit, found_by])
      .toReversed()
  /** As if ten minutes had passed. */
  const reconcile = async () => {
    now = new Date(now.getTime() + 12 * 60_000)
    await sql`
      update pipeline_polls set next_poll_at = ${now.toISOString()}::timestamptz - interval '1 second'
      where pipeline_id = ${id}`.execute(app.db)
    await pollDue(app.ctx)
  }
  await send(giteaEvent('ping', { repository: repository.json }))
  await reconcile()
  const main = (before: string | null, after: string | null) => push('refs/heads/main', before, after)
  return { id, path, repository, first, send, push, main, builds, reconcile }
}

describe('the ledger of refs', () => {
  it('builds at the next reconcile what no delivery named, and nothing that was there before the first', async () => {
    const { repository, builds, reconcile } = await aPipelineOf()
    expect(await builds()).toEqual([])
    const [second, branched] = [await repository.commit('main'), await repository.commit('feature')]
    await reconcile()
    await reconcile()
    expect((await builds()).toSorted()).toEqual([
      ['feature', branched, 'reconcile'],
      ['main', second, 'reconcile'],
    ])
  })

  it('builds a push once that a poll and deliveries with several ids tell of', async () => {
    const { repository, first, send, main, builds, reconcile } = await aPipelineOf()
    const second = await repository.commit('main')
    await send(main(first, second))
    const answer = await send(main(first, second))
    expect(answer.body.message).toBe('This push was heard of before, and built as #1.')
    await reconcile()
    const third = await repository.commit('main')
    await reconcile()
    const late = await send(main(second, third))
    expect(late.body.message).toBe('This push was heard of before, and built as #2.')
    await send(main(second, third))
    await reconcile()
    expect(await builds()).toEqual([
      ['main', second, 'webhook'],
      ['main', third, 'reconcile'],
    ])
  })

  it('builds a commit again to which a branch goes back', async () => {
    const { repository, first, send, main, builds, reconcile } = await aPipelineOf()
    const second = await repository.commit('main')
    await send(main(first, second))
    await repository.move('main', first)
    await send(main(second, first))
    await reconcile()
    await repository.move('main', second)
    await send(main(first, second))
    await reconcile()
    await repository.move('main', first)
    await reconcile()
    expect((await builds()).map(([, commit]) => commit)).toEqual([second, first, second, first])
  })

  it('builds late, older deliveries, after which a poll finds nothing new', async () => {
    const { repository, first, send, main, builds, reconcile } = await aPipelineOf()
    const second = await repository.commit('main')
    const third = await repository.commit('main')
    await send(main(second, third))
    await send(main(first, second))
    await reconcile()
    const fourth = await repository.commit('main')
    const fifth = await repository.commit('main')
    await reconcile()
    await send(main(third, fourth))
    await reconcile()
    await send(main(fourth, fifth))
    await reconcile()
    expect(await builds()).toEqual([
      ['main', third, 'webhook'],
      ['main', second, 'webhook'],
      ['main', fifth, 'reconcile'],
      ['main', fourth, 'webhook'],
    ])
  })

  it('does not believe an answer that is older than a delivery', async () => {
    const { repository, first, send, main, builds, id } = await aPipelineOf()
    const second = '2'.repeat(40)
    await send(main(first, second))
    const poll = async () => {
      await sql`
        update pipeline_polls set next_poll_at = ${now.toISOString()} where pipeline_id = ${id}`.execute(
        app.db,
      )
      await pollDue(app.ctx)
    }
    await poll()
    expect(await builds()).toEqual([['main', second, 'webhook']])
    const { rows } = await sql<{ seconds: number }>`
      select extract(epoch from next_poll_at - ${now.toISOString()}::timestamptz)::float8 as seconds
      from pipeline_polls where pipeline_id = ${id}`.execute(app.db)
    expect(rows).toEqual([{ seconds: 61 }])
    await repository.move('main', first)
    now = new Date(now.getTime() + 61_000)
    await poll()
    expect((await builds()).at(-1)).toEqual(['main', first, 'reconcile'])
  })

  it('builds a push once that a poll finds between the deliveries of those before', async () => {
    const { id, repository, first, send, main, builds, reconcile } = await aPipelineOf()
    const second = await repository.commit('main')
    await send(main(first, second))
    const [third, fourth] = [await repository.commit('main'), await repository.commit('main')]
    await sql`
      update pipeline_polls set next_poll_at = ${now.toISOString()} where pipeline_id = ${id}`.execute(app.db)
    await pollDue(app.ctx)
    await send(main(second, third))
    await send(main(third, fourth))
    await reconcile()
    const fifth = await repository.commit('main')
    await send(main(fourth, fifth))
    await reconcile()
    expect(await builds()).toEqual([
      ['main', second, 'webhook'],
      ['main', fourth, 'reconcile'],
      ['main', third, 'webhook'],
      ['main', fifth, 'webhook'],
    ])
  })

  it('builds an annotated tag once, whether its object or its commit is named', async () => {
    const { repository, first, send, push, builds, reconcile } = await aPipelineOf({
      provider_settings: { build_tags: true },
    })
    const object = await repository.tag('v1', first)
    await send(push('refs/tags/v1', null, object))
    await reconcile()
    const later = await repository.tag('v2', first)
    await reconcile()
    await send(push('refs/tags/v2', null, later))
    await send(push('refs/tags/v2', null, first))
    expect(await builds()).toEqual([
      ['v1', object, 'webhook'],
      ['v2', first, 'reconcile'],
    ])
  })

  it('cancels the builds of a deleted branch, but not of one that was pushed again since', async () => {
    const { path, repository, send, push, reconcile } = await aPipelineOf({
      provider_settings: { cancel_deleted_branch_builds: true },
    })
    const feature = (before: string | null, after: string | null) => push('refs/heads/feature', before, after)
    const first = await repository.commit('feature')
    const second = await repository.commit('feature')
    await send(feature(null, first))
    await send(feature(null, second))
    const states = async () =>
      (await app.request('GET', `${path}/builds`, { token })).list.map(({ state }) => state)
    await reconcile()
    const late = await send(feature(first, null))
    expect(late.body.message).toBe('feature has moved since it was deleted.')
    expect(await states()).toEqual(['scheduled', 'scheduled'])
    await repository.remove('feature')
    await reconcile()
    expect(await states()).toEqual(['canceled', 'canceled'])
  })

  it('obeys the filters of the pipeline, and decides anew when a push without a build is delivered again', async () => {
    const { path, repository, first, send, main, builds, reconcile } = await aPipelineOf({
      branch_configuration: 'other',
    })
    const second = await repository.commit('main')
    await reconcile()
    const refused = await send(main(first, second))
    expect(refused.body.message).toContain('does not match')
    await app.request('PATCH', path, { token, body: { branch_configuration: 'main' } })
    await reconcile()
    expect(await builds()).toEqual([])
    await send(main(first, second))
    await reconcile()
    await send(main(first, second))
    expect(await builds()).toEqual([['main', second, 'webhook']])
  })

  it('asks a repository that cannot be asked again after ten minutes, and then after an hour', async () => {
    const { id, path, repository, reconcile } = await aPipelineOf()
    await repository.git('config', 'http.uploadpack', 'false')
    const minutesUntilNext = async () => {
      await reconcile()
      const { body } = await app.request('GET', `${path}/repository_health`, { token })
      expect([id, body.reconcile_error]).toEqual([id, expect.stringContaining('git could not ask')])
      return (Date.parse(String(body.next_reconcile_at)) - now.getTime()) / 60_000
    }
    expect(await minutesUntilNext()).toBeLessThanOrEqual(11)
    expect(await minutesUntilNext()).toBeGreaterThan(58)
  })

  it('does not reconcile a pipeline whose deliveries are about the repository that it mirrors', async () => {
    const { id, send, main, repository, first, reconcile } = await aPipelineOf()
    await sql`delete from pipeline_polls where pipeline_id = ${id}`.execute(app.db)
    const away = main(first, await repository.commit('main'))
    const elsewhere = { ...repository.json, clone_url: 'https://git.example.com/acme/app.git', ssh_url: '' }
    const answer = await send({ ...away, body: { ...(away.body as object), repository: elsewhere } })
    expect(answer.body.message).toMatch(/Build #1 of main was made/)
    await reconcile()
    const { rows } = await sql`select from pipeline_polls where pipeline_id = ${id}`.execute(app.db)
    expect(rows).toEqual([])
  })

  it('refuses a delivery for another repository on the host, and does not store its pushes', async () => {
    const { id, send, main, repository, first, builds } = await aPipelineOf()
    const other = await host.aRepository(unique('other'))
    const away = main(first, await repository.commit('main'))
    const answer = await send({ ...away, body: { ...(away.body as object), repository: other.json } })
    expect(answer.body.message).toMatch(/about another repository/)
    expect(await builds()).toEqual([])
    const { rows } = await sql`select from repository_pushes where pipeline_id = ${id}`.execute(app.db)
    expect(rows).toEqual([])
  })
})

describe('GET /v2/organizations/{org}/pipelines/{pipeline}/repository_health', () => {
  it('has the last delivery, the last reconcile, and the number of pushes that no delivery told of', async () => {
    const { path, repository, first, send, main, reconcile } = await aPipelineOf()
    const second = await repository.commit('main')
    await send(main(first, second))
    await repository.commit('main')
    await reconcile()
    const { body } = await app.request('GET', `${path}/repository_health`, { token })
    expect(body).toMatchObject({
      last_delivery: { event: 'push', status: 200, message: 'Build #1 of main was made.' },
      reconciled_at: now.toISOString(),
      reconcile_error: null,
      pushes_last_7_days: 2,
      pushes_without_delivery_last_7_days: 1,
    })
  })

  it('has the answer of a delivery that was refused, after which the repository is soon asked', async () => {
    const { path, send, push } = await aPipelineOf()
    await send(push('refs/heads/-rf', null, '1'.repeat(40)))
    const { body } = await app.request('GET', `${path}/repository_health`, { token })
    expect(body).toMatchObject({
      last_delivery: { event: 'push', status: 400, message: expect.stringContaining('name of a branch') },
      next_reconcile_at: new Date(now.getTime() + 61_000).toISOString(),
    })
  })
})

describe('POST /v2/organizations/{org}/pipelines/{pipeline}/repository_health/reconcile', () => {
  it('builds at once what no delivery told of', async () => {
    const { path, repository, builds } = await aPipelineOf()
    const second = await repository.commit('main')
    const answer = await app.request('POST', `${path}/repository_health/reconcile`, { token })
    expect([answer.status, answer.body.next_reconcile_at]).toEqual([200, now.toISOString()])
    await pollDue(app.ctx)
    expect(await builds()).toEqual([['main', second, 'reconcile']])
  })

  it('answers 422 before the first delivery', async () => {
    const { id, path } = await aPipelineOf()
    await sql`delete from pipeline_polls where pipeline_id = ${id}`.execute(app.db)
    const answer = await app.request('POST', `${path}/repository_health/reconcile`, { token })
    expect([answer.status, answer.body.message]).toEqual([
      422,
      'The repository is asked from the first delivery on; none has come yet.',
    ])
  })
})
