import { describe, expect, it } from 'vitest'
import { stepOutcomeOf, stepStateOf } from '../../src/outcome.ts'
import { run } from '../running.ts'
import type { Run } from '../running.ts'

const FAIL_FAST = 'steps: [{command: a}, {command: b, cancel_on_build_failing: true}, {command: c}]'

function exits(build: Run, name: string, ...statuses: number[]): void {
  for (const status of statuses) build.exit(name, status)
}

describe('E16 soft fail list', () => {
  const yaml = 'steps: [{command: a, soft_fail: [{exit_status: 42}]}, wait, {command: b}]'

  it('goes on over a listed status', () => {
    const build = run(yaml)
    build.exit('a', 42)
    expect(build.states).toMatchObject({ a: 'failed', b: 'scheduled' })
    expect(build.job('a').softFailed).toBe(true)
    build.pass('b')
    expect(build.state).toBe('passed')
    expect(build.row.failingAt).toBeNull()
  })

  it('stops at any other', () => {
    const build = run(yaml)
    build.exit('a', 1)
    expect(build.states).toMatchObject({ b: 'waiting_failed' })
    expect(build.state).toBe('failed')
  })
})

describe('E17 first matching rule decides', () => {
  const yaml = `
steps:
  - command: a
    retry: {automatic: [{exit_status: 5, limit: 1}, {exit_status: "*", limit: 3}]}
`

  it('does not fall through to a later rule', () => {
    const build = run(yaml)
    exits(build, 'a', 5, 5)
    expect(build.build.store.jobs.size).toBe(2)
    expect(build.state).toBe('failed')
  })

  it('counts each rule on its own', () => {
    const build = run(yaml)
    exits(build, 'a', 5, 7, 7, 7, 7)
    expect(build.build.store.jobs.size).toBe(5)
    expect(build.state).toBe('failed')
  })

  it('passes when a retry passes', () => {
    const build = run(yaml)
    exits(build, 'a', 5, 0)
    expect(build.state).toBe('passed')
  })
})

describe('E18 limit 0 blocks later rules', () => {
  const yaml = `
steps:
  - command: a
    retry: {automatic: [{exit_status: -1, signal_reason: stack_error, limit: 0}, {exit_status: "*", limit: 2}]}
`

  it('does not retry what the first rule matches', () => {
    const build = run(yaml)
    build.exit('a', -1, { signalReason: 'stack_error' })
    expect(build.state).toBe('failed')
  })

  it('does not take -1 for any status', () => {
    const build = run(yaml)
    build.exit('a', -1)
    expect(build.state).toBe('failed')
  })

  it('retries an ordinary failure', () => {
    const build = run(yaml)
    build.exit('a', 3)
    expect(build.states).toEqual({ a: 'scheduled' })
  })
})

describe('E19 automatic retry then pass', () => {
  const yaml = 'steps: [{command: a, retry: {automatic: true}}, {command: f, cancel_on_build_failing: true}]'

  it('leaves no trace of failing', () => {
    const build = run(yaml)
    const first = build.job('a').id
    exits(build, 'a', 1, 0)
    build.pass('f')
    expect(build.state).toBe('passed')
    expect(build.row.failingAt).toBeNull()
    const second = build.job('a')
    expect(second).toMatchObject({ retriesCount: 1, retrySourceJobId: first, retrySourceType: 'automatic' })
    expect(build.build.store.jobs.get(first)).toMatchObject({
      state: 'failed',
      retriedInJobId: second.id,
      retryType: 'automatic',
    })
  })

  it('does not retry a canceled job', () => {
    const build = run(yaml)
    build.start('a')
    build.cancel('a')
    build.exit('a', 143)
    expect(build.states).toMatchObject({ a: 'canceled' })
    expect(build.build.store.jobs.size).toBe(2)
  })
})

describe('E20 manual retry reopens a finished build', () => {
  it('runs what the failure had stopped', () => {
    const build = run('[{command: a}, wait, {command: b}]')
    const first = build.job('a').id
    build.exit('a', 1)
    build.retry('a')
    expect(build.states).toEqual({ a: 'scheduled', wait: 'waiting', b: 'waiting' })
    expect(build.state).toBe('running')
    expect(build.row.finishedAt).toBeNull()
    expect(build.refused({ type: 'retry', jobId: first, parentCanceled: false })).toBe('already_retried')
    build.pass('a', 'b')
    expect(build.state).toBe('passed')
  })

  it('is refused in a canceled build', () => {
    const build = run('[{command: a}, wait, {command: b}]')
    build.must({ type: 'cancel_build', reason: null })
    const jobId = build.job('a').id
    expect(build.refused({ type: 'retry', jobId, parentCanceled: false })).toBe('build_canceled')
  })

  it('is refused for a passed job unless the step permits it', () => {
    const build = run(
      'steps: [{command: a}, {command: b, retry: {manual: {permit_on_passed: true}}}, {command: c, retry: {manual: false}}]',
    )
    build.pass('a', 'b')
    build.exit('c', 1)
    for (const name of ['a', 'c']) {
      const jobId = build.job(name).id
      expect(build.refused({ type: 'retry', jobId, parentCanceled: false })).toBe('retry_not_allowed')
    }
    build.retry('b')
    expect(build.states).toMatchObject({ b: 'scheduled' })
    const jobId = build.job('b').id
    expect(build.refused({ type: 'retry', jobId, parentCanceled: false })).toBe('wrong_state')
  })
})

describe('E21 fail-fast', () => {
  it('cancels only the steps that ask for it', () => {
    const build = run(FAIL_FAST)
    build.start('a', 'b', 'c')
    const effects = build.exit('a', 1)
    expect(build.state).toBe('failing')
    expect(build.states).toEqual({ a: 'failed', b: 'canceling', c: 'running' })
    expect(effects).toContainEqual({ kind: 'cancel_on_agent', jobId: build.job('b').id, cause: 'canceled' })
    build.exit('b', 143)
    expect(build.states).toMatchObject({ b: 'canceled' })
    build.pass('c')
    expect(build.state).toBe('failed')
  })

  it('cancels nothing after a soft failure', () => {
    const build = run(FAIL_FAST.replace('{command: a}', '{command: a, soft_fail: true}'))
    build.start('a', 'b', 'c')
    build.exit('a', 1)
    expect(build.states).toMatchObject({ b: 'running', c: 'running' })
  })

  it('cancels jobs that become ready while the build is failing', () => {
    const build = run(`
steps:
  - {command: a, key: a}
  - {command: c}
  - {command: b, depends_on: [{step: a, allow_failure: true}], cancel_on_build_failing: true}
`)
    build.start('c')
    build.exit('a', 1)
    expect(build.states).toMatchObject({ b: 'canceled' })
  })

  it('lets a person retry a job it has canceled', () => {
    const build = run(FAIL_FAST)
    build.exit('a', 1)
    build.pass('c')
    expect(build.state).toBe('failed')
    build.retry('b')
    expect(build.states).toMatchObject({ b: 'scheduled' })
    expect(build.state).toBe('failing')
    build.pass('b')
    build.retry('a')
    build.pass('a')
    expect(build.state).toBe('passed')
  })

  it('does not pass a build whose canceled jobs never ran', () => {
    const build = run(FAIL_FAST)
    build.exit('a', 1)
    build.pass('c')
    build.retry('a')
    build.pass('a')
    expect(build.state).toBe('failed')
  })
})

describe('E22 promised failure', () => {
  it('fails the build while the job still runs', () => {
    const build = run(FAIL_FAST)
    build.start('a', 'b', 'c')
    const jobId = build.job('a').id
    build.must({ type: 'promise', jobId, exitStatus: 1 })
    expect(build.states).toEqual({ a: 'running', b: 'canceling', c: 'running' })
    expect(build.state).toBe('failing')
    expect(build.job('a').promisedExitStatus).toBe(1)
    expect(stepStateOf(build.step('a'))).toBe('failing')
    expect(build.refused({ type: 'promise', jobId, exitStatus: 2 })).toBe('already_promised')
    build.pass('a')
    expect(build.job('a')).toMatchObject({ state: 'failed', exitStatus: 1 })
    build.pass('c')
    build.exit('b', 143)
    expect(build.state).toBe('failed')
  })

  it('leaves the build alone when a rule would retry the failure', () => {
    const build = run(FAIL_FAST.replace('{command: a}', '{command: a, retry: {automatic: {exit_status: 1}}}'))
    build.start('a', 'b', 'c')
    build.must({ type: 'promise', jobId: build.job('a').id, exitStatus: 1 })
    expect(build.state).toBe('running')
    expect(build.states).toMatchObject({ b: 'running' })
  })

  it('refuses to promise success', () => {
    const build = run(FAIL_FAST)
    build.start('a')
    const jobId = build.job('a').id
    expect(build.refused({ type: 'promise', jobId, exitStatus: 0 })).toBe('invalid_exit_status')
  })
})

describe('E33 parallelism', () => {
  const yaml = 'steps: [{command: t, label: "T %N/%t", parallelism: 3}, wait, {command: b}]'

  it('decides the step when all its jobs have ended', () => {
    const build = run(yaml)
    expect(build.states).toEqual({
      'T 1/3': 'scheduled',
      'T 2/3': 'scheduled',
      'T 3/3': 'scheduled',
      wait: 'waiting',
      b: 'waiting',
    })
    build.exit('T 1/3', 1)
    expect(build.state).toBe('failing')
    expect(build.states).toMatchObject({ wait: 'waiting' })
    build.pass('T 2/3', 'T 3/3')
    expect(build.states).toMatchObject({ wait: 'waiting_failed', b: 'waiting_failed' })
    expect(stepOutcomeOf(build.step('T 1/3'))).toBe('hard_failed')
    expect(build.state).toBe('failed')
  })

  it('retries only the index that failed', () => {
    const build = run(yaml.replace('parallelism: 3', 'parallelism: 3, retry: {automatic: true}'))
    build.exit('T 2/3', 1)
    expect(build.build.store.jobs.size).toBe(6)
    expect(build.job('T 2/3')).toMatchObject({ slot: 1, retriesCount: 1, state: 'scheduled' })
  })
})

describe('E34 matrix', () => {
  it('makes one job per combination, skipped ones broken', () => {
    const build = run(`
steps:
  - label: "{{matrix.os}}/{{ matrix.arch }}"
    command: "make {{matrix.os}}"
    matrix:
      setup: {os: [linux, mac], arch: [x86, arm]}
      adjustments:
        - {with: {os: linux, arch: arm}, skip: true}
        - {with: {os: mac, arch: x86}, soft_fail: true}
        - {with: {os: bsd, arch: x86}}
  - wait
`)
    expect(build.states).toEqual({
      'linux/x86': 'scheduled',
      'linux/arm': 'broken',
      'mac/x86': 'scheduled',
      'mac/arm': 'scheduled',
      'bsd/x86': 'scheduled',
      wait: 'waiting',
    })
    expect(build.build.store.work.get(build.job('mac/arm').id)).toMatchObject({
      command: 'make mac',
      matrix: { os: 'mac', arch: 'arm' },
    })
    build.exit('mac/x86', 1)
    build.pass('linux/x86', 'mac/arm', 'bsd/x86')
    expect(build.state).toBe('passed')
    expect(stepOutcomeOf(build.step('mac/x86'))).toBe('soft_failed')
  })
})
