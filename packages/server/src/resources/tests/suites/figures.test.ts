import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, aPipeline } from '../../../../test/builders.ts'
import { aBuild } from '../../../../test/runs.ts'

const app = useApp()

const result = (name: string, ended: string, duration: number) => ({
  scope: 'Basket',
  name,
  result: ended,
  history: { start_at: 0, duration },
})

async function aTenant() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const tokens = new Map<string, string>()
  for (const name of ['unit', 'empty']) {
    const { body } = await app.request('POST', `${org.path}/suites`, { token: admin.token, body: { name } })
    tokens.set(name, String(body.api_token))
  }
  const send = async (key: string, data: object[]) => {
    const answer = await app.request('POST', '/v1/uploads', {
      headers: { authorization: `Token token="${tokens.get('unit')}"` },
      body: { format: 'json', run_env: { key, branch: 'main' }, data },
    })
    expect(answer.status).toBe(202)
    return answer.body.run_id
  }
  const list = async (token = admin.token) =>
    (await app.request('GET', `${org.path}/suites?include_figures=true`, { token })).list
  return { org, admin, send, list }
}

const nothing = {
  tests_count: 0,
  flaky_count: 0,
  muted_count: 0,
  skipped_count: 0,
  reliability: null,
  duration_p50: null,
  last_run: null,
}

describe('GET /v2/organizations/:org/suites?include_figures=true', () => {
  it('counts the tests and says how the runs went', async () => {
    const { org, admin, send, list } = await aTenant()
    expect(await list()).toMatchObject([{ figures: nothing }, { figures: nothing }])
    await send('one', [result('adds', 'passed', 1), result('removes', 'failed', 2)])
    await send('two', [result('adds', 'passed', 3), result('removes', 'passed', 2)])
    const last = await send('three', [
      result('adds', 'passed', 1),
      result('removes', 'skipped', 0),
      result('pays', 'passed', 3),
    ])
    const tests = await app.request('GET', `${org.path}/suites/unit/tests?sort_by=first_seen`, {
      token: admin.token,
    })
    const pathOf = (name: string) =>
      `${org.path}/suites/unit/tests/${String(tests.list.find((test) => String(test.name) === name)?.id)}`
    await app.request('PUT', `${pathOf('pays')}/mute`, { token: admin.token })
    await app.request('PUT', `${pathOf('removes')}/skip`, { token: admin.token })
    await app.request('PATCH', `${pathOf('adds')}/labels`, {
      token: admin.token,
      body: { operator: 'add', labels: ['flaky'] },
    })
    expect((await list()).map(({ slug, figures }) => [slug, figures])).toEqual([
      [
        'unit',
        {
          tests_count: 3,
          flaky_count: 1,
          muted_count: 1,
          skipped_count: 1,
          reliability: 5 / 6,
          duration_p50: 4,
          last_run: {
            id: last,
            url: `${app.ctx.config.url}${org.path}/suites/unit/test_runs/${String(last)}`,
            web_url: `${app.ctx.config.url}/organizations/${org.slug}/analytics/suites/unit`,
            state: 'finished',
            result: 'passed',
            branch: 'main',
            created_at: expect.stringMatching(/Z$/),
          },
        },
      ],
      ['empty', nothing],
    ])
    const plain = await app.request('GET', `${org.path}/suites`, { token: admin.token })
    expect(plain.list.map((suite) => Object.hasOwn(suite, 'figures'))).toEqual([false, false])
  })

  it('counts nothing of pipelines that the caller may not see, nor of forks', async () => {
    const { org, admin, send, list } = await aTenant()
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: a }]'))
    await send(build.id, [result('hidden', 'failed', 9)])
    const fork = await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: a }]'))
    await app.db.updateTable('builds').set({ from_fork: true }).where('id', '=', fork.id).execute()
    await send(fork.id, [result('of a fork', 'failed', 9)])
    const member = await aMember(app, org)
    const shown = async (token: string) => (await list(token))[0]?.figures
    const all = { tests_count: 1, reliability: 0, last_run: { result: 'failed' } }
    for (const { token } of [admin, member]) expect(await shown(token)).toMatchObject(all)
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    expect(await shown(member.token)).toEqual(nothing)
    expect(await shown(admin.token)).toMatchObject(all)
  })

  it('estimates how many of more than 5,000 tests the caller sees', async () => {
    const { org, admin, list } = await aTenant()
    const [suite] = await list()
    const [shown, hidden] = [await aPipeline(app, org, 'steps: []'), await aPipeline(app, org, 'steps: []')]
    await sql`
      with made as (
        insert into tests (organization_id, suite_id, id, scope, name, first_seen_at, last_seen_at)
        select ${org.id}, ${String(suite?.id)}, md5(n::text)::uuid, '', n::text, now(), now() from generate_series(1, 8000) n
        returning suite_id, id, name
      )
      insert into test_days (suite_id, day, test_id, origin_id, passed_count, failed_count, skipped_count, unknown_count,
        timed_count, duration_sum, durations)
      select suite_id, current_date, id, case when name::int % 4 = 0 then ${shown.id}::uuid else ${hidden.id}::uuid end,
        1, 0, 0, 0, 0, 0, '{}' from made`.execute(app.db)
    await app.db.updateTable('pipelines').set({ visibility: 'public' }).where('id', '=', shown.id).execute()
    const member = await aMember(app, org)
    const counted = async (token: string) => (await list(token))[0]?.figures?.tests_count
    expect(await counted(member.token)).toBe(8000)
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    expect(await counted(admin.token)).toBe(8000)
    const estimate = Number(await counted(member.token))
    expect(estimate).toBeGreaterThan(1850)
    expect(estimate).toBeLessThan(2150)
    await sql`
      delete from tests where suite_id = ${String(suite?.id)} and name::int > 4000`.execute(app.db)
    expect(await counted(member.token)).toBe(1000)
  })
})
