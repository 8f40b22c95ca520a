// Tests that need something of the machine: vitest runs a file with all cases.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { aDirectory } from './millrace.ts'

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const cases = `
import { needing } from ${JSON.stringify(pathOf('../testbed/src/needing.ts'))}
const there = needing('chromium', null)
there.it('a test', () => {})
there.describe('tests', () => there.it('inside', () => {}))
const absent = needing('containers', 'no engine runs')
absent.it('a test', () => { throw new Error('It ran.') })
absent.describe('tests', () => there.it('inside', () => { throw new Error('It ran.') }))
`

interface Result {
  fullName: string
  status: string
  failureMessages: string[]
}

interface Results {
  testResults: { message: string; assertionResults: Result[] }[]
}

/** The results of the cases, and the error if the file does not load. */
async function run(required: string): Promise<{ error: string; tests: string[][] }> {
  const folder = aDirectory()
  writeFileSync(join(folder, 'cases.test.ts'), cases)
  const vitest = [pathOf('../node_modules/vitest/vitest.mjs'), 'run', '--root', folder, '--reporter=json']
  const env = { PATH: process.env['PATH'], HOME: folder, MILLRACE_TEST_REQUIRE: required }
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, vitest, { env, cwd: folder }, (_error, stdout) => resolve(stdout))
  })
  const [file] = (JSON.parse(output) as Results).testResults
  const tests = file?.assertionResults.map(({ fullName, status, failureMessages: [message = ''] }) => [
    fullName,
    status,
    ...(message === '' ? [] : [message.split('\n', 1)[0] ?? '']),
  ])
  return { error: file?.message ?? '', tests: tests ?? [] }
}

const present = [
  ['a test', 'passed'],
  ['tests inside', 'passed'],
]

describe('a test that needs something of the machine', () => {
  it('is skipped without it, and its name has the reason', async () => {
    expect(await run('')).toEqual({
      error: '',
      tests: [
        ...present,
        ['a test (needs containers: no engine runs)', 'skipped'],
        ['tests (needs containers: no engine runs) inside', 'skipped'],
      ],
    })
  })

  it('fails without it where MILLRACE_TEST_REQUIRE names it', async () => {
    const message = 'Error: MILLRACE_TEST_REQUIRE names containers, but no engine runs'
    expect(await run('chromium,containers')).toEqual({
      error: '',
      tests: [
        ...present,
        ['a test (needs containers: no engine runs)', 'failed', message],
        ['tests (needs containers: no engine runs)', 'failed', message],
      ],
    })
    expect((await run('chromium')).tests.map(([, status]) => status)).toEqual([
      'passed',
      'passed',
      'skipped',
      'skipped',
    ])
  })

  it('does not load if MILLRACE_TEST_REQUIRE names something unknown', async () => {
    const { error, tests } = await run('containers,browser')
    expect(tests).toEqual([])
    expect(error).toContain('MILLRACE_TEST_REQUIRE names browser. It knows containers, ')
  })
})
