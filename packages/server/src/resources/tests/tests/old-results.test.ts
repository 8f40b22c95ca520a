// Results of runs that were too old for the migration that made rows of tests.
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { anAdmin, anOrganization } from '../../../../test/builders.ts'

const app = useApp()

it('of an old run stay with the run, and their test begins when it runs again', async () => {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const ask = (method: string, path: string, body?: object) =>
    app.request(method, path, { token: admin.token, ...(body === undefined ? {} : { body }) })
  const suite = await ask('POST', `${org.path}/suites`, { name: 'Old', show_api_token: true })
  const path = `${org.path}/suites/old`
  const upload = async (key: string, reason: string) => {
    const answer = await app.request('POST', '/v1/uploads', {
      headers: { authorization: `Token token="${String(suite.body.api_token)}"` },
      body: {
        format: 'json',
        run_env: { key, branch: 'main', commit_sha: 'a'.repeat(40) },
        data: [
          {
            scope: 'Basket',
            name: 'adds',
            result: 'failed',
            failure_reason: reason,
            history: { start_at: 0, duration: 1 },
          },
        ],
      },
    })
    expect(answer.status).toBe(202)
  }
  await upload('old', 'the old reason')
  // As the migration leaves it.
  await sql`update test_results t set test_id = null from test_runs r
    where r.id = t.run_id and r.organization_id = ${org.id}`.execute(app.db)
  await sql`delete from tests where organization_id = ${org.id}`.execute(app.db)

  const runs = await ask('GET', `${path}/test_runs`)
  const run = String(runs.list[0]?.id)
  const failures = await ask('GET', `${path}/test_runs/${run}/failed_executions`)
  expect(failures.list).toMatchObject([{ test_name: 'Basket adds', failure_reason: 'the old reason' }])
  expect((await ask('GET', `${path}/tests`)).list).toEqual([])
  const testId = String(failures.list[0]?.test_id)
  expect((await ask('GET', `${path}/tests/${testId}`)).status).toBe(404)

  await upload('new', 'the new reason')
  const [test] = (await ask('GET', `${path}/tests`)).list
  expect(test).toMatchObject({ id: testId, name: 'adds' })
  const executions = await ask('GET', `${path}/tests/${testId}/executions`)
  expect(executions.list).toMatchObject([{ failure_reason: 'the new reason' }])
  expect((await ask('GET', `${path}/test_runs/${run}/failed_executions`)).list).toHaveLength(1)
})
