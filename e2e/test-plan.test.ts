// The public test engine client, unmodified, divides the tests of a real Vitest and decides how a job ends.
import { copyFileSync, chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { needing } from '../testbed/src/needing.ts'
import { testEngineClient, testEngineClientLacks } from '../testbed/src/test-engine-client.ts'
import { aSharedDirectory, eventually, theServer, type Client, type Json } from './millrace.ts'

const { it } = needing('programs', testEngineClientLacks)

const modules = fileURLToPath(new URL('../node_modules', import.meta.url))
const vitest = join(modules, 'vitest', 'vitest.mjs')
const org = '/v2/organizations/default'
const analytics = '/v2/analytics/organizations/default/suites'

/** A folder with tests and the client. Other users may run it: jobs do. */
function aProject(files: Record<string, string>): string {
  const folder = aSharedDirectory()
  mkdirSync(join(folder, 'src'))
  symlinkSync(modules, join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"name": "theirs", "type": "module"}')
  writeFileSync(
    join(folder, 'vitest.config.js'),
    `export default { cacheDir: ${JSON.stringify(join(folder, 'cache'))}, test: { include: ['src/*.test.js'], fileParallelism: false } }`,
  )
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'src', name), text)
  const client = join(folder, 'bktec')
  copyFileSync(testEngineClient ?? '', client)
  chmodSync(client, 0o755)
  return folder
}

const lasting = (name: string, ms: number) =>
  `import { it } from 'vitest'\nit('${name}', () => new Promise((done) => setTimeout(done, ${ms})))\n`

interface Suite {
  slug: string
  env: Record<string, string>
}

async function aSuite(server: Client, name: string): Promise<Suite> {
  const { status, body } = await server.post(`${org}/suites`, { name })
  expect(status).toBe(201)
  const slug = String(body.slug)
  return {
    slug,
    env: {
      BUILDKITE_TEST_ENGINE_BASE_URL: server.url,
      BUILDKITE_TEST_ENGINE_API_ACCESS_TOKEN: server.token,
      BUILDKITE_TEST_ENGINE_SUITE_SLUG: slug,
      BUILDKITE_TEST_ENGINE_TEST_RUNNER: 'vitest',
      BUILDKITE_TEST_ENGINE_TEST_FILE_PATTERN: 'src/*.test.js',
      BUILDKITE_TEST_ENGINE_TEST_CMD: `${process.execPath} ${vitest} run --configLoader=runner {{testExamples}} --reporter=json --reporter=buildkite-test-collector/vitest/reporter --outputFile {{resultPath}}`,
      BUILDKITE_ANALYTICS_BASE_URL: `${server.url}/v1/uploads`,
      BUILDKITE_ANALYTICS_TOKEN: String(body.api_token),
      BUILDKITE_SKIP_CHECKOUT: 'true',
    },
  }
}

/** A pipeline whose jobs run the client in the folder. */
async function aPipeline(
  server: Client,
  { slug, env }: Suite,
  folder: string,
  jobs: number,
): Promise<string> {
  const command = `export BUILDKITE_TEST_ENGINE_RESULT_PATH=$$PWD/result-$$BUILDKITE_JOB_ID.json && cd ${folder} && ./bktec run`
  const configuration = JSON.stringify({ env, steps: [{ command, parallelism: jobs }] })
  const made = await server.post(`${org}/pipelines`, { name: slug, repository: 'none', configuration })
  expect([made.status, made.body['message']]).toEqual([201, undefined])
  return `${org}/pipelines/${slug}/builds`
}

async function runBuild(server: Client, builds: string): Promise<Json> {
  const made = await server.post(builds, { commit: 'HEAD', branch: 'main' })
  expect(made.status).toBe(201)
  return eventually('the build ends', async () => {
    const { body } = await server.get(`${builds}/${String(made.body.number)}`)
    return body.finished_at !== null && body
  })
}

async function logOf(server: Client, builds: string, build: Json): Promise<string> {
  const job = String(build.jobs?.['0']?.id)
  return String((await server.get(`${builds}/${String(build.number)}/jobs/${job}/log`)).body.content)
}

it('divides a suite among four jobs that take equally long', async () => {
  const server = theServer()
  const names = Array.from({ length: 24 }, (_, index) => `file-${String(index).padStart(2, '0')}`)
  const folder = aProject(
    Object.fromEntries(names.map((name, index) => [`${name}.test.js`, lasting(name, 20 * (index + 1))])),
  )
  const suite = await aSuite(server, 'Divided')
  const builds = await aPipeline(server, suite, folder, 4)
  const tasksOf = async (build: Json) => {
    const identifier = `${String(build.id)}/${String(build.jobs?.['0']?.['step']?.id)}`
    const { status, body } = await server.get(
      `${analytics}/${suite.slug}/test_plan?identifier=${encodeURIComponent(identifier)}`,
    )
    expect(status).toBe(200)
    const tasks = Object.values(body['tasks'] ?? {}) as unknown as Array<{
      tests: Array<{ path: string; estimated_duration: number; timing_sample_size: number }>
    }>
    expect(tasks.flatMap(({ tests }) => tests.map(({ path }) => path)).sort()).toEqual(
      names.map((name) => `src/${name}.test.js`),
    )
    return tasks.map(({ tests }) => tests)
  }

  const first = await runBuild(server, builds)
  expect(first.state).toBe('passed')
  expect((await tasksOf(first)).map(({ length }) => length)).toEqual([6, 6, 6, 6])

  const second = await runBuild(server, builds)
  expect(second.state).toBe('passed')
  const parts = await tasksOf(second)
  expect(parts.flat().every((test) => test.timing_sample_size > 0)).toBe(true)
  const times = parts.map((tests) => tests.reduce((sum, test) => sum + test.estimated_duration, 0))
  expect(Math.min(...times) / Math.max(...times)).toBeGreaterThan(0.85)

  const { body: ran } = await server.get(`${org}/suites/${suite.slug}/tests?per_page=100`)
  const counts = Object.values(ran).map(({ executions_count }) => executions_count)
  expect(counts).toEqual(names.map(() => 2))
})

it('passes with muted failures only, never when the runner crashes, and fails again after the end', async () => {
  const server = theServer()
  const folder = aProject({
    'sums.test.js': `import { expect, it } from 'vitest'
it('adds', () => expect(1 + 1).toBe(2))
it('does not add', () => expect(1 + 1).toBe(3))
`,
  })
  const suite = await aSuite(server, 'Muted')
  const builds = await aPipeline(server, suite, folder, 1)
  expect((await runBuild(server, builds)).state).toBe('failed')

  const found = await server.post(`${org}/suites/${suite.slug}/tests/find`, {
    scope: '',
    name: 'does not add',
  })
  const test = `${org}/suites/${suite.slug}/tests/${String(found.body.id)}`
  expect((await server.put(`${test}/mute`, { reason: 'It is wrong.' })).status).toBe(200)
  const muted = await runBuild(server, builds)
  expect(muted.state).toBe('passed')
  expect(await logOf(server, builds, muted)).toMatch(/Some muted tests failed[\s\S]*does not add \(failed\)/)

  writeFileSync(join(folder, 'src', 'broken.test.js'), 'throw new Error("crashed")\n')
  expect((await runBuild(server, builds)).state).toBe('failed')
  writeFileSync(join(folder, 'src', 'broken.test.js'), lasting('is mended', 1))
  expect((await runBuild(server, builds)).state).toBe('passed')

  const end = new Date(Date.now() + 2000).toISOString()
  expect((await server.put(`${test}/mute`, { expires_at: end })).status).toBe(200)
  await eventually('the end has passed', async () => Date.now() > Date.parse(end) + 1000)
  expect((await runBuild(server, builds)).state).toBe('failed')
})
