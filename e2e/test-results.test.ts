import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { aSharedDirectory, eventually, theServer, type Client, type Json } from './millrace.ts'

const modules = fileURLToPath(new URL('../node_modules', import.meta.url))
const vitest = join(modules, 'vitest', 'vitest.mjs')
const org = '/v2/organizations/default'
const counts = { results_count: 3, passed_count: 1, failed_count: 1, skipped_count: 1, unknown_count: 0 }

/** A repository with three tests, of which one fails and one is skipped. */
function aRepository(): string {
  const folder = aSharedDirectory()
  mkdirSync(join(folder, 'src'))
  symlinkSync(modules, join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"name": "theirs", "type": "module"}')
  writeFileSync(
    join(folder, 'vitest.config.js'),
    `export default { cacheDir: ${JSON.stringify(join(folder, 'cache'))}, test: { include: ['src/*.test.js'] } }`,
  )
  writeFileSync(
    join(folder, 'src', 'sums.test.js'),
    `import { describe, expect, it } from 'vitest'
describe('sums', () => {
  it('add up', () => expect(1 + 1).toBe(2))
  it('do not add up', () => expect(1 + 1).toBe(3))
  it.skip('are not tried', () => {})
})
`,
  )
  writeFileSync(
    join(folder, 'send-junit.js'),
    `import { readFileSync } from 'node:fs'
const form = new FormData()
form.set('format', 'junit')
form.set('run_env[key]', process.env.BUILDKITE_BUILD_ID)
form.set('data', new Blob([readFileSync('report.xml')]), 'report.xml')
const headers = { Authorization: \`Token token="\${process.env.JUNIT_TOKEN}"\` }
const answer = await fetch(process.env.BUILDKITE_ANALYTICS_BASE_URL, { method: 'POST', headers, body: form })
console.log(answer.status, await answer.text())
process.exit(answer.status === 202 ? 0 : 1)
`,
  )
  return folder
}

async function aSuite(server: Client, name: string): Promise<{ id: string; token: string }> {
  const { status, body } = await server.post(`${org}/suites`, { name })
  expect(status).toBe(201)
  return { id: String(body.id), token: String(body.api_token) }
}

async function runBuild(
  server: Client,
  configuration: string,
  env: Record<string, string>,
  name = 'Theirs',
): Promise<Json> {
  const pipeline = { name, repository: 'none', configuration }
  expect((await server.post(`${org}/pipelines`, pipeline)).status).toBe(201)
  const builds = `${org}/pipelines/${name.toLowerCase()}/builds`
  expect((await server.post(builds, { commit: 'HEAD', branch: 'main', env })).status).toBe(201)
  return eventually('the build ends', async () => {
    const { body } = await server.get(`${builds}/1`)
    return body.finished_at !== null && body
  })
}

describe('the results of tests that a job runs', () => {
  it('are shown when the step names the files, also after a failed command', async () => {
    const server = theServer()
    const run = `cd ${aRepository()} && node ${vitest} run --configLoader=runner`
    const command = [
      'HERE=$$PWD',
      'echo "<testsuite>" > report-broken.xml',
      `(${run} --reporter=junit --outputFile=$$HERE/report-1.xml)`,
    ]
    const configuration = JSON.stringify({
      env: { BUILDKITE_SKIP_CHECKOUT: 'true' },
      steps: [{ key: 'tests', command, test_results: 'report-*.xml' }],
    })
    const build = await runBuild(server, configuration, {}, 'Named')
    expect(build).toMatchObject({ state: 'failed', jobs: [{ exit_status: 1 }] })
    const builds = `${org}/pipelines/named/builds/1`
    const { body } = await server.get(`${builds}?include_test_analytics=true`)
    expect(body.test_analytics?.runs).toMatchObject([
      {
        suite: { slug: 'named' },
        ...counts,
        failures: [{ scope: 'src/sums.test.js', name: 'sums > do not add up' }],
      },
    ])
    const log = await server.get(`${builds}/jobs/${build.jobs?.['0']?.id}/log`)
    expect(String(log.body.content)).toMatch(/report-1\.xml: 3 tests, 1 failed/)
    expect(String(log.body.content)).toMatch(/report-broken\.xml was not sent: .*The XML cannot be read/)
  })

  it('arrive from the npm collector and as JUnit, and are shown with the build', async () => {
    const server = theServer()
    const [collected, junit] = [await aSuite(server, 'Collected'), await aSuite(server, 'JUnit')]
    // The other methods write to node_modules, which does not belong to the job.
    const run = `cd ${aRepository()} && node ${vitest} run --configLoader=runner`
    const build = await runBuild(
      server,
      JSON.stringify({
        env: { BUILDKITE_SKIP_CHECKOUT: 'true' },
        steps: [
          { key: 'collect', command: `${run} --reporter=buildkite-test-collector/vitest/reporter` },
          {
            depends_on: [{ step: 'collect', allow_failure: true }],
            command: `${run} --reporter=junit --outputFile=report.xml || node send-junit.js`,
          },
        ],
      }),
      {
        BUILDKITE_ANALYTICS_BASE_URL: `${server.url}/v1/uploads`,
        BUILDKITE_ANALYTICS_TOKEN: collected.token,
        JUNIT_TOKEN: junit.token,
      },
    )
    expect(build).toMatchObject({ state: 'failed', jobs: [{ exit_status: 1 }, { exit_status: 0 }] })
    const { body } = await server.get(`${org}/pipelines/theirs/builds/1?include_test_analytics=true`)
    const runs = body.test_analytics?.runs ?? {}
    expect(runs).toMatchObject([
      {
        suite: { id: collected.id, slug: 'collected' },
        state: 'finished',
        result: 'failed',
        branch: 'main',
        ...counts,
        failures: [{ scope: 'sums', name: 'do not add up', file_name: 'src/sums.test.js' }],
      },
      {
        suite: { id: junit.id, slug: 'junit' },
        state: 'finished',
        result: 'failed',
        ...counts,
        failures: [{ scope: 'src/sums.test.js', name: 'sums > do not add up' }],
      },
    ])
    for (const each of Object.values(runs)) {
      expect(String(each.failures?.['0']?.failure_reason)).toContain('expected 2 to be 3')
    }
  })
})
