import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aCounterpart, aFolder, hastyClock } from '../../test/agent.ts'
import { main } from './main.ts'
import type { JobStep } from '@millrace/protocol/jobs.ts'
import { readKeys } from '../signing/keys.ts'
import { findSignatureFault } from '../signing/sign.ts'

const BUILD = '7d5f0e3c-0d0f-4a4b-8a53-3a1b8a3c9d10'

async function aJob() {
  const server = await aCounterpart()
  const cwd = await aFolder()
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    BUILDKITE_AGENT_ENDPOINT: server.endpoint,
    BUILDKITE_AGENT_ACCESS_TOKEN: 'job-token-value',
    BUILDKITE_JOB_ID: 'j1',
    BUILDKITE_BUILD_ID: BUILD,
    BUILDKITE_STEP_ID: 's1',
  }
  async function run(words: readonly string[], input = '') {
    let out = ''
    const stderr: string[] = []
    const status = await main(words, {
      env,
      cwd,
      readInput: async () => input,
      hasInput: () => input !== '',
      print: (text) => {
        out += text
      },
      printError: (line) => stderr.push(line),
      clock: hastyClock,
    })
    return { status, out, stderr: stderr.join('\n') }
  }
  const bodies = (match: RegExp) =>
    server.find(match).map(({ body }) => JSON.parse(body.toString()) as unknown)
  return { server, cwd, env, run, bodies }
}

describe('buildkite-agent', () => {
  it('explains itself', async () => {
    const { run } = await aJob()
    expect((await run([])).out).toContain('meta-data get')
    expect((await run(['meta-data'])).out).toContain('meta-data keys')
    expect((await run(['annotate', '--help'])).out).toContain('--context <value>')
    expect(await run(['dance'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('no command "dance"') as string,
    })
    expect(await run(['annotate', '--colour', 'red'])).toMatchObject({
      status: 1,
      stderr: 'There is no flag --colour.',
    })
  })

  it('has every command that it lists', async () => {
    const { run } = await aJob()
    const listed = (await run([])).out.matchAll(/^ {2}(\S+(?: \S+)?) {2,}/gm)
    const names = [...listed].map(([, name = '']) => name)
    expect(names).toContain('meta-data set-batch')
    for (const name of names) {
      expect((await run([...name.split(' '), '--help'])).out).toContain(`Usage: buildkite-agent ${name} `)
    }
  })

  it('needs to know its server and job', async () => {
    const { run, env } = await aJob()
    env['BUILDKITE_AGENT_ACCESS_TOKEN'] = ''
    const { status, stderr } = await run(['meta-data', 'keys'])
    expect(status).toBe(1)
    expect(stderr).toBe('--agent-access-token is missing, and so is BUILDKITE_AGENT_ACCESS_TOKEN.')
  })
})

describe('meta-data', () => {
  it('sets from an argument, from standard input, and several at once', async () => {
    const { run, bodies, server } = await aJob()
    await run(['meta-data', 'set', 'colour', 'blue'])
    await run(['meta-data', 'set', 'text', '--job', 'other'], 'long\n')
    await run(['meta-data', 'set-batch', 'a=1', 'b=x=y'])
    expect(bodies(/data\/set$/)).toEqual([
      { key: 'colour', value: 'blue' },
      { key: 'text', value: 'long\n' },
    ])
    expect(server.find(/jobs\/other\/data/)).toHaveLength(1)
    expect(bodies(/set-batch$/)).toEqual([
      {
        items: [
          { key: 'a', value: '1' },
          { key: 'b', value: 'x=y' },
        ],
      },
    ])
    expect((await run(['meta-data', 'set', 'blank', ' '])).status).toBe(1)
  })

  it('prints a value, or the default when it is not set', async () => {
    const { run, server } = await aJob()
    server.answer(/data\/get$/, ({ body }) =>
      body.includes('gone')
        ? { status: 404, body: { message: 'No key' } }
        : { status: 200, body: { key: 'k', value: 'v' } },
    )
    expect(await run(['meta-data', 'get', 'k'])).toMatchObject({ status: 0, out: 'v' })
    expect(await run(['meta-data', 'get', 'gone', '--default', 'none'])).toMatchObject({
      status: 0,
      out: 'none',
    })
    expect(await run(['meta-data', 'get', 'gone', '--default='])).toMatchObject({ status: 0, out: '' })
    expect(await run(['meta-data', 'get', 'gone'])).toMatchObject({ status: 1 })
    await run(['meta-data', 'get', 'k', '--build', 'b2'])
    expect(server.find(/builds\/b2\/data\/get/)).toHaveLength(1)
  })

  it('exits with 100 when a key does not exist, and lists those that do', async () => {
    const { run, server } = await aJob()
    server.answer(/data\/exists$/, ({ body }) => ({ status: 200, body: { exists: body.includes('yes') } }))
    server.answer(/data\/keys$/, () => ({ status: 200, body: ['a', 'b'] }))
    expect((await run(['meta-data', 'exists', 'yes'])).status).toBe(0)
    expect((await run(['meta-data', 'exists', 'no'])).status).toBe(100)
    expect((await run(['meta-data', 'keys'])).out).toBe('a\nb\n')
  })

  it('hides secrets in what it sends', async () => {
    const { run, bodies, env } = await aJob()
    env['DB_PASSWORD'] = 'hunter2hunter2'
    await run(['meta-data', 'set', 'dsn', 'db://hunter2hunter2@host'])
    expect(bodies(/data\/set$/)).toEqual([{ key: 'dsn', value: 'db://[REDACTED]@host' }])
  })
})

describe('annotations', () => {
  it('are written and removed, with any context', async () => {
    const { run, bodies, server } = await aJob()
    await run(['annotate', '**hi**', '--style', 'info', '--context', 'a/b.c', '--append'])
    await run(['annotate'], 'from input')
    expect(bodies(/^POST .*annotations$/)).toEqual([
      { body: '**hi**', context: 'a/b.c', style: 'info', append: true, priority: 3, scope: 'build' },
      { body: 'from input', priority: 3, scope: 'build' },
    ])
    await run(['annotation', 'remove', '--context', 'a/b.c'])
    expect(server.find(/^DELETE/)[0]?.url).toBe('/v3/jobs/j1/annotations/a%2Fb%2Ec?scope=build')
  })
})

describe('artifact', () => {
  const found = (server: { origin: string }, path: string, id = 'a') => ({
    id,
    path,
    absolute_path: path,
    file_size: 9,
    sha1sum: `sha1 of ${path}`,
    sha256sum: '',
    job_id: 'j9',
    created_at: '2026-01-01T00:00:00Z',
    url: `${server.origin}/store/${id}`,
  })

  it('downloads what a search finds', async () => {
    const { run, server, cwd } = await aJob()
    server.answer(/search/, () => ({ status: 200, body: [found(server, 'out/x.txt')] }))
    server.answer(/^GET \/store/, () => ({ status: 200, body: 'content' }))
    expect(await run(['artifact', 'download', 'out/*', 'here', '--step', 'build it'])).toMatchObject({
      status: 0,
    })
    expect(await readFile(join(cwd, 'here/out/x.txt'), 'utf8')).toBe('"content"')
    const query = new URL(server.find(/search/)[0]?.url ?? '', server.origin).searchParams
    expect(Object.fromEntries(query)).toEqual({ query: 'out/*', scope: 'build it', state: 'finished' })
  })

  it('fails when one path is not safe, but downloads the others', async () => {
    const { run, server, cwd } = await aJob()
    server.answer(/search/, () => ({
      status: 200,
      body: [found(server, '../../evil'), found(server, 'fine.txt')],
    }))
    server.answer(/^GET \/store/, () => ({ status: 200, body: 'content' }))
    expect(await run(['artifact', 'download', '*', '.'])).toMatchObject({ status: 1 })
    expect(await readFile(join(cwd, 'fine.txt'), 'utf8')).toBe('"content"')
  })

  it('lists and hashes', async () => {
    const { run, server } = await aJob()
    server.answer(/search/, () => ({ status: 200, body: [found(server, 'a.txt')] }))
    expect((await run(['artifact', 'search', '*'])).out).toBe('j9 a.txt 2026-01-01T00:00:00Z\n')
    expect((await run(['artifact', 'search', '*', '--format', '%p %s%%\\n'])).out).toBe('a.txt 9%\n')
    expect((await run(['artifact', 'shasum', 'a.txt'])).out).toBe('sha1 of a.txt\n')
    server.answer(/search/, () => ({ status: 200, body: [] }))
    expect((await run(['artifact', 'search', '*'])).status).toBe(1)
    expect((await run(['artifact', 'search', '*', '--allow-empty-results'])).status).toBe(0)
    expect((await run(['artifact', 'download', '*', '.'])).status).toBe(1)
  })
})

describe('step, job, build and agent', () => {
  it('read and change steps', async () => {
    const { run, server, bodies } = await aJob()
    server.answer(/export$/, () => ({ status: 200, body: { output: 'passed' } }))
    expect((await run(['step', 'get', 'outcome', '--step', 'lint'])).out).toBe('passed\n')
    expect(bodies(/steps\/lint\/export$/)).toEqual([{ attribute: 'outcome', build_id: BUILD }])
    await run(['step', 'update', 'label', ' more', '--append'])
    expect(bodies(/^PUT .*steps\/s1$/)).toMatchObject([{ attribute: 'label', value: ' more', append: true }])
    server.answer(/cancel$/, () => ({ status: 200, body: { uuid: 'u' } }))
    expect((await run(['step', 'cancel', '--step', 'lint', '--force'])).status).toBe(0)
    expect(bodies(/steps\/lint\/cancel$/)).toEqual([{ build_id: BUILD, force: true, force_grace_period: 10 }])
    expect((await run(['build', 'cancel'])).status).toBe(0)
    expect(server.find(new RegExp(`builds/${BUILD}/cancel`))).toHaveLength(1)
  })

  it('change the job and promise its failure', async () => {
    const { run, bodies } = await aJob()
    await run(['job', 'update', 'timeout', '20'])
    expect(bodies(/^PUT \/v3\/jobs\/j1$/)).toEqual([{ timeout: '20' }])
    await run(['job', 'promise-failure', '--exit-status', '3', '--reason', 'lint'])
    expect(bodies(/promise_failure$/)).toEqual([{ exit_status: 3, reason: 'lint' }])
    expect((await run(['job', 'promise-failure', '--exit-status', '0'])).status).toBe(1)
  })

  it('stop, pause and resume the agent', async () => {
    const { run, bodies, server } = await aJob()
    await run(['stop', '--force'])
    await run(['pause', '--note', 'disk full', '--timeout-in-minutes', '7'])
    await run(['resume'])
    expect(bodies(/stop$/)).toEqual([{ force: true }])
    expect(bodies(/pause$/)).toEqual([{ note: 'disk full', timeout_in_minutes: 7 }])
    expect(server.find(/resume$/)).toHaveLength(1)
  })
})

describe('secret and oidc', () => {
  it('print nothing that could not be hidden first', async () => {
    const { run, server } = await aJob()
    server.answer(/secrets/, ({ path }) => ({
      status: 200,
      body: { key: 'k', value: path.slice(-3), uuid: 'u' },
    }))
    server.answer(/oidc/, () => ({ status: 200, body: { token: 'jwt' } }))
    expect(await run(['secret', 'get', 'one'])).toMatchObject({ status: 1, out: '' })
    expect(await run(['oidc', 'request-token'])).toMatchObject({ status: 1, out: '' })
    expect((await run(['secret', 'get', 'one', '--skip-redaction'])).out).toBe('one')
    expect((await run(['secret', 'get', 'one', 'two', '--skip-redaction'])).out).toBe(
      '{"one":"one","two":"two"}\n',
    )
    const words = [
      'oidc',
      'request-token',
      '--audience',
      'sts',
      '--lifetime',
      '60',
      '--claim',
      'a,b',
      '--claim',
      'c',
      '--skip-redaction',
    ]
    expect((await run(words)).out).toBe('jwt\n')
    expect(JSON.parse(String(server.find(/oidc/).at(-1)?.body))).toEqual({
      audience: 'sts',
      lifetime: 60,
      claims: ['a', 'b', 'c'],
    })
  })
})

describe('pipeline upload', () => {
  const uploads = (bodies: (match: RegExp) => unknown[]) =>
    bodies(/^POST .*pipelines\?async=true$/) as Array<{ uuid: string; pipeline: unknown; replace?: boolean }>

  it('reads the default file, fills in variables and sends the normal form', async () => {
    const { run, cwd, env, bodies } = await aJob()
    env['WHO'] = 'world'
    await mkdir(join(cwd, '.buildkite'))
    await writeFile(
      join(cwd, '.buildkite/pipeline.yml'),
      [
        'env: {GREETING: "hi $WHO"}',
        'steps:',
        '  - name: test',
        '    id: t',
        '    commands: [echo $GREETING, "echo $$HOME"]',
        '    plugins: [docker#v1]',
        '  - wait',
      ].join('\n'),
    )
    expect(await run(['pipeline', 'upload', '--replace'])).toMatchObject({ status: 0 })
    const [sent] = uploads(bodies)
    expect(sent?.replace).toBe(true)
    expect(sent?.pipeline).toEqual({
      env: { GREETING: 'hi world' },
      steps: [
        {
          label: 'test',
          key: 't',
          command: 'echo hi world\necho $HOME',
          plugins: [{ 'github.com/buildkite-plugins/docker-buildkite-plugin#v1': null }],
        },
        'wait',
      ],
    })
  })

  it.each(['EdDSA', 'ES512', 'PS512'])('signs the steps with a key of %s that it has made', async (alg) => {
    const { run, env, bodies, cwd } = await aJob()
    const files = ['--private-jwks-file', 'private.json', '--public-jwks-file', 'public.json']
    const keygen = ['tool', 'keygen', '--alg', alg, '--key-id', 'mine', ...files]
    expect(await run(keygen)).toMatchObject({ status: 0 })
    expect(await run(keygen)).toMatchObject({ status: 1 })
    Object.assign(env, {
      BUILDKITE_AGENT_JWKS_FILE: join(cwd, 'private.json'),
      BUILDKITE_REPO: 'git@host:a.git',
    })
    const steps =
      'env: {A: 1}\nsteps: [{command: one, secrets: [s]}, wait, {group: g, steps: [{command: two}]}]'
    expect(await run(['pipeline', 'upload'], steps)).toMatchObject({ status: 0 })
    const sent = uploads(bodies)[0]?.pipeline as
      | { steps: [JobStep, string, { steps: [JobStep] }] }
      | undefined
    if (sent === undefined) throw new Error('Nothing was uploaded.')
    const [one, wait, group] = sent.steps
    expect(wait).toBe('wait')
    const keys = await readKeys(join(cwd, 'public.json'))
    const surroundings = { repositoryUrl: 'git@host:a.git', env: { A: '1' } }
    for (const step of [one, group.steps[0]]) {
      const { signature } = step
      if (signature === undefined) throw new Error('The step is not signed.')
      expect(signature).toMatchObject({ algorithm: alg })
      expect(await findSignatureFault(step, signature, surroundings, keys)).toBeNull()
    }
    expect(await run(['pipeline', 'upload', '--jwks-key-id', 'other'], steps)).toMatchObject({ status: 1 })
    env['BUILDKITE_AGENT_JWKS_FILE'] = join(cwd, 'public.json')
    expect((await run(['pipeline', 'upload'], steps)).stderr).toContain('cannot sign')
  })

  it('waits until the server has applied it', async () => {
    const { run, server } = await aJob()
    server.answer(/^POST .*pipelines/, ({ body }) => {
      const { uuid } = JSON.parse(body.toString()) as { uuid: string }
      return {
        status: 202,
        headers: { Location: `${server.endpoint}/jobs/j1/pipelines/${uuid}`, 'Retry-After': '1' },
      }
    })
    const states = ['pending', 'processing', 'applied']
    server.answer(/^GET .*pipelines/, () => ({ status: 200, body: { state: states.shift(), message: '' } }))
    expect(await run(['pipeline', 'upload'], '[wait]')).toMatchObject({ status: 0 })
    expect(states).toEqual([])
    server.answer(/^GET .*pipelines/, () => ({
      status: 200,
      body: { state: 'rejected', message: 'no such step' },
    }))
    expect(await run(['pipeline', 'upload', '-'], '[wait]')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('rejected: no such step') as string,
    })
  })

  it('shows where in the file the mistake is that the server refused', async () => {
    const { run, server } = await aJob()
    server.answer(/^POST .*pipelines/, () => ({ status: 422, body: { message: 'bad steps' } }))
    const { status, stderr } = await run(['pipeline', 'upload', '-'], 'steps:\n  - comand: make\n')
    expect(status).toBe(1)
    expect(stderr).toContain('(stdin):2:5')
    expect(stderr).toContain('bad steps')
    expect(server.find(/pipelines/)).toHaveLength(1)
  })

  it('prints without uploading, and leaves variables alone, when asked to', async () => {
    const { run, server } = await aJob()
    const { out } = await run(
      ['pipeline', 'upload', '-', '--dry-run', '--no-interpolation'],
      'steps: [{command: echo $X}]',
    )
    expect(JSON.parse(out)).toEqual({ steps: [{ command: 'echo $X' }] })
    expect(server.received).toEqual([])
  })

  it('refuses secrets when asked to, and a required variable that is not set', async () => {
    const { run, env } = await aJob()
    env['MY_TOKEN'] = 'abcdef123456'
    const words = ['pipeline', 'upload', '-', '--reject-secrets']
    expect(await run(words, 'steps: [{command: "curl $MY_TOKEN"}]')).toMatchObject({
      status: 1,
      stderr: 'The pipeline contains the value of MY_TOKEN.',
    })
    expect(
      (await run(['pipeline', 'upload', '-'], 'steps: [{command: "${NOPE?must be set}"}]')).stderr,
    ).toContain('must be set')
    expect((await run(['pipeline', 'upload'])).stderr).toContain('There is no pipeline file')
  })

  it('skips steps whose files have not changed since the base', async () => {
    const { run, cwd, env, bodies } = await aJob()
    const git = (...args: string[]) =>
      execFileSync(
        'git',
        ['-c', 'user.name=T', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main', ...args],
        {
          cwd,
          stdio: 'pipe',
        },
      )
    git('init', '-q')
    await writeFile(join(cwd, 'a.txt'), '1')
    git('add', '.')
    git('commit', '-qm', 'one')
    git('update-ref', 'refs/remotes/origin/main', 'HEAD')
    await mkdir(join(cwd, 'docs'))
    await writeFile(join(cwd, 'docs/x.md'), '1')
    git('add', '.')
    git('commit', '-qm', 'two')
    env['BUILDKITE_COMMIT'] = 'HEAD'
    const text =
      'steps:\n- {command: docs $BUILDKITE_COMMIT, if_changed: "docs/**"}\n- {command: code, if_changed: "src/**"}\n'
    expect((await run(['pipeline', 'upload', '-'], text)).status).toBe(0)
    const head = execFileSync('git', ['rev-parse', 'HEAD'], { cwd }).toString().trim()
    expect(uploads(bodies)[0]?.pipeline).toEqual({
      steps: [{ command: `docs ${head}` }, { command: 'code', skip: expect.any(String) as string }],
    })
    git('update-ref', 'refs/remotes/origin/main', 'HEAD')
    await run(['pipeline', 'upload', '-'], text)
    expect(uploads(bodies)[1]?.pipeline).toEqual(uploads(bodies)[0]?.pipeline)
    await writeFile(join(cwd, 'list'), 'src/main.c\n')
    await run(['pipeline', 'upload', '-', '--changed-files-path', 'list'], text)
    expect(uploads(bodies)[2]?.pipeline).toMatchObject({
      steps: [{ skip: expect.any(String) as string }, { command: 'code' }],
    })
  })

  it('counts a file that was moved in both places, so that no fork hides a change by it (abuse case R3)', async () => {
    const { run, cwd, bodies } = await aJob()
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
        cwd,
        stdio: 'pipe',
      })
    git('init', '-q', '-b', 'main')
    await mkdir(join(cwd, 'src'))
    await mkdir(join(cwd, 'docs'))
    await writeFile(join(cwd, 'src/main.c'), 'int main(void) { return 0; }\n'.repeat(9))
    git('add', '.')
    git('commit', '-qm', 'one')
    git('update-ref', 'refs/remotes/origin/main', 'HEAD')
    git('mv', 'src/main.c', 'docs/main.c')
    git('commit', '-qm', 'two')
    const text =
      'steps:\n- {command: docs, if_changed: "docs/**"}\n- {command: code, if_changed: "src/**"}\n- {command: web, if_changed: "web/**"}\n'
    // Against the base, and as the newest commit of the base.
    for (const at of [0, 1]) {
      expect((await run(['pipeline', 'upload', '-'], text)).status).toBe(0)
      expect(uploads(bodies)[at]?.pipeline).toEqual({
        steps: [
          { command: 'docs' },
          { command: 'code' },
          { command: 'web', skip: expect.any(String) as string },
        ],
      })
      git('update-ref', 'refs/remotes/origin/main', 'HEAD')
    }
  })
})
