import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, type TestUser } from '../../../../test/builders.ts'
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
