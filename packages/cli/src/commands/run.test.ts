import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { aFolder, run, startRun, TestTerminal } from '../../test/running.ts'
import { main } from '../main.ts'
import { describeReport } from '../run/report.ts'

afterEach(() => void vi.restoreAllMocks())

const outer = { PATH: process.env['PATH'] ?? '' }

/** In a job that others run beside, waits until they have all come this far. */
const meet = (name: string, ...others: string[]): string =>
  `touch ${name}; ${others.map((other) => `while [ ! -e ${other} ]; do sleep 0.01; done`).join('; ')}`

describe('millrace run FILE: jobs', () => {
  it('run as processes in the folder, with the variables of the build, the file and the step', async () => {
    const { state, terminal, folder, jobs } = await run(
      `
      env: {FROM_FILE: file, WHO: "$OUTER-$BUILDKITE_BRANCH"}
      steps:
        - label: show
          command: 'pwd; echo "$$FROM_FILE $$FROM_BUILD $$FROM_STEP $$OUTER $$WHO $$BUILDKITE_LABEL $$CI"'
          env: {FROM_STEP: step}
      `,
      { env: { FROM_BUILD: 'build', FROM_FILE: 'beaten' }, outerEnv: { ...outer, OUTER: 'outer' } },
    )
    expect(state).toBe('passed')
    expect(terminal.lines).toContain(folder)
    expect(terminal.lines).toContain('file build step outer outer-main show true')
    expect(jobs).toEqual([{ label: 'show', state: 'passed', exit_status: 0, seconds: expect.any(Number) }])
  })

  it('stop at the first line that fails', async () => {
    const { state, jobs, terminal } = await run(
      'steps: [{commands: ["echo one", "sh -c \\"exit 7\\"", "echo two"]}]',
    )
    expect(state).toBe('failed')
    expect(jobs).toMatchObject([{ label: 'echo one', state: 'failed', exit_status: 7 }])
    expect(terminal.output).not.toContain('two')
  })

  it('show all output in the order it was written, whichever way', async () => {
    const command = 'echo 1; echo 2 >&2; echo 3 > /dev/stderr; echo 4 > /dev/stdout; seq 5 20000; printf end'
    const { terminal } = await run(`steps: [{command: "${command}"}]`)
    const shown = terminal.lines.filter((line) => /^(\d+|end)$/.test(line))
    expect(shown).toEqual([...Array.from({ length: 20_000 }, (_, index) => String(index + 1)), 'end'])
  })

  it('get nothing to read', async () => {
    expect((await run('steps: [{command: "cat"}]')).state).toBe('passed')
  })

  it('put their label before every line from the moment another job runs, also when that one has ended', async () => {
    const ended = `while ! grep -q '^✓ b passed' log; do sleep 0.01; done`
    const terminal = new TestTerminal()
    const folder = aFolder({ log: '' })
    vi.spyOn(terminal, 'write').mockImplementation((text) => {
      terminal.output += text
      writeFileSync(join(folder, 'log'), terminal.output)
    })
    await run(
      `
      steps:
        - {label: a, command: "${ended}; echo first; printf 'one\\\\rtwo\\\\r\\\\n'"}
        - {label: b, command: "true"}
      `,
      { folder, terminal },
    )
    expect(terminal.lines).toEqual(expect.arrayContaining(['a | first', 'a | one\ra | two']))
  })

  it('keep the differing end of a label that is too long for a line', async () => {
    const { terminal } = await run(
      `steps: [{label: "${'long '.repeat(12)}", command: "${meet('m$$BUILDKITE_PARALLEL_JOB', 'm0', 'm1')}; echo x", parallelism: 2}]`,
    )
    const prefixes = terminal.lines.filter((line) => line.endsWith(' | x')).map((line) => line.slice(0, -4))
    expect(new Set(prefixes).size).toBe(2)
    for (const prefix of prefixes) expect(prefix).toMatch(/^long .*… ?.*[12]\/2$/)
  })

  it('put their label before every line while they run beside others', async () => {
    const pipeline = `
      steps:
        - {label: "a", command: "${meet('one', 'two')}; echo from a; ${meet('three', 'four')}"}
        - {label: "b", command: "${meet('two', 'one')}; printf 'from b'; ${meet('four', 'three')}"}
        - wait
        - {label: "c", command: "echo from c"}
    `
    const { terminal } = await run(pipeline)
    expect(terminal.lines).toEqual(expect.arrayContaining(['a | from a', 'b | from b', 'from c']))
    const colored = await run(pipeline, { terminal: new TestTerminal({ hasColor: true }) })
    expect(colored.terminal.lines).toContain('\u001b[36ma |\u001b[0m from a')
  })

  it('run no more at once than --jobs says', async () => {
    const alone = 'mkdir lock; rmdir lock'
    const { state } = await run(`steps: [{command: "${alone}", parallelism: 5}]`, { jobs: 1 })
    expect(state).toBe('passed')
  })

  it('start by priority, then in the order of the file', async () => {
    const { folder } = await run(
      `
      steps:
        - {command: "echo one >> order"}
        - {command: "echo two >> order", priority: 1}
        - {command: "echo three >> order"}
      `,
      { jobs: 1 },
    )
    expect(readFileSync(join(folder, 'order'), 'utf8')).toBe('two\none\nthree\n')
  })
})

describe('millrace run FILE: steps', () => {
  it('wait for what is before a wait, and do not run when that failed', async () => {
    const { states, state, terminal } = await run(`
      steps:
        - {label: first, command: "touch done"}
        - wait
        - {label: second, command: "test -e done; exit 1"}
        - wait
        - {label: third, command: "true"}
        - {wait: ~, continue_on_failure: true}
        - {label: fourth, command: "true"}
    `)
    expect(state).toBe('failed')
    expect(states).toEqual({
      first: 'passed',
      second: 'failed',
      third: 'waiting_failed',
      fourth: 'waiting_failed',
    })
    expect(terminal.lines).toContain('- third does not run: something before it failed')
  })

  it('are left out by if, branches and skip, with the reason', async () => {
    const { state, states, terminal } = await run(`
      steps:
        - {label: a, command: "true", if: build.branch == "release"}
        - {label: b, command: "true", branches: "release/*"}
        - {label: c, command: "true", skip: "flaky"}
    `)
    expect(state).toBe('not_run')
    expect(states).toEqual({ a: 'broken', b: 'broken', c: 'broken' })
    expect(terminal.output).toContain('- a is left out: its condition is false')
    expect(terminal.output).toContain('- b is left out: it is not for this branch')
    expect(terminal.output).toContain('- c is left out: flaky')
  })

  it('become one job for each place of parallelism and each combination of a matrix', async () => {
    const { jobs, terminal, state } = await run(`
      steps:
        - {label: split, command: "echo part $$BUILDKITE_PARALLEL_JOB of $$BUILDKITE_PARALLEL_JOB_COUNT", parallelism: 2}
        - wait
        - {label: "on {{matrix}}", command: "echo for {{matrix}}", matrix: [linux, mac]}
    `)
    expect(state).toBe('passed')
    expect(jobs.map((job) => job.label)).toEqual(['split 1/2', 'split 2/2', 'on linux', 'on mac'])
    for (const text of ['part 0 of 2', 'part 1 of 2', 'for linux', 'for mac']) {
      expect(terminal.output).toContain(text)
    }
  })

  it('are tried again as their retry rules say', async () => {
    const { state, jobs, terminal } = await run(`
      steps:
        - label: flaky
          command: 'test "$$BUILDKITE_RETRY_COUNT" = 2'
          retry: {automatic: {exit_status: 1, limit: 3}}
    `)
    expect(state).toBe('passed')
    expect(jobs).toMatchObject([{ label: 'flaky', state: 'passed' }])
    expect(terminal.lines).toContain('▸ flaky, try 3')
  })

  it('may fail softly', async () => {
    const { state, states } = await run(`
      steps:
        - {label: soft, command: exit 42, soft_fail: [{exit_status: 42}]}
        - wait
        - {label: after, command: "true"}
    `)
    expect(state).toBe('passed')
    expect(states).toEqual({ soft: 'failed', after: 'passed' })
  })

  it('are not blamed for a build that another job failed, when they fail softly', async () => {
    const { state, jobs, terminal } = await run(`
      steps:
        - {label: soft, command: exit 42, soft_fail: true}
        - {label: "odd {{matrix}}", command: "exit {{matrix}}", matrix: ["3", "4"], soft_fail: [{exit_status: 3}]}
    `)
    expect(describeReport({ state, jobs })).toBe('The build failed: odd 4.')
    expect(jobs).toMatchObject([
      { label: 'soft', state: 'failed', soft_failed: true },
      { label: 'odd 3', state: 'failed', soft_failed: true },
      { label: 'odd 4', state: 'failed' },
    ])
    expect(terminal.output).toMatch(/✗ soft failed with exit status 42 after .*, which does not count\n/)
  })

  it('are canceled when the build fails, if they ask for it', async () => {
    const { state, states } = await run(`
      steps:
        - {label: bad, command: "${meet('bad', 'cut')}; exit 1"}
        - {label: cut, command: "${meet('cut', 'bad')}; sleep 600", cancel_on_build_failing: true}
    `)
    expect(state).toBe('failed')
    expect(states).toEqual({ bad: 'failed', cut: 'canceled' })
  })

  it('share the slots of their concurrency group', async () => {
    const { state } = await run(
      'steps: [{command: "mkdir lock; rmdir lock", parallelism: 4, concurrency: 1, concurrency_group: g}]',
      { jobs: 4 },
    )
    expect(state).toBe('passed')
  })

  it('follow depends_on, in groups as well', async () => {
    const { state, folder } = await run(
      `
      steps:
        - {group: late, depends_on: first, steps: [{command: "echo late >> order"}]}
        - {command: "echo first >> order", key: first}
      `,
      { jobs: 4 },
    )
    expect(state).toBe('passed')
    expect(readFileSync(join(folder, 'order'), 'utf8')).toBe('first\nlate\n')
  })

  it('may come in several documents', async () => {
    const { state, states } = await run(
      'steps: [{command: "true", label: a}]\n---\nsteps: [{command: "true", label: b}]',
    )
    expect(state).toBe('passed')
    expect(states).toEqual({ a: 'passed', b: 'passed' })
  })

  it('that trigger another pipeline fail, or pass with --skip-triggers', async () => {
    const pipeline =
      'steps: [{trigger: other}, {trigger: third, async: true}, wait, {label: after, command: "true"}]'
    const refused = await run(pipeline)
    expect(refused.states).toEqual({ other: 'failed', third: 'failed', after: 'waiting_failed' })
    expect(refused.terminal.output).toContain('✗ other failed: a local run triggers no other pipeline')
    const skipped = await run(pipeline, { skipTriggers: true })
    expect(skipped.states).toEqual({ other: 'passed', third: 'passed', after: 'passed' })
  })

  it('that need plugins fail, or run without them with --ignore-plugins', async () => {
    const pipeline =
      'steps: [{label: a, command: echo ran, plugins: [docker#v5]}, {label: b, plugins: [docker#v5]}]'
    const refused = await run(pipeline)
    expect(refused.states).toEqual({ a: 'failed', b: 'failed' })
    expect(refused.terminal.output).toContain('a: plugins cannot be run here; --ignore-plugins')
    const ignored = await run(pipeline, { ignorePlugins: true })
    expect(ignored.states).toEqual({ a: 'passed', b: 'passed' })
    expect(ignored.terminal.lines).toContain('ran')
  })

  it('take secrets from the environment, and fail without them', async () => {
    const pipeline = 'steps: [{label: a, command: "echo got $$TOKEN", secrets: {TOKEN: DEPLOY_KEY}}]'
    const missing = await run(pipeline)
    expect(missing.jobs).toMatchObject([{ state: 'failed', exit_status: -1 }])
    expect(missing.terminal.output).toContain('it lacks DEPLOY_KEY')
    const given = await run(pipeline, { outerEnv: { ...outer, DEPLOY_KEY: 'hush' } })
    expect(given.terminal.lines).toContain('got hush')
  })

  it('report once what a local run does not support', async () => {
    const { terminal } = await run(`
      agents: {queue: big}
      steps:
        - {command: "true", artifact_paths: "*.log", cache: "node_modules", image: "node:20"}
        - {command: "true", artifact_paths: "*.txt"}
    `)
    expect(terminal.lines.filter((line) => line.startsWith('Artifacts are kept'))).toHaveLength(1)
    expect(terminal.lines.filter((line) => line.startsWith('Jobs run on this machine'))).toHaveLength(1)
    expect(terminal.output).toContain('A local run has no cache volumes.')
    expect(terminal.output).toContain('Jobs run without containers')
  })
})

describe('millrace run FILE: the command', () => {
  const readRun = async (text: string, ...args: string[]): Promise<{ code: number; printed: unknown }> => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    const folder = aFolder({ 'pipeline.yml': text })
    const code = await main(['run', join(folder, 'pipeline.yml'), '--json', ...args])
    const printed: unknown = JSON.parse(log.mock.calls.map(([line]) => String(line)).join('\n'))
    log.mockRestore()
    return { code, printed }
  }

  it('prints one JSON value with --json and exits with 0 when the build passes, else with 1', async () => {
    const write = vi.spyOn(process.stdout, 'write')
    const passed = await readRun('steps: [{command: "echo hello", label: a}]')
    expect(passed).toEqual({
      code: 0,
      printed: {
        state: 'passed',
        jobs: [{ label: 'a', state: 'passed', exit_status: 0, seconds: expect.any(Number) }],
      },
    })
    expect(await readRun('steps: [{command: "exit 3"}]')).toMatchObject({
      code: 1,
      printed: { state: 'failed', jobs: [{ state: 'failed', exit_status: 3 }] },
    })
    const blocked = 'steps: [{block: go, fields: [{text: T, key: t}]}]'
    expect(await readRun(blocked)).toMatchObject({ code: 1, printed: { state: 'blocked' } })
    expect(await readRun(blocked, '--unblock', '--field', 't=x')).toMatchObject({
      code: 0,
      printed: {
        state: 'passed',
        jobs: [{ label: 'go', state: 'unblocked', exit_status: null, seconds: null }],
      },
    })
    expect(await readRun('steps: [{command: "true", skip: true}]')).toMatchObject({
      code: 0,
      printed: { state: 'not_run' },
    })
    expect(write).not.toHaveBeenCalled()
  })

  it('refuses a pipeline that cannot be read as lint does', async () => {
    expect(await readRun('steps: [{comand: x}]')).toMatchObject({
      code: 1,
      printed: { ok: false, problems: [{ line: 1, column: 9 }] },
    })
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    expect(await main(['run', join(aFolder({ 'p.yml': 'steps: 1' }), 'p.yml')])).toBe(1)
    expect(error.mock.calls.join('\n')).toMatch(/p\.yml:1:8: .*\n {2}1 \| steps: 1\n {4}\| {8}\^/)
  })

  it('exits with 2 on wrong usage', async () => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    expect(await main(['run', 'p.yml', '--jobs', '0'])).toBe(2)
    expect(await main(['run', 'p.yml', '--field', 'novalue'])).toBe(2)
    expect(await main(['run', 'p.yml', '--env', '=x'])).toBe(2)
  })

  it('leaves no private folder behind', async () => {
    const folder = aFolder()
    vi.stubEnv('TMPDIR', folder)
    const { result } = startRun('steps: [{command: "true"}]', { folder })
    vi.unstubAllEnvs()
    await result
    expect(readdirSync(folder)).toEqual([])
  })
})
