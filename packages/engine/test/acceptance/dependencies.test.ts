import { describe, expect, it } from 'vitest'
import { Run, run } from '../running.ts'
import { mustRead } from '../reading.ts'

const ALLOWED = `
steps:
  - {command: a, key: a}
  - {command: b, key: b, depends_on: a}
  - {command: c, depends_on: [{step: b, allow_failure: true}]}
  - {command: d, depends_on: a, allow_dependency_failure: true}
`

const TIMED =
  'steps: [{command: t, timeout_in_minutes: 1, key: t}, {command: u, depends_on: t, allow_dependency_failure: true}]'

describe('E07 unknown dependency key', () => {
  it('is accepted, and fails once nothing else can run', () => {
    const build = run('steps: [{command: a}, {command: b, depends_on: nope}]')
    expect(build.states).toEqual({ a: 'scheduled', b: 'waiting' })
    build.pass('a')
    expect(build.states).toEqual({ a: 'passed', b: 'waiting_failed' })
    expect(build.state).toBe('failed')
  })

  it('lets a step that allows the failure run', () => {
    const build = run(
      'steps: [{command: b, key: b, depends_on: nope}, {command: c, depends_on: [{step: b, allow_failure: true}]}]',
    )
    expect(build.states).toEqual({ b: 'waiting_failed', c: 'scheduled' })
    build.pass('c')
    expect(build.state).toBe('failed')
  })
})

describe('a key with values of a matrix', () => {
  it('is waited for alone', () => {
    const build = run(`steps:
      - {command: "build {{matrix}}", key: "build-{{matrix}}", matrix: [a, b]}
      - {command: "test {{matrix}}", depends_on: "build-{{matrix}}", matrix: [a, b]}
      - {command: report, depends_on: [build-a, build-b]}`)
    build.pass('build a')
    expect(build.states).toEqual({
      'build a': 'passed',
      'build b': 'scheduled',
      'test a': 'scheduled',
      'test b': 'waiting',
      report: 'waiting',
    })
    build.exit('build b', 1)
    expect(build.states).toMatchObject({
      'test a': 'scheduled',
      'test b': 'waiting_failed',
      report: 'waiting_failed',
    })
  })

  it('can be brought by an upload, and not twice', () => {
    const build = run('steps: [{command: up, key: up}, {command: b, depends_on: late-1}]')
    build.start('up')
    const document = 'steps: [{command: "l{{matrix}}", key: "late-{{matrix}}", matrix: [1, 2]}]'
    build.upload('up', document)
    expect(build.uploadRefused('up', mustRead(document))).toBe('invalid_upload')
    build.pass('up', 'l1')
    expect(build.states).toMatchObject({ b: 'scheduled', l2: 'scheduled' })
  })
})

describe('E08 the key arrives by upload', () => {
  it('waits for the uploaded step', () => {
    const build = run('steps: [{command: up, key: up}, {command: b, depends_on: late}]')
    build.start('up')
    build.upload('up', 'steps: [{command: l, key: late}]')
    expect(build.states).toEqual({ up: 'running', l: 'waiting', b: 'waiting' })
    build.pass('up')
    expect(build.states).toMatchObject({ l: 'scheduled', b: 'waiting' })
    build.pass('l')
    expect(build.states).toMatchObject({ b: 'scheduled' })
    build.pass('b')
    expect(build.state).toBe('passed')
  })
})

describe('E09 allowed failures', () => {
  it('runs what allows the failure and nothing else', () => {
    const build = run(ALLOWED)
    build.exit('a', 1)
    expect(build.states).toEqual({ a: 'failed', b: 'waiting_failed', c: 'scheduled', d: 'scheduled' })
    expect(build.row.failingAt).not.toBeNull()
    build.pass('c', 'd')
    expect(build.state).toBe('failed')
  })
})

describe('E10 canceled is never allowed', () => {
  it('runs nothing behind a cancel', () => {
    const build = run(ALLOWED)
    build.start('a')
    build.cancel('a')
    build.exit('a', 143)
    expect(build.states).toEqual({
      a: 'canceled',
      b: 'waiting_failed',
      c: 'waiting_failed',
      d: 'waiting_failed',
    })
    expect(build.state).toBe('failed')
  })

  it('runs everything when the canceled job is soft', () => {
    const build = run(ALLOWED.replace('key: a}', 'key: a, soft_fail: true}'))
    build.start('a')
    build.cancel('a')
    build.exit('a', 143)
    build.pass('b', 'c', 'd')
    expect(build.state).toBe('passed')
  })
})

describe('E11 timeout and expiry', () => {
  it('counts a timeout as an allowed failure', () => {
    const build = run(TIMED)
    build.start('t')
    build.must({ type: 'time_out', jobId: build.job('t').id })
    expect(build.states).toEqual({ t: 'timing_out', u: 'waiting' })
    build.exit('t', 143, { signal: 'SIGTERM', signalReason: 'cancel' })
    expect(build.states).toEqual({ t: 'timed_out', u: 'scheduled' })
    expect(build.job('t').signalReason).toBe('cancel')
    build.pass('u')
    expect(build.state).toBe('failed')
  })

  it('passes a job that ends well within the grace', () => {
    const build = run(TIMED)
    build.start('t')
    build.must({ type: 'time_out', jobId: build.job('t').id })
    build.pass('t', 'u')
    expect(build.states).toEqual({ t: 'passed', u: 'passed' })
    expect(build.state).toBe('passed')
  })

  it('ends the job when the agent never answers', () => {
    const build = run(TIMED)
    build.start('t')
    build.must({ type: 'time_out', jobId: build.job('t').id })
    build.must({ type: 'give_up_on_agent', jobId: build.job('t').id })
    expect(build.states).toEqual({ t: 'timed_out', u: 'scheduled' })
  })

  it('never allows an expiry', () => {
    const build = run(TIMED)
    build.must({ type: 'expire', jobId: build.job('t').id })
    expect(build.states).toEqual({ t: 'expired', u: 'waiting_failed' })
    expect(build.state).toBe('failed')
  })
})

describe('E12 ignored dependency counts as done', () => {
  it('lets the dependent run at once', () => {
    const build = run(`
steps:
  - {command: p, key: pub, if: build.branch == "release"}
  - {command: d, depends_on: pub}
`)
    expect(build.states).toEqual({ p: 'broken', d: 'scheduled' })
    expect(build.job('p').reason).toBe('conditional_failed')
    build.pass('d')
    expect(build.state).toBe('passed')
  })
})

describe('E13 ignored middle step breaks the chain', () => {
  it('does not hand its own dependencies on', () => {
    const build = run(`
steps:
  - {command: a, key: a}
  - {command: b, key: b, depends_on: a, if: "false"}
  - {command: c, depends_on: b}
`)
    expect(build.states).toEqual({ a: 'scheduled', b: 'broken', c: 'scheduled' })
  })
})

describe('E14 nothing to run', () => {
  it('is not run', () => {
    const build = run(
      'steps: [{command: a, skip: "flaky, see ticket"}, wait, {command: b, branches: "release/*"}]',
    )
    expect(build.states).toEqual({ a: 'broken', wait: 'passed', b: 'broken' })
    expect([build.job('a').reason, build.job('b').reason]).toEqual(['flaky, see ticket', 'branch_mismatch'])
    expect(build.state).toBe('not_run')
    expect(build.row.startedAt).toBeNull()
    expect(build.row.finishedAt).not.toBeNull()
  })

  it('holds for a build without steps and for one with only waits', () => {
    expect(new Run({ env: [], notify: [], steps: [] }).state).toBe('not_run')
    expect(run('steps: [wait, wait]').state).toBe('not_run')
  })
})

describe('E15 skip forms', () => {
  it.each([
    ['skip: ""', 'scheduled'],
    ['skip: false', 'scheduled'],
    ['skip: true', 'broken'],
    ['skip: why', 'broken'],
  ])('%s makes the job %s', (skip, state) => {
    expect(run(`steps: [{command: a, ${skip}}, {command: b}]`).states).toMatchObject({ a: state })
  })

  it('passes over skipped steps at a wait', () => {
    expect(run('steps: [{command: a, skip: true}, wait, {command: b}]').states).toEqual({
      a: 'broken',
      wait: 'passed',
      b: 'scheduled',
    })
  })
})

describe('E31 branch patterns', () => {
  const yaml = 'steps: [{command: a, branches: "main feature/* !feature/beta"}, {command: z}]'

  it.each([
    ['main', 'scheduled'],
    ['feature/a', 'scheduled'],
    ['feature/a/b', 'scheduled'],
    ['feature/beta', 'broken'],
    ['dev', 'broken'],
  ])('on %s the job is %s', (branch, state) => {
    expect(run(yaml, { branch }).states).toMatchObject({ a: state })
  })
})

describe('E32 conditional edge cases', () => {
  it('evaluates a condition once, when the step is added', () => {
    const yaml = `
steps:
  - {command: tagged, if: "build.tag != null"}
  - {command: ready, if: "!build.pull_request.draft"}
  - {command: numbered, if: "build.number == 1"}
`
    expect(run(yaml).states).toEqual({ tagged: 'broken', ready: 'scheduled', numbered: 'scheduled' })
  })
})

describe('cycles', () => {
  it('refuses steps that wait for each other through a barrier', () => {
    const document = mustRead('steps: [{command: a, depends_on: w}, {wait: ~, key: w}]')
    expect(() => new Run(document)).toThrow('"w"')
  })
})
