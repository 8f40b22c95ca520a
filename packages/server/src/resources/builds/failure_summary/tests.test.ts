// The failed tests of a summary, and which of them are flaky.
import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { anAdmin, anOrganization, aPipeline, unique } from '../../../../test/builders.ts'
import { aBuild, type TestBuild } from '../../../../test/runs.ts'
import type { Summary } from './schema.ts'

const app = useApp()

interface SentResult {
  name: string
  result: string
  failure_reason?: string
  failure_expanded?: object[]
}

async function aScene() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const pipeline = await aPipeline(app, org, '[{ command: a }]')
  const suite = await app.request('POST', `${org.path}/suites`, {
    token: admin.token,
    body: { name: unique('unit'), show_api_token: true },
  })
  const send = async (build: TestBuild, data: SentResult[], commit = 'a'.repeat(40), key = build.id) => {
    const answer = await app.request('POST', '/v1/uploads', {
      headers: { authorization: `Token token="${String(suite.body.api_token)}"` },
      body: {
        format: 'json',
        run_env: { key, build_id: build.id, branch: 'main', commit_sha: commit },
        data: data.map((result) => ({
          scope: 'Basket',
          location: 'basket.spec:4',
          history: { start_at: 0, duration: 1 },
          ...result,
        })),
      },
    })
    expect(answer.status).toBeLessThan(300)
  }
  const summaryOf = async (build: TestBuild): Promise<Summary> => {
    const answer = await app.request('GET', `${pipeline.path}/builds/${build.number}/failure_summary`, {
      token: admin.token,
    })
    expect(answer.status).toBe(200)
    return answer.body as unknown as Summary
  }
  const change = async (test: Summary['tests'][number] | undefined, path: string, body: object) => {
    const method = path === '/labels' ? 'PATCH' : 'PUT'
    const answer = await app.request(method, `${new URL(test?.url ?? '').pathname}${path}`, {
      token: admin.token,
      body,
    })
    expect(answer.status).toBe(200)
  }
  return {
    send,
    summaryOf,
    change,
    suiteSlug: String(suite.body.slug),
    build: () => aBuild(app, org, pipeline),
  }
}

describe('the failed tests of a summary', () => {
  it('have what the failure says, and how often they failed before', async () => {
    const scene = await aScene()
    const earlier = await scene.build()
    await scene.send(earlier, [{ name: 'adds', result: 'failed' }], 'b'.repeat(40))
    const build = await scene.build()
    await scene.send(build, [
      {
        name: 'adds',
        result: 'failed',
        failure_reason: 'expected 1,\u202E got 2',
        failure_expanded: [{ expanded: ['expected 1', 'got 2'], backtrace: ['basket.spec:4'] }],
      },
      { name: 'empties', result: 'passed' },
    ])
    const summary = await scene.summaryOf(build)
    expect(summary.tests).toMatchObject([
      {
        suite_slug: scene.suiteSlug,
        scope: 'Basket',
        name: 'adds',
        location: 'basket.spec:4',
        failed_count: 1,
        passed_count: 0,
        flaky: false,
        recent_failures: 1,
        known: true,
        failure_reason: 'expected 1, got 2',
        details: 'expected 1\ngot 2\nbasket.spec:4',
      },
    ])
    const { status } = await app.request(
      'GET',
      summary.tests[0]?.url.replace(/^http:\/\/[^/]+/, '') ?? '',
      {},
    )
    expect(status).toBe(401)
    expect(summary.counts.failed_tests).toBe(1)
  })

  it('say that a suite does not have those that only a build of a fork has run', async () => {
    const scene = await aScene()
    const build = await scene.build()
    await app.db.updateTable('builds').set({ from_fork: true }).where('id', '=', build.id).execute()
    await scene.send(build, [{ name: 'made up', result: 'failed' }])
    expect((await scene.summaryOf(build)).tests).toMatchObject([{ name: 'made up', known: false }])
  })

  it('have the labels of their tests', async () => {
    const scene = await aScene()
    const build = await scene.build()
    await scene.send(build, [{ name: 'adds', result: 'failed' }])
    const [before] = (await scene.summaryOf(build)).tests
    expect(before).toMatchObject({ labels: [] })
    await scene.change(before, '/labels', { operator: 'add', labels: ['slow', 'flaky'] })
    expect((await scene.summaryOf(build)).tests).toMatchObject([{ labels: ['flaky', 'slow'] }])
  })

  it('are flaky if they also passed in the build or with the same commit, and come last', async () => {
    const scene = await aScene()
    const other = await scene.build()
    await scene.send(other, [
      { name: 'b passes elsewhere', result: 'passed' },
      { name: 'c broken', result: 'failed' },
    ])
    const build = await scene.build()
    await scene.send(build, [
      { name: 'a both', result: 'failed' },
      { name: 'a both', result: 'passed' },
      { name: 'b passes elsewhere', result: 'failed' },
      { name: 'c broken', result: 'failed' },
    ])
    const { tests } = await scene.summaryOf(build)
    expect(tests.map(({ name, flaky }) => [name, flaky])).toEqual([
      ['c broken', false],
      ['a both', true],
      ['b passes elsewhere', true],
    ])
    expect(tests[1]).toMatchObject({ failed_count: 1, passed_count: 1 })
    const changed = await scene.build()
    await scene.send(changed, [{ name: 'b passes elsewhere', result: 'failed' }], 'c'.repeat(40))
    expect((await scene.summaryOf(changed)).tests).toMatchObject([{ flaky: false, recent_failures: 1 }])
  })

  it('are at most 50, and all are counted', async () => {
    const scene = await aScene()
    const build = await scene.build()
    const names = Array.from({ length: 60 }, (_, n) => ({ name: `test ${n}`, result: 'failed' }))
    await scene.send(build, names)
    const { tests, counts, truncated } = await scene.summaryOf(build)
    expect(tests).toHaveLength(50)
    expect(counts.failed_tests).toBe(60)
    expect(truncated).toMatchObject({ tests: 10 })
  })
})
