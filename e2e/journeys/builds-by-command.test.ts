// Builds with the command line alone: started, watched, repaired, and of a work tree that is not committed.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { needing } from '../../testbed/src/needing.ts'
import {
  aDirectory,
  aSharedDirectory,
  eventually,
  millrace,
  spawnMillrace,
  theServer,
  type Json,
  type Settings,
} from '../millrace.ts'
import { inTerminal, terminalLacks } from '../terminal.ts'

const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()

let scenes = 0

/** A pipeline with a repository, and a clone to stand in. */
async function aScene(steps: readonly object[]) {
  const server = theServer()
  const folder = aSharedDirectory()
  const [remote, clone] = [join(folder, 'remote.git'), join(folder, 'clone')]
  mkdirSync(remote)
  git(remote, 'init', '--quiet', '--bare', '--initial-branch=main')
  execFileSync('git', ['clone', '--quiet', remote, clone], { stdio: 'pipe' })
  writeFileSync(join(clone, 'committed.txt'), 'committed\n')
  git(clone, 'switch', '--quiet', '--create', 'main')
  git(clone, 'add', '.')
  git(clone, 'commit', '--quiet', '--message', 'First commit')
  git(clone, 'push', '--quiet', '--set-upstream', 'origin', 'main')
  scenes += 1
  const settings: Settings = {
    MILLRACE_URL: server.url,
    MILLRACE_TOKEN: server.token,
    MILLRACE_ORG: 'default',
    XDG_CONFIG_HOME: aDirectory(),
    TERM: 'xterm',
  }
  const run = (...args: string[]) => millrace(args, settings, { folder: clone })
  const file = join(folder, 'pipeline.json')
  writeFileSync(file, JSON.stringify({ steps }))
  const created = await run('pipeline', 'create', `By command ${process.pid} ${scenes}`, '-f', file, '--json')
  expect(created).toMatchObject({ code: 0, stderr: '' })
  const slug = String((JSON.parse(created.stdout) as Json)['slug'])
  const builds = `/v2/organizations/default/pipelines/${slug}/builds`
  return { server, folder, remote, clone, slug, settings, run, builds }
}

const marked = (mark: string) =>
  `echo '--- Tests'; test -e ${mark} || { printf '\\033[31mboom\\033[0m: expected 1\\n'; exit 3; }; echo fine | tee result.txt`

const jsonLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Json)

const wide = (folder: string) => ({ columns: 100, rows: 30, folder })

const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'

describe('builds by the command line', () => {
  it('starts, watches and repairs a build, and takes its artifacts, in a pipe', async () => {
    const mark = join(aSharedDirectory(), 'repaired')
    const scene = await aScene([
      { label: 'Compile', command: 'echo compiled', key: 'compile' },
      {
        label: 'Test',
        command: marked(mark),
        key: 'test',
        depends_on: 'compile',
        artifact_paths: 'result.txt',
      },
    ])
    const { run, slug } = scene
    const first = await run('build', 'create', '--watch', '--env', 'TARGET=staging', '--meta-data', 'a=b')
    expect(first.stderr).toBe('')
    expect(first.code).toBe(1)
    const lines = first.stdout.split('\n')
    expect(lines[0]).toMatch(new RegExp(`^build #1 of ${slug}, main at [0-9a-f]{12}: First commit$`))
    expect(lines).toContain('build #1: failed')
    expect(first.stdout).toMatch(/^Compile: passed after (?:\d+ min )?\d+ s$/m)
    expect(first.stdout).toMatch(/^Test: failed, exit 3 after (?:\d+ min )?\d+ s$/m)
    expect(first.stdout).toContain('✗ Test failed (exit 3)\n  Tests\n  | boom: expected 1\n')
    expect(first.stdout).not.toContain('\u001b')

    const [build] = JSON.parse((await run('build', 'list', '--state', 'failed', '--json')).stdout) as Json[]
    expect(build).toMatchObject({ number: 1, env: { TARGET: 'staging' }, meta_data: { a: 'b' } })
    const log = await run('job', 'log', 'test')
    expect(log).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('boom: expected 1\n') })
    expect((await run('job', 'log', '--tail', '1', '--json')).stdout).toMatch(
      /^\{"job_id":"[0-9a-f-]{36}","lines":\[\{/,
    )
    const summary = await run('build', 'summary')
    expect(summary).toMatchObject({ code: 0, stderr: '' })
    expect(summary.stdout).toMatch(
      /^✗ failed {2}Test {2}exit 3.*\n {2}Tests\n(?: {2}\| .*\n)* {2}\| boom: expected 1$/m,
    )
    const nothing = await run('build', 'watch', '77')
    expect(nothing).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('No build found') })

    writeFileSync(mark, '')
    const second = await run('build', 'retry', '--watch', '--json')
    expect(second.code).toBe(0)
    const events = jsonLines(second.stdout)
    expect(events.at(-1)).toEqual({ type: 'end', state: 'passed', blocked: false, exit_code: 0 })
    expect(
      events.filter(
        ({ type, name, state }) => `${String(type)} ${String(name)} ${String(state)}` === 'job Test passed',
      ),
    ).toHaveLength(1)
    const again = await run('build', 'watch', `${slug}/1`)
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Build #1 passed after') })
    const results = aDirectory()
    expect(await run('artifact', 'download', '--to', results)).toMatchObject({ code: 0 })
    expect(readFileSync(join(results, 'result.txt'), 'utf8')).toBe('fine\n')
    const refused = await run('build', 'retry')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('has no failed jobs') })
  })

  needing('programs', terminalLacks).it('does the same in a terminal, which it leaves clean', async () => {
    const mark = join(aSharedDirectory(), 'repaired')
    const scene = await aScene([
      { label: 'Test', command: marked(mark), key: 'test', artifact_paths: 'result.txt' },
    ])
    const first = inTerminal(['build', 'create', '--watch'], scene.settings, wide(scene.clone))
    expect(await first.ended).toBe(1)
    const output = first.output()
    expect(output).toContain(HIDE_CURSOR)
    expect(output.lastIndexOf(SHOW_CURSOR)).toBeGreaterThan(output.lastIndexOf(HIDE_CURSOR))
    expect(output).toContain('\u001b[31mboom\u001b[0m: expected 1')
    expect(output).toContain('Retry its failed jobs with millrace build retry')
    writeFileSync(mark, '')
    const second = inTerminal(['build', 'retry', '--watch'], scene.settings, wide(scene.clone))
    expect(await second.ended).toBe(0)
    expect(second.output()).toContain('Build #1 passed after')
    const results = aDirectory()
    const download = ['artifact', 'download', '--to', results]
    expect(await inTerminal(download, scene.settings, wide(scene.clone)).ended).toBe(0)
    expect(readFileSync(join(results, 'result.txt'), 'utf8')).toBe('fine\n')
    const log = inTerminal(['job', 'log', 'test', '--follow'], scene.settings, wide(scene.clone))
    expect(await log.ended).toBe(0)
    expect(log.output()).toContain('fine')
  })

  needing('programs', terminalLacks).it('ends watching with Ctrl-C, and the build goes on', async () => {
    const mark = join(aSharedDirectory(), 'go')
    const scene = await aScene([{ label: 'Wait', command: `while ! test -e ${mark}; do sleep 0.2; done` }])
    const watching = inTerminal(['build', 'create', '--watch'], scene.settings, wide(scene.clone))
    await eventually('the step is drawn', async () => watching.output().includes('Wait'))
    watching.type('\u0003')
    expect(await watching.ended).toBe(130)
    const output = watching.output()
    expect(output).toContain('The build goes on.')
    expect(output.lastIndexOf(SHOW_CURSOR)).toBeGreaterThan(output.lastIndexOf(HIDE_CURSOR))
    const { body } = await scene.server.get(`${scene.builds}/1`)
    expect(['scheduled', 'running']).toContain(String(body['state']))
    writeFileSync(mark, '')
    expect((await scene.run('build', 'watch')).code).toBe(0)
  })

  it('shows a blocked step with the command that unblocks it, and takes the answers', async () => {
    const scene = await aScene([
      { block: 'Release?', key: 'release', fields: [{ text: 'Version', key: 'version', required: true }] },
      { label: 'Ship', command: 'buildkite-agent meta-data get version' },
    ])
    const watching = spawnMillrace(['build', 'create', '--watch'], scene.settings, { folder: scene.clone })
    const command = `millrace build unblock ${scene.slug}/1`
    await eventually('the command', async () => watching.output().stdout.includes(command))
    const missing = await scene.run('build', 'unblock')
    expect(missing).toMatchObject({ code: 1, stdout: '' })
    expect(missing.stderr).toContain('version')
    const unblocked = await scene.run('build', 'unblock', '--field', 'version=1.2.3')
    expect(unblocked).toMatchObject({ code: 0, stdout: 'Release? is unblocked.\n' })
    expect((await watching.ended).code).toBe(0)
    expect((await scene.run('job', 'log')).stdout).toContain('1.2.3\n')
  })
})

describe('millrace build create --preflight', () => {
  it('builds exactly the uncommitted tree, and leaves nothing behind', async () => {
    const scene = await aScene([
      { label: 'Look', command: 'cat committed.txt new.txt; test ! -e ignored.txt; git rev-parse HEAD' },
      { label: 'Deploy', command: 'echo deployed', branches: 'main' },
    ])
    const { clone, remote, run } = scene
    writeFileSync(join(clone, '.gitignore'), 'ignored.txt\n')
    writeFileSync(join(clone, 'ignored.txt'), 'secret\n')
    writeFileSync(join(clone, 'committed.txt'), 'changed\n')
    writeFileSync(join(clone, 'new.txt'), 'new\n')
    const before = [git(clone, 'status', '--porcelain'), git(clone, 'for-each-ref'), git(clone, 'reflog')]
    const ended = await run('build', 'create', '--preflight', '--json')
    expect(ended.stderr).toBe('')
    expect(ended.code).toBe(0)
    const [start, ...events] = jsonLines(ended.stdout)
    expect(start).toMatchObject({
      type: 'preflight',
      changed_files: 3,
      base: git(clone, 'rev-parse', 'HEAD'),
      build: { message: 'Preflight of main', meta_data: { 'millrace:preflight': 'true' } },
    })
    expect(String(start?.['build']?.['branch'])).toMatch(/^preflight\/main\/[0-9a-f]{12}$/)
    expect(events.at(-1)).toMatchObject({ type: 'end', state: 'passed', exit_code: 0 })
    const log = await run('job', 'log', '--build', '1')
    expect(log.stdout).toContain(`changed\nnew\n${String(start?.['commit'])}\n`)
    expect(git(remote, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
    expect([git(clone, 'status', '--porcelain'), git(clone, 'for-each-ref'), git(clone, 'reflog')]).toEqual(
      before,
    )
    const jobs = (await scene.server.get(`${scene.builds}/1`)).body['jobs'] as unknown as Json[]
    expect(jobs.map(({ name, state }) => [name, state])).toEqual([
      ['Look', 'passed'],
      ['Deploy', 'broken'],
    ])
  })

  it('ends at the first failure, shows it, and cancels the rest', async () => {
    const scene = await aScene([
      { label: 'Break', command: 'echo "--- Check"; echo wrong; exit 4', priority: 1 },
      { label: 'Long', command: 'sleep 600' },
    ])
    const ended = await scene.run('build', 'create', '--preflight')
    expect(ended.code).toBe(1)
    expect(ended.stdout).toContain('✗ Break failed (exit 4)\n  Check\n  | wrong\n')
    expect(ended.stdout).toContain('The preflight ends at the first failure.')
    // Its commit is gone.
    expect(ended.stdout).not.toContain('millrace build retry')
    expect(git(scene.remote, 'for-each-ref', 'refs/millrace')).toBe('')
    const canceled = async () => {
      const { body } = await scene.server.get(`${scene.builds}/1`)
      return String(body['state']) === 'canceled' && body
    }
    expect(await eventually('the end', canceled)).toMatchObject({
      cancel_reason: 'The preflight ends at the first failure.',
    })
  })

  it('cancels the build and deletes the ref when it is interrupted', async () => {
    const scene = await aScene([{ label: 'Long', command: 'sleep 600' }])
    const running = spawnMillrace(['build', 'create', '--preflight'], scene.settings, { folder: scene.clone })
    await eventually('the job runs', async () => running.output().stdout.includes('Long: running'))
    expect(git(scene.remote, 'for-each-ref', 'refs/millrace')).not.toBe('')
    running.signal('SIGINT')
    const ended = await running.ended
    expect(ended.code).toBe(130)
    expect(ended.stdout).not.toContain('goes on')
    expect(git(scene.remote, 'for-each-ref', 'refs/millrace')).toBe('')
    const { body } = await scene.server.get(`${scene.builds}/1`)
    expect(['canceling', 'canceled']).toContain(String(body['state']))
  })

  needing('programs', terminalLacks).it('says in a terminal that Ctrl-C cancels the build', async () => {
    const scene = await aScene([{ label: 'Long', command: 'sleep 600' }])
    const place = { columns: 100, rows: 20, folder: scene.clone }
    const session = inTerminal(['build', 'create', '--preflight'], scene.settings, place)
    await eventually('the job runs', async () => session.output().includes('running'))
    session.type('\u0003')
    expect(await session.ended).toBe(130)
    expect(session.output()).toContain('Ctrl-C cancels the build.')
    expect(session.output()).not.toContain('goes on')
  })
})

describe('a build that cannot start', () => {
  it('is watched with the reason, and job waiting finds the job that waits', async () => {
    const queue = `nobody-${process.pid}`
    const { server, run, settings, clone } = await aScene([
      { label: 'First', command: 'echo first' },
      { label: 'Stuck', command: 'echo stuck', agents: { queue }, depends_on: [] },
    ])
    const cluster = String((await server.get('/v2/organizations/default/clusters')).body['0']?.['id'])
    await server.post(`/v2/organizations/default/clusters/${cluster}/queues`, { key: queue })
    const running = spawnMillrace(['build', 'create', '--watch'], settings, { folder: clone })
    await eventually('the first job passes', async () => /First: passed/.test(running.output().stdout))
    await eventually('the reason', async () => /Stuck waits: \S.*agent/.test(running.output().stdout))
    const waiting = await run('job', 'waiting', '--build', '1')
    expect(waiting).toMatchObject({ code: 0, stderr: '' })
    expect(waiting.stdout).toContain(`queue ${queue}`)
    expect(waiting.stdout).toContain('When it starts is not known: No connected agent can take the job.')
    running.signal('SIGINT')
    expect((await running.ended).code).toBe(130)
    expect(await run('build', 'cancel', '1')).toMatchObject({ code: 0 })
  })
})

describe('what people typed', () => {
  it('is shown by every command with emoji and values, also of uploaded steps', async () => {
    const uploaded = 'steps: [{ label: ":jest: Uploaded", command: "true" }]'
    // Logs show commands as they are, so this one does not have the whole name.
    const fail = 'echo "--- :$$TOOL: Tests"; exit 3'
    const { run, settings, clone } = await aScene([
      { block: ':jest: Ship', prompt: ':jest: Sure?', key: 'ship' },
      { label: ':jest: Upload', command: `echo '${uploaded}' | buildkite-agent pipeline upload` },
      { label: ':jest: Unit %n of %t', command: fail, env: { TOOL: 'jest' }, parallelism: 2 },
      { label: ':jest: On {{matrix.os}}', command: 'echo ok', matrix: { setup: { os: ['a', 'b'] } } },
    ])
    const created = await run('build', 'create', '--message', ':jest: Add tests')
    expect(created).toMatchObject({ code: 0, stderr: '' })
    const watching = spawnMillrace(['build', 'watch', '1'], settings, { folder: clone })
    await eventually('the block', async () => watching.output().stdout.includes('🃏 Ship: unblock it with'))
    const unblocked = await run('build', 'unblock', '1')
    expect(unblocked.stdout).toBe('🃏 Ship is unblocked.\n')
    const watched = await watching.ended
    expect(watched.stdout).toContain('🃏 Uploaded: passed')
    expect(watched.stdout).toContain('🃏 Unit 1 of 2: failed')
    expect(watched.stdout).toContain('🃏 On b: passed')
    const shown = await run('build', 'show', '1')
    expect(shown.stdout).toContain('🃏 Unit 0–1 of 2')
    const log = await run('job', 'log', ':jest: Unit 0 of 2', '--build', '1')
    expect(log.stdout).toContain('--- 🃏 Tests')
    const same = await run('job', 'log', '🃏 Unit 1 of 2', '--build', '1')
    expect(same.stdout).toContain('--- 🃏 Tests')
    const others = [
      await run('build', 'list'),
      await run('build', 'summary', '1'),
      await run('job', 'waiting', '--build', '1'),
      await run('job', 'log', '--build', '1', 'no such job'),
      await run('agent', 'list'),
      await run('pipeline', 'list'),
    ]
    for (const { stdout, stderr } of [created, unblocked, watched, shown, log, same, ...others]) {
      expect(`${stdout}${stderr}`).not.toMatch(/:jest:|%[nt]\b|\{\{|\^\^\^ \+\+\+/)
    }
  })
})
