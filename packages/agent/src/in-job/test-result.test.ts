import { utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { QuarantinedFailure, TestResultsResponse } from '@millrace/protocol/test-results.ts'
import { aCounterpart, aFolder, hastyClock } from '../../test/agent.ts'
import { main } from './main.ts'

const muted: QuarantinedFailure = {
  scope: 'Cart',
  name: 'adds\nup',
  state: 'muted',
  reason: 'Timing',
  owner: 'Ada',
  expires_at: '2026-12-03T10:00:00.000Z',
}

const found = (failed: number, quarantined: QuarantinedFailure[], skipped = 0): TestResultsResponse => ({
  run_id: 'r',
  queued: 3,
  failed,
  skipped,
  quarantined,
})

async function aJob(answer: unknown = found(1, [muted]), status = 202) {
  const server = await aCounterpart()
  const cwd = await aFolder()
  server.answer(/test_results/, () => ({ status, body: answer }))
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    BUILDKITE_AGENT_ENDPOINT: server.endpoint,
    BUILDKITE_AGENT_ACCESS_TOKEN: 'job-token-value',
    BUILDKITE_JOB_ID: 'j1',
  }
  /** Runs a script of the shell as the test program. */
  async function run(script: string, flags: readonly string[] = [], files = ['report.xml']) {
    let out = ''
    const stderr: string[] = []
    const ended = await main(['test-result', ...flags, ...files, '--', 'sh', '-c', script], {
      env,
      cwd,
      readInput: async () => '',
      hasInput: () => false,
      print: (text) => {
        out += text
      },
      printError: (line) => stderr.push(line),
      clock: hastyClock,
    })
    return { status: ended, out, stderr: stderr.join('\n') }
  }
  const sent = () =>
    server
      .find(/test_results/)
      .map(({ path, body }) => [new URL(path, 'http://x').search, gunzipSync(body).toString()])
  return { run, sent, cwd, env }
}

const fails = 'echo "<results/>" > report.xml; exit 1'

describe('test-result', () => {
  it('passes when all that failed is muted, and names it on one line', async () => {
    const { run, sent } = await aJob()
    const { status, out, stderr } = await run(fails)
    expect([status, stderr]).toEqual([0, ''])
    expect(out).toBe(
      '~~~ 1 failure does not count\n  Cart adds up, muted until 2026-12-03 10:00 UTC by Ada: Timing\n' +
        'No other test failed, so the run passes.\n',
    )
    expect(sent()).toEqual([['?path=report.xml', '<results/>\n']])
  })

  it.each([
    ['another test failed too', found(2, [muted]), 202, fails, 1, '1 failed test counts.'],
    ['no test failed', found(0, []), 202, fails, 1, 'The command failed, but no test did.'],
    ['a failure has no name', found(1, [muted], 1), 202, fails, 1, 'results without a name'],
    ['the server refuses the file', { message: 'No JUnit' }, 422, fails, 1, 'No JUnit'],
    [
      'the server knows no quarantine',
      { run_id: 'r', queued: 1, failed: 1, skipped: 0 },
      202,
      fails,
      1,
      '1 failed test counts',
    ],
    [
      'the status is none of failed tests',
      found(1, [muted]),
      202,
      'echo x > report.xml; exit 3',
      3,
      'something else is wrong',
    ],
    [
      'a signal ends the program',
      found(1, [muted]),
      202,
      'echo x > report.xml; kill -9 $$',
      137,
      'ended by SIGKILL',
    ],
    ['nothing was written', found(1, [muted]), 202, 'exit 1', 1, 'The command wrote no results.'],
  ])('fails when %s', async (_case, answer, answered, script, expected, reason) => {
    const { run } = await aJob(answer, answered)
    const { status, stderr } = await run(script)
    expect(status).toBe(expected)
    expect(stderr).toContain(reason)
  })

  it('fails when one of several files cannot be sent', async () => {
    const { run, cwd } = await aJob()
    await writeFile(join(cwd, 'old.xml'), 'before')
    const script = 'echo x > a.xml; truncate -s 65M b.xml; exit 1'
    const { status, stderr } = await run(script, [], ['*.xml'])
    expect(status).toBe(1)
    expect(stderr).toContain('b.xml was not sent: it has more than 64 MiB')
    expect(stderr).toContain('old.xml is from before this run')
  })

  it('takes no file of an earlier run, whatever its time', async () => {
    const { run, sent, cwd } = await aJob()
    await writeFile(join(cwd, 'report.xml'), 'before')
    await utimes(join(cwd, 'report.xml'), new Date('2100-01-01'), new Date('2100-01-01'))
    const { status, stderr } = await run('exit 1')
    expect([status, sent()]).toEqual([1, []])
    expect(stderr).toContain('report.xml is from before this run')
  })

  it('knows other statuses of failed tests', async () => {
    const { run } = await aJob()
    expect((await run('echo x > report.xml; exit 101', ['--failure-status', '1,101'])).status).toBe(0)
  })

  it('sends the results of a run that passed, which stays so', async () => {
    const { run, sent } = await aJob({ message: 'No' }, 500)
    const { status, stderr } = await run('echo x > report.xml')
    expect([status, sent().length > 0]).toEqual([0, true])
    expect(stderr).toContain('report.xml was not sent')
  })

  it('sends JSON as such, and prints its verdict as JSON', async () => {
    const { run, sent } = await aJob()
    const { out } = await run('echo [] > results.json; exit 1', ['--json'], ['results.json'])
    expect(sent()).toEqual([['?path=results.json&format=json', '[]\n']])
    expect(JSON.parse(out)).toMatchObject({ status: 0, failed: 0, quarantined: [{ name: 'adds\nup' }] })
  })

  it('calls a file as the agent would, from any folder of the checkout', async () => {
    const { run, sent, cwd, env } = await aJob()
    env['BUILDKITE_BUILD_CHECKOUT_PATH'] = dirname(cwd)
    await run(fails)
    env['BUILDKITE_BUILD_CHECKOUT_PATH'] = join(cwd, 'elsewhere')
    await run(fails)
    expect(sent().map(([query]) => query)).toEqual([`?path=${basename(cwd)}/report.xml`, '?path=report.xml'])
  })

  it('only runs the command where there is no server', async () => {
    const { run, sent, env } = await aJob()
    env['BUILDKITE_AGENT_ENDPOINT'] = ''
    const { status, stderr } = await run(fails)
    expect([status, sent()]).toEqual([1, []])
    expect(stderr).toContain('This is no job of a server')
  })

  it('refuses wrong usage with 2, and a command that is not there with 127', async () => {
    const { env, cwd } = await aJob()
    const end = (words: string[]) =>
      main(['test-result', ...words], {
        env,
        cwd,
        readInput: async () => '',
        hasInput: () => false,
        print: () => {},
        printError: () => {},
        clock: hastyClock,
      })
    expect(await end(['report.xml'])).toBe(2)
    expect(await end(['--', 'true'])).toBe(2)
    expect(await end(['--format', 'tap', 'report.xml', '--', 'true'])).toBe(2)
    expect(await end(['--failure-status', '0', 'report.xml', '--', 'true'])).toBe(2)
    expect(await end(['report.xml', '--', 'no-such-program-here'])).toBe(127)
  })
})
