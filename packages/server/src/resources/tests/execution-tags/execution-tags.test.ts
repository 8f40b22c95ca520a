import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, aPipeline, type TestUser } from '../../../../test/builders.ts'
import { aBuild } from '../../../../test/runs.ts'
import { newId } from '../../../lib/ids.ts'

const app = useApp()

async function aSuite() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const ask = (method: string, path: string, body?: object, user: TestUser = admin) =>
    app.request(method, path, { token: user.token, ...(body === undefined ? {} : { body }) })
  const made = await ask('POST', `${org.path}/suites`, { name: 'Known' })
  const path = `/v2/analytics/organizations/${org.slug}/suites/known`
  const ids = [newId(), newId()]
  const answer = await app.request('POST', '/v1/uploads', {
    headers: { authorization: `Token token="${String(made.body.api_token)}"` },
    body: {
      format: 'json',
      run_env: { key: 'one' },
      data: ids.map((id, index) => ({
        id,
        name: `test ${index}`,
        result: 'failed',
        history: { start_at: 0, duration: 1 },
      })),
    },
  })
  expect(answer.status).toBe(202)
  const [run] = (await ask('GET', `${path}/runs`)).list
  return {
    org,
    ids,
    put: (executions: object[], user?: TestUser) =>
      ask('PUT', `${path}/execution-tags`, { executions }, user),
    tags: async () =>
      (await ask('GET', `${path}/runs/${String(run?.id)}/failed_executions`)).list
        .toSorted((a, b) => (String(a.test_name) < String(b.test_name) ? -1 : 1))
        .map(({ tags }) => tags as unknown),
  }
}

describe('PUT /v2/analytics/organizations/:org/suites/:suite/execution-tags', () => {
  it('replaces the tags of the executions that it names', async () => {
    const { ids, put, tags } = await aSuite()
    expect(await tags()).toEqual([{}, {}])
    const [first, second] = ids
    const reason = { 'mut.reason': 'api_timeout', 'mut.by': 'triage' }
    const set = await put([
      { id: first, tags: reason },
      { id: second, tags: { 'mut.label': 'slow' } },
      { id: newId(), tags: reason },
    ])
    expect([set.status, set.body]).toEqual([200, { executions_count: 3 }])
    expect(await tags()).toEqual([reason, { 'mut.label': 'slow' }])
    await put([
      { id: first, tags: {} },
      { id: second, tags: { 'mut.label': 'x' } },
      { id: second.toUpperCase(), tags: { 'mut.other': 'y' } },
    ])
    expect(await tags()).toEqual([{}, { 'mut.other': 'y' }])
  })

  it('changes nothing of another suite whose executions it names', async () => {
    const [suite, other] = [await aSuite(), await aSuite()]
    const executions = suite.ids.map((id) => ({ id, tags: { 'mut.reason': 'mine' } }))
    expect((await other.put(executions)).status).toBe(200)
    expect(await suite.tags()).toEqual([{}, {}])
    await suite.put(executions)
    await other.put(suite.ids.map((id) => ({ id, tags: {} })))
    expect(await suite.tags()).toEqual([{ 'mut.reason': 'mine' }, { 'mut.reason': 'mine' }])
  })

  it('refuses other names, too many tags, and those who do not manage the suite', async () => {
    const { org, ids, put, tags } = await aSuite()
    const [id] = ids
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`mut.${index}`, 'x']))
    for (const given of [{ reason: 'x' }, { 'mut.': 'x' }, { [`mut.${'x'.repeat(47)}`]: 'x' }, many]) {
      expect([given, (await put([{ id, tags: given }])).status]).toEqual([given, 422])
    }
    expect((await put([{ id: 'one', tags: {} }])).status).toBe(422)
    const tooMany = Array.from({ length: 1001 }, () => ({ id: newId(), tags: {} }))
    expect((await put(tooMany)).status).toBe(422)
    const reason = { 'mut.reason': 'x' }
    expect((await put([{ id, tags: reason }], await aMember(app, org))).status).toBe(403)
    const stranger = await anAdmin(app, await anOrganization(app))
    expect((await put([{ id, tags: reason }], stranger)).status).toBe(404)
    expect(await tags()).toEqual([{}, {}])
  })
})

describe('tags that senders give', () => {
  const failure = (name: string, more: object = {}) => ({
    name,
    result: 'failed',
    history: { start_at: 0, duration: 1 },
    ...more,
  })

  async function aTaggedSuite() {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const get = async (path: string) =>
      app.request('GET', `${org.path}/suites/tagged${path}`, { token: admin.token })
    const body = { name: 'Tagged' }
    const made = await app.request('POST', `${org.path}/suites`, { token: admin.token, body })
    const authorization = `Token token="${String(made.body.api_token)}"`
    const upload = async (tags: unknown, data: object[], key = 'one') => {
      const sent = { format: 'json', run_env: { key }, tags, data }
      const answer = await app.request('POST', '/v1/uploads', { headers: { authorization }, body: sent })
      expect([answer.status, answer.body.queued]).toEqual([202, data.length])
      return answer.body.run_id
    }
    const tagsIn = async (run: unknown) =>
      Object.fromEntries(
        (await get(`/test_runs/${String(run)}/failed_executions`)).list.map(({ test_name: name, tags }) => [
          String(name),
          tags as unknown,
        ]),
      )
    const named = async (tags: string) =>
      (await get(`/tests?tags=${encodeURIComponent(tags)}`)).list
        .map(({ name }) => String(name))
        .toSorted((a, b) => (a < b ? -1 : 1))
    const put = (executions: object[]) =>
      app.request('PUT', `${org.path}/suites/tagged/execution-tags`, {
        token: admin.token,
        body: { executions },
      })
    return { org, get, authorization, upload, tagsIn, named, put }
  }

  it('are shown with the execution and filter tests, and those set afterwards are added', async () => {
    const { get, upload, tagsIn, named, put } = await aTaggedSuite()
    const id = newId()
    const run = await upload({ language: 'ruby', cloud: 'one' }, [
      failure('adds', { id, tags: { cloud: 'two', team: 'web' } }),
      failure('removes'),
    ])
    const own = { cloud: 'two', team: 'web', language: 'ruby' }
    expect(await tagsIn(run)).toEqual({ adds: own, removes: { language: 'ruby', cloud: 'one' } })
    await put([{ id, tags: { 'mut.reason': 'api' } }])
    expect((await tagsIn(run))['adds']).toEqual({ ...own, 'mut.reason': 'api' })
    const [test] = (await get('/tests?search=adds')).list
    expect((await get(`/tests/${String(test?.id)}/executions`)).list).toMatchObject([
      { tags: { ...own, 'mut.reason': 'api' } },
    ])
    expect(await named('language:ruby')).toEqual(['adds', 'removes'])
    expect(await named('language:ruby,cloud:two')).toEqual(['adds'])
    expect(await named('mut.reason:api,result:~failed')).toEqual(['adds'])
    expect(await named('cloud:three')).toEqual([])
    expect(await named('language:ruby,result:^passed')).toEqual([])
    for (const wrong of ['language', ':ruby', 'result:maybe', 'result:~failed,result:~passed']) {
      expect([wrong, (await get(`/tests?tags=${encodeURIComponent(wrong)}`)).status]).toEqual([wrong, 400])
    }
  })

  it('are looked for in the first 5,000 tests of the others that match', async () => {
    const { org, get, upload, named } = await aTaggedSuite()
    await upload({ cloud: 'one' }, [failure('quick')])
    const { id } = (await get('')).body
    await sql`
      with made as (
        insert into tests (organization_id, suite_id, id, scope, name, first_seen_at, last_seen_at)
        select ${org.id}, ${String(id)}, md5(n::text)::uuid, '', 'slow ' || n, now(), now() from generate_series(1, 5000) n
        returning suite_id, id
      )
      insert into test_days (suite_id, day, test_id, origin_id, passed_count, failed_count, skipped_count, unknown_count,
        timed_count, duration_sum, duration_min, duration_max, durations)
      select suite_id, (now() at time zone 'utc')::date, id, suite_id, 1, 0, 0, 0, 1, 9, 9, 9, '{9}' from made`.execute(
      app.db,
    )
    expect(await named('cloud:one')).toEqual([])
    expect(await named('cloud:one,result:~failed')).toEqual(['quick'])
    const answers = await Promise.all(
      ['&search=quick', '&order=asc'].map((more) => get(`/tests?tags=cloud:one${more}`)),
    )
    expect(answers.map(({ list }) => list.map(({ name }) => name))).toEqual([['quick'], ['quick']])
  })

  it('are limited, and what is none is ignored', async () => {
    const { upload, tagsIn } = await aTaggedSuite()
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`tag ${index}`, 'x']))
    const run = await upload('no object', [
      failure('many', { tags: many }),
      failure('odd', {
        tags: {
          ['x'.repeat(51)]: 'a',
          'mut.by': 'me',
          ' ': 'a',
          list: ['a'],
          none: null,
          number: 3,
          yes: true,
        },
      }),
      failure('long', { tags: { value: 'x'.repeat(300), 'a\0b': 'c\0d' } }),
      failure('list', { tags: ['a'] }),
    ])
    const tags = await tagsIn(run)
    expect(Object.keys(tags['many'] as object)).toHaveLength(20)
    expect(tags).toMatchObject({
      odd: { number: '3', yes: 'true' },
      long: { value: 'x'.repeat(255), ab: 'cd' },
    })
    expect([Object.keys(tags['odd'] as object), tags['list']]).toEqual([['yes', 'number'], {}])
    const merged = await tagsIn(await upload({ last: 'x' }, [failure('many', { tags: many })], 'two'))
    expect(merged['many']).toEqual(tags['many'])
  })

  it('may be fields of a form', async () => {
    const { authorization, tagsIn } = await aTaggedSuite()
    const form = new FormData()
    const fields = { format: 'junit', 'run_env[key]': 'form', 'tags[team]': 'web', 'tags[mut.by]': 'me' }
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    form.set('data', '<testsuite><testcase classname="a" name="b"><failure/></testcase></testsuite>')
    const sent = new Response(form)
    const answer = await app.request('POST', '/v1/uploads', {
      headers: { authorization, 'content-type': String(sent.headers.get('content-type')) },
      text: await sent.text(),
    })
    expect(await tagsIn(answer.body.run_id)).toEqual({ 'a b': { team: 'web' } })
  })

  it('of a pipeline that the caller may not see find no tests', async () => {
    const { org, upload, named } = await aTaggedSuite()
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: a }]'))
    await upload({ team: 'hidden' }, [failure('adds')], build.id)
    await upload({ team: 'shown' }, [failure('adds')], 'elsewhere')
    expect(await named('team:hidden')).toEqual(['adds'])
    const member = await aMember(app, org)
    const asked = async (team: string) =>
      (
        await app.request('GET', `${org.path}/suites/tagged/tests?tags=team:${team}`, { token: member.token })
      ).list.map(({ name }) => name)
    const admin = await anAdmin(app, org)
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    expect([await asked('hidden'), await asked('shown')]).toEqual([[], ['adds']])
  })
})
