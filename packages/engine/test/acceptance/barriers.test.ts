import { describe, expect, it } from 'vitest'
import { run } from '../running.ts'

const PLAIN = `
- command: a
- wait
- command: b
`

const CONTINUED = `
steps:
  - command: a
  - wait: ~
    continue_on_failure: true
  - command: b
  - wait
  - command: c
`

describe('E01 list root, string wait', () => {
  it('holds b back until a has passed', () => {
    const build = run(PLAIN)
    expect(build.states).toEqual({ a: 'scheduled', wait: 'waiting', b: 'waiting' })
    expect(build.state).toBe('scheduled')
    build.start('a')
    expect(build.state).toBe('running')
    expect(build.row.startedAt).not.toBeNull()
    build.pass('a')
    expect(build.states).toEqual({ a: 'passed', wait: 'passed', b: 'scheduled' })
    build.pass('b')
    expect(build.state).toBe('passed')
    expect(build.row.finishedAt).not.toBeNull()
  })
})

describe('E02 plain wait after failure', () => {
  it('does not run what is behind the wait', () => {
    const build = run(PLAIN)
    build.exit('a', 1)
    expect(build.states).toEqual({ a: 'failed', wait: 'waiting_failed', b: 'waiting_failed' })
    expect(build.state).toBe('failed')
    expect(build.row.failingAt).toBeNull()
    expect(build.job('b').runnableAt).toBeNull()
  })
})

describe('E03 continued failure, then a strict wait', () => {
  it('runs b but not c after a failure', () => {
    const build = run(CONTINUED)
    build.exit('a', 1)
    expect(build.states).toMatchObject({ a: 'failed', wait: 'passed', b: 'scheduled' })
    expect(build.state).toBe('failing')
    expect(build.row.failingAt).not.toBeNull()
    build.pass('b')
    expect(build.states).toMatchObject({ 'wait 2': 'waiting_failed', c: 'waiting_failed' })
    expect(build.state).toBe('failed')
  })

  it('runs everything when a passes', () => {
    const build = run(CONTINUED)
    build.pass('a', 'b', 'c')
    expect(build.state).toBe('passed')
  })

  it('opens the strict wait again when the old failure is retried', () => {
    const build = run(CONTINUED)
    build.exit('a', 1)
    build.pass('b')
    build.retry('a')
    expect(build.states).toMatchObject({ a: 'scheduled', wait: 'passed', 'wait 2': 'waiting', c: 'waiting' })
    build.pass('a', 'c')
    expect(build.state).toBe('passed')
  })
})

describe('E04 strict wait before a continued one', () => {
  it('stops at the strict wait', () => {
    const build = run(
      'steps: [{command: a}, wait, {command: b}, {wait: ~, continue_on_failure: true}, {command: c}]',
    )
    build.exit('a', 1)
    expect(build.states).toEqual({
      a: 'failed',
      wait: 'waiting_failed',
      b: 'waiting_failed',
      'wait 2': 'waiting_failed',
      c: 'waiting_failed',
    })
    expect(build.state).toBe('failed')
  })
})

describe('E05 canceled job beats continue_on_failure', () => {
  it('runs nothing behind a canceled job', () => {
    const build = run(CONTINUED)
    build.start('a')
    build.cancel('a')
    expect(build.states).toMatchObject({ a: 'canceling', wait: 'waiting' })
    build.exit('a', 143, { signal: 'SIGTERM', signalReason: 'cancel' })
    expect(Object.values(build.states)).toEqual([
      'canceled',
      ...Array.from({ length: 4 }, () => 'waiting_failed'),
    ])
    expect(build.state).toBe('failed')
  })

  it('runs on when the step fails softly', () => {
    const build = run(CONTINUED.replace('command: a', 'command: a\n    soft_fail: true'))
    build.start('a')
    build.cancel('a')
    build.exit('a', 143)
    expect(build.job('a').softFailed).toBe(true)
    build.pass('b', 'c')
    expect(build.state).toBe('passed')
  })
})

describe('E06 explicit dependency jumps barriers', () => {
  it('waits for what it names and nothing else', () => {
    const build = run(`
steps:
  - {command: quick, key: q}
  - {command: slow}
  - wait
  - {command: d, depends_on: q}
  - {command: e, depends_on: ~}
  - {command: f}
`)
    expect(build.states).toEqual({
      quick: 'scheduled',
      slow: 'scheduled',
      wait: 'waiting',
      d: 'waiting',
      e: 'scheduled',
      f: 'waiting',
    })
    build.start('slow')
    build.pass('quick')
    expect(build.states).toMatchObject({ d: 'scheduled', f: 'waiting' })
  })
})
