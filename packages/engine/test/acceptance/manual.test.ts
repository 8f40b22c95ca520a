import { describe, expect, it } from 'vitest'
import { run } from '../running.ts'

const BLOCK = 'steps: [{command: a}, {block: "Ship?"}, {command: b}]'

describe('E23 block', () => {
  it('holds the build until a person releases it', () => {
    const build = run(BLOCK)
    expect(build.states).toEqual({ a: 'scheduled', 'Ship?': 'blocked', b: 'blocked' })
    const early = { type: 'unblock', jobId: build.job('Ship?').id, answers: {}, by: 'ada' } as const
    expect(build.refused(early)).toBe('dependencies_unmet')
    const effects = build.exit('a', 0)
    expect(build.row).toMatchObject({ state: 'blocked', blockedState: 'passed' })
    expect(build.state).toBe('passed')
    expect(build.row.finishedAt).not.toBeNull()
    expect(effects).toContainEqual({ kind: 'notify', event: 'build.finished' })
    build.unblock('Ship?')
    expect(build.states).toEqual({ a: 'passed', 'Ship?': 'unblocked', b: 'scheduled' })
    expect(build.job('Ship?')).toMatchObject({ unblockedBy: 'ada', unblockable: false })
    expect(build.row).toMatchObject({ state: 'running', blockedState: null, finishedAt: null })
    build.exit('b', 1)
    expect(build.state).toBe('failed')
  })

  it('refuses to release another kind of job, or a block twice', () => {
    const build = run(BLOCK)
    build.pass('a')
    const unblock = (name: string) => ({
      type: 'unblock' as const,
      jobId: build.job(name).id,
      answers: {},
      by: null,
    })
    expect(build.refused(unblock('b'))).toBe('wrong_kind')
    build.must(unblock('Ship?'))
    expect(build.refused(unblock('Ship?'))).toBe('job_finished')
  })

  it('moves everything behind it from blocked to waiting', () => {
    const build = run('steps: [{block: go}, {command: a}, wait, {command: b}]')
    expect(build.states).toEqual({ go: 'blocked', a: 'blocked', wait: 'blocked', b: 'blocked' })
    build.unblock('go')
    expect(build.states).toEqual({ go: 'unblocked', a: 'scheduled', wait: 'waiting', b: 'waiting' })
    expect(build.state).toBe('scheduled')
  })
})

describe('E24 block behind a failure', () => {
  const yaml = 'steps: [{command: a}, {wait: ~, continue_on_failure: true}, {block: go}, {command: b}]'

  it('cannot be released', () => {
    const build = run(yaml)
    build.exit('a', 1)
    expect(build.states).toEqual({
      a: 'failed',
      wait: 'passed',
      go: 'blocked_failed',
      b: 'blocked_failed',
    })
    expect(build.state).toBe('failed')
    const jobId = build.job('go').id
    expect(build.refused({ type: 'unblock', jobId, answers: {}, by: null })).toBe('job_finished')
  })

  it('is an ordinary block behind a soft failure', () => {
    const build = run(yaml.replace('{command: a}', '{command: a, soft_fail: true}'))
    build.exit('a', 1)
    expect(build.states).toMatchObject({ go: 'blocked', b: 'blocked' })
    expect(build.state).toBe('passed')
    expect(build.row.state).toBe('blocked')
    build.unblock('go')
    build.pass('b')
    expect(build.state).toBe('passed')
  })
})

describe('E25 blocked_state', () => {
  it.each([
    ['failed', true],
    ['running', false],
  ])('%s is what the blocked build shows', (blockedState, isOver) => {
    const build = run(`steps: [{command: a}, {block: go, blocked_state: ${blockedState}}]`)
    build.pass('a')
    expect(build.row.state).toBe('blocked')
    expect(build.state).toBe(blockedState)
    expect(build.row.finishedAt !== null).toBe(isOver)
  })

  it('shows the worst of several, and a failure above all', () => {
    const build = run(`
steps:
  - {input: one, blocked_state: passed}
  - {input: two, blocked_state: running}
  - {command: a}
`)
    build.exit('a', 1)
    expect(build.row).toMatchObject({ state: 'blocked', blockedState: 'failed' })
  })

  it('lets a waiting trigger job pass only when the child shows passed', () => {
    const build = run('steps: [{trigger: child}]')
    const jobId = build.job('child').id
    const child = { type: 'child_changed', jobId, state: 'blocked', isSuperseded: false } as const
    build.must({ ...child, blockedState: 'failed' })
    build.must({ ...child, blockedState: 'running' })
    expect(build.states).toEqual({ child: 'running' })
    build.must({ ...child, blockedState: 'passed' })
    expect(build.states).toEqual({ child: 'passed' })
  })
})

describe('E26 input is not a barrier', () => {
  it('holds only what names it', () => {
    const build = run(
      'steps: [{input: "Who?", key: i, fields: [{text: Name, key: name}]}, {command: a}, {command: b, depends_on: i}]',
    )
    expect(build.states).toEqual({ 'Who?': 'blocked', a: 'scheduled', b: 'blocked' })
    build.pass('a')
    expect(build.row.state).toBe('blocked')
    const effects = build.unblock('Who?', { name: 'Ada' })
    expect(effects).toContainEqual({ kind: 'set_meta_data', values: { name: 'Ada' } })
    expect(build.states).toMatchObject({ b: 'scheduled' })
  })

  it('is waited for by a later wait', () => {
    const build = run('steps: [{input: i}, wait, {command: a}]')
    expect(build.states).toEqual({ i: 'blocked', wait: 'blocked', a: 'blocked' })
    build.unblock('i')
    expect(build.states).toEqual({ i: 'unblocked', wait: 'passed', a: 'scheduled' })
  })
})

describe('E27 explicit dependency bypasses a block', () => {
  it('runs without a person', () => {
    const build = run('steps: [{command: a, key: a}, {block: go}, {command: d, depends_on: a}]')
    expect(build.states).toMatchObject({ d: 'waiting' })
    build.pass('a', 'd')
    expect(build.row).toMatchObject({ state: 'blocked', blockedState: 'passed' })
  })

  it('waits when it names the block', () => {
    const build = run(
      'steps: [{command: a, key: a}, {block: go, key: gate}, {command: d, depends_on: [a, gate]}]',
    )
    build.pass('a')
    expect(build.states).toMatchObject({ d: 'blocked' })
    build.unblock('go')
    expect(build.states).toMatchObject({ d: 'scheduled' })
  })
})

describe('E28 field validation', () => {
  const yaml = `
steps:
  - block: release
    fields:
      - {text: Hex, key: hex, format: "[0-9a-f]+"}
      - {select: Regions, key: r, multiple: true, required: false, options: [{label: EU, value: eu}, {label: US, value: us}]}
`

  it.each([[{ hex: 'xyz' }], [{}], [{ hex: 'ff', r: ['jp'] }], [{ hex: 'ff', more: 'x' }]])(
    'refuses %j',
    (answers: Record<string, string | string[]>) => {
      const build = run(yaml)
      const jobId = build.job('release').id
      expect(build.refused({ type: 'unblock', jobId, answers, by: null })).toBe('invalid_fields')
      expect(build.states).toEqual({ release: 'blocked' })
    },
  )

  it('joins several choices by line feeds and keeps the key of an empty answer', () => {
    const chosen = run(yaml).unblock('release', { hex: 'ff', r: ['eu', 'us'] })
    expect(chosen).toContainEqual({ kind: 'set_meta_data', values: { hex: 'ff', r: 'eu\nus' } })
    const empty = run(yaml).unblock('release', { hex: 'ff' })
    expect(empty).toContainEqual({ kind: 'set_meta_data', values: { hex: 'ff', r: '' } })
  })
})
