// A real Vitest whose tests fail by the number of the run: those that are flaky get the label, and no other.
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { aDirectory, eventually, theServer, type Client } from './millrace.ts'

const modules = fileURLToPath(new URL('../node_modules', import.meta.url))
const vitest = join(modules, 'vitest', 'vitest.mjs')
const suites = '/v2/organizations/default/suites'
const runs = 20

/** Two runs have one commit. In run 13 the machine is broken: all tests fail, and no test is to blame. */
const tests = `import { expect, it } from 'vitest'
const run = Number(process.env.RUN)
const commit = Math.floor(run / 2)
const fails = (is) => expect(is || run === 13).toBe(false)

it('differs with one commit', () => fails(run % 4 === 0))
it('differs between commits', () => fails(commit % 2 === 0))
it('failed with one commit once', () => fails(run === 18))
it('is broken', () => fails(true))
it('is broken since', () => fails(commit > 5))
it('is repaired', () => fails(commit < 3))
it('was broken by one commit', () => fails(commit === 8))
for (const name of ['one', 'two', 'three', 'four', 'five']) it('is steady: ' + name, () => fails(false))
`

function aProject(): string {
  const folder = aDirectory()
  mkdirSync(join(folder, 'src'))
  symlinkSync(modules, join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"name": "theirs", "type": "module"}')
  writeFileSync(
    join(folder, 'vitest.config.js'),
    `export default { cacheDir: ${JSON.stringify(join(folder, 'cache'))}, test: { include: ['src/*.test.js'] } }`,
  )
  writeFileSync(join(folder, 'src', 'seeded.test.js'), tests)
  return folder
}

/** The report of one run, which fails. */
async function runTests(folder: string, run: number): Promise<string> {
  const report = join(folder, 'report.xml')
  const args = [vitest, 'run', '--configLoader=runner', '--reporter=junit', `--outputFile=${report}`]
  const env = { PATH: process.env['PATH'], RUN: String(run) }
  const status = await new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, env }, (error) => resolve(error?.code ?? 0))
  })
  expect(status).toBe(1)
  return readFileSync(report, 'utf8')
}

async function upload(server: Client, token: string, run: number, report: string): Promise<void> {
  const form = new FormData()
  form.set('format', 'junit')
  form.set('run_env[key]', `run-${run}`)
  form.set('run_env[branch]', 'main')
  form.set('run_env[commit_sha]', String(Math.floor(run / 2)).padStart(40, '0'))
  form.set('data', new Blob([report]), 'report.xml')
  const headers = { Authorization: `Token token="${token}"` }
  const answer = await fetch(`${server.url}/v1/uploads`, { method: 'POST', headers, body: form })
  expect([answer.status, (await answer.json()).queued]).toEqual([202, 12])
}

it('names the flaky tests of a project within 20 runs, and no steady or broken one', async () => {
  const server = theServer()
  const made = await server.post(suites, { name: 'Seeded', default_branch: 'main' })
  expect(made.status).toBe(201)
  const folder = aProject()
  for (let run = 1; run <= runs; run++) {
    await upload(server, String(made.body.api_token), run, await runTests(folder, run))
  }
  const expected = ['differs between commits', 'differs with one commit', 'failed with one commit once']
  const labelled = await eventually('the tests are labelled', async () => {
    const { body } = await server.get(`${suites}/seeded/tests?label=flaky`)
    const names = new Set(Object.values(body).map(({ name }) => String(name)))
    return expected.every((name) => names.has(name)) && names
  })
  expect(labelled).toEqual(new Set(expected))
})
