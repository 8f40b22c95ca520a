// `millrace logs search` against real builds.
import { expect, it } from 'vitest'
import { json } from './logged-in.ts'
import { aDirectory, eventually, millrace, spawnMillrace, theServer } from './millrace.ts'

const org = '/v2/organizations/default'

it('finds rows of failed jobs and of whole logs, says how far it came, and stops at Ctrl-C', async () => {
  const server = theServer()
  const settings = {
    XDG_CONFIG_HOME: aDirectory(),
    MILLRACE_DATA_DIR: aDirectory(),
    MILLRACE_URL: server.url,
    MILLRACE_TOKEN: server.token,
    MILLRACE_ORG: 'default',
  }
  const configuration = JSON.stringify({
    // The log repeats the commands, so these do not have the word.
    env: { BUILDKITE_SKIP_CHECKOUT: 'true', ANIMAL: 'numbat', ANIMAL_TOKEN: 'hidden-8f31c7' },
    steps: [
      {
        key: 'bad',
        label: 'Bad',
        command:
          'printf "one\\nError: the %s escaped\\nError: no access with %s\\n" $$ANIMAL $$ANIMAL_TOKEN; exit 1',
      },
      { key: 'good', label: 'Good', command: 'echo "the $$ANIMAL is home"' },
    ],
  })
  const made = await server.post(`${org}/pipelines`, {
    name: 'Marsupials',
    repository: 'none',
    configuration,
  })
  expect(made.status).toBe(201)
  await server.post(`${org}/pipelines/marsupials/builds`, { commit: 'HEAD', branch: 'main' })
  await eventually('the build ends', async () => {
    const { body } = await server.get(`${org}/pipelines/marsupials/builds/1`)
    return body.finished_at !== null
  })

  const search = (...args: string[]) => millrace(['logs', 'search', ...args], settings)
  const { stdout, stderr } = await eventually('the failed job is found', async () => {
    const ended = await search('NUMBAT')
    return ended.stdout !== '' && ended
  })
  expect(stdout).toMatch(
    /^\nmarsupials\/1 {2}Bad, failed, main, .*\n {2}http.*\n {2}\d+: Error: the numbat escaped\n$/,
  )
  expect(stdout).not.toContain('\u001b')
  expect(stderr).toMatch(/^1 row found, searched (\d+) of \1 logs\.\n$/)

  const whole = ['--in', 'logs', '--pipeline', 'marsupials', '--branch', 'main', '--from', '1d']
  const all = await json(['logs', 'search', 'numb.t', '--regex', ...whole], settings)
  const named = (answer: typeof all) =>
    Object.values(answer['hits'] ?? {}).map(({ job, text }) => [job?.['step_key'], text])
  expect(named(all)).toEqual([
    ['bad', 'Error: the numbat escaped'],
    ['good', 'the numbat is home'],
  ])
  expect(all).toMatchObject({ cursor: null, complete: true, progress: { searched: 2, total: 2 } })
  expect(named(await json(['logs', 'search', 'numbat', ...whole, '--step', 'good'], settings))).toHaveLength(
    1,
  )
  expect(
    named(await json(['logs', 'search', 'numbat', ...whole, '--state', 'failed'], settings)),
  ).toHaveLength(1)
  expect(named(await json(['logs', 'search', 'Numbat', ...whole, '--case'], settings))).toEqual([])
  expect(named(await json(['logs', 'search', 'numbat', '--to', '1d'], settings))).toEqual([])
  // What the agent has redacted was never sent.
  for (const where of ['failures', 'logs']) {
    const redacted = await json(
      ['logs', 'search', 'access with [REDACTED]', '--in', where, '-p', 'marsupials'],
      settings,
    )
    expect(named(redacted)).toEqual([['bad', 'Error: no access with [REDACTED]']])
    for (const part of ['hidden-8f31c7', '8f31', 'hidden-']) {
      const secret = await json(['logs', 'search', part, '--in', where, '-p', 'marsupials'], settings)
      expect([named(secret), secret['complete']]).toEqual([[], true])
    }
  }
  const limited = await search('numbat', ...whole, '--limit', '1')
  expect([limited.code, limited.stderr]).toEqual([0, expect.stringContaining('raise --limit')])

  const wrong = await search('numbat(', '--regex')
  expect([wrong.code, wrong.stdout]).toEqual([1, ''])
  expect(wrong.stderr).not.toBe('')

  // A server that never answers.
  const silent = await import('node:net').then(({ createServer }) => createServer())
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const address = silent.address()
  const port = typeof address === 'object' ? address?.port : 0
  const asked = new Promise((resolve) => silent.once('connection', resolve))
  const stopped = spawnMillrace(['logs', 'search', 'numbat'], {
    ...settings,
    MILLRACE_URL: `http://127.0.0.1:${port}`,
  })
  await asked
  stopped.signal('SIGINT')
  expect(await stopped.ended).toMatchObject({ code: 130, stdout: '' })
  silent.close()
})
