// `millrace test-result` in jobs of a real agent, around a real Vitest.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { aSharedDirectory, eventually, theServer, type Client, type Json } from './millrace.ts'

const modules = fileURLToPath(new URL('../node_modules', import.meta.url))
const vitest = join(modules, 'vitest', 'vitest.mjs')
const org = '/v2/organizations/default'

/** The tests, and a configuration with which errors outside of tests end Vitest with a status of their own. */
function aProject(): { folder: string; write: (name: string, text: string) => void } {
  const folder = aSharedDirectory()
  mkdirSync(join(folder, 'src'))
  symlinkSync(modules, join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"name": "theirs", "type": "module"}')
  writeFileSync(
    join(folder, 'vitest.config.js'),
    `const onUnhandledError = () => void process.on('exit', () => (process.exitCode = 70))
export default { cacheDir: ${JSON.stringify(join(folder, 'cache'))}, test: { include: ['src/*.test.js'], onUnhandledError } }
`,
  )
  const write = (name: string, text: string) => writeFileSync(join(folder, 'src', name), text)
  write(
    'sums.test.js',
    `import { expect, it } from 'vitest'
it('adds', () => expect(1 + 1).toBe(2))
it('does not add', () => expect(1 + 1).toBe(3))
`,
  )
  return { folder, write }
}

async function aPipeline(server: Client, name: string, folder: string): Promise<string> {
  const run = `cd ${folder} && exec ${process.execPath} ${vitest} run --configLoader=runner --reporter=junit --outputFile=$$OLDPWD/report.xml`
  const configuration = JSON.stringify({
    env: { BUILDKITE_SKIP_CHECKOUT: 'true' },
    steps: [{ label: 'Tests', command: `millrace test-result report.xml -- sh -c '${run}'` }],
  })
  const made = await server.post(`${org}/pipelines`, { name, repository: 'none', configuration })
  expect([made.status, made.body['message']]).toEqual([201, undefined])
  return `${org}/pipelines/${String(made.body.slug)}`
}

async function runBuild(server: Client, pipeline: string): Promise<{ build: Json; log: string }> {
  const made = await server.post(`${pipeline}/builds`, { commit: 'HEAD', branch: 'main' })
  expect(made.status).toBe(201)
  const path = `${pipeline}/builds/${String(made.body.number)}`
  const build = await eventually('the build ends', async () => {
    const { body } = await server.get(path)
    return body.finished_at !== null && body
  })
  const { body } = await server.get(`${path}/jobs/${String(build.jobs?.['0']?.id)}/log`)
  return { build, log: String(body.content) }
}

const lasting = `import { it } from 'vitest'\nit('is there', () => {})\n`

it('passes with muted failures, which the build names, never after a crash, and fails again after the end', async () => {
  const server = theServer()
  const { folder, write } = aProject()
  const pipeline = await aPipeline(server, 'Test result', folder)
  const first = await runBuild(server, pipeline)
  expect(first.build).toMatchObject({ state: 'failed', jobs: [{ exit_status: 1 }] })
  expect(first.log).toContain('1 failed test counts.')

  const named = { scope: 'src/sums.test.js', name: 'does not add' }
  const found = await server.post(`${org}/suites/test-result/tests/find`, named)
  const test = `${org}/suites/test-result/tests/${String(found.body.id)}`
  expect((await server.put(`${test}/mute`, { reason: 'Known to be wrong' })).status).toBe(200)

  const green = await runBuild(server, pipeline)
  expect(green.build).toMatchObject({ state: 'passed', jobs: [{ exit_status: 0 }] })
  expect(green.log).toMatch(
    /1 failure does not count[\s\S]*does not add, muted until [^\n]*Known to be wrong/,
  )
  const summary = await server.get(`${pipeline}/builds/${String(green.build.number)}/failure_summary`)
  expect(summary.body).toMatchObject({ tests: [{ name: 'does not add', quarantine: 'muted' }] })
  const tests = await server.get(
    `/v2/analytics/organizations/default/builds/${String(green.build.id)}/tests?result=failed`,
  )
  expect(tests.body).toMatchObject({ 0: { name: 'does not add', state: 'muted' } })

  // A file that cannot be loaded, an error outside of tests, and a worker that is gone.
  const crashes: Array<[string, number]> = [
    ['throw new Error("crashed")\n', 1],
    [
      `import { it } from 'vitest'
it('leaves an error', async () => {
  Promise.reject(new Error('nobody handles this'))
  await new Promise((done) => setTimeout(done, 50))
})
`,
      70,
    ],
    [`import { it } from 'vitest'\nit('kills', () => process.kill(process.pid, 'SIGKILL'))\n`, 70],
  ]
  for (const [text, status] of crashes) {
    write('crash.test.js', text)
    const crashed = await runBuild(server, pipeline)
    expect(crashed.build).toMatchObject({ state: 'failed', jobs: [{ exit_status: status }] })
  }

  write('crash.test.js', lasting)
  expect((await runBuild(server, pipeline)).build.state).toBe('passed')
  const end = new Date(Date.now() + 1000).toISOString()
  expect((await server.put(`${test}/mute`, { expires_at: end })).status).toBe(200)
  await eventually('the end has passed', async () => Date.now() > Date.parse(end))
  expect((await runBuild(server, pipeline)).build.state).toBe('failed')
})
