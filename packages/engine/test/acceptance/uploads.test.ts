import { describe, expect, it } from 'vitest'
import { jobEnvironment } from '../../src/environment.ts'
import { mustRead } from '../reading.ts'
import { run } from '../running.ts'
import { someStandardFacts } from '../standard-facts.ts'

const UPLOADER = 'steps: [{command: u, key: u}, wait, {command: z}]'

describe('E37 interpolation and env', () => {
  it('lets uploaded variables beat those of the build, and the step beat both', () => {
    const document = mustRead(
      `
env: {A: "1", B: "$A-x"}
steps:
  - command: "echo $B"
    env: {A: "2"}
`,
      { interpolateWith: () => undefined },
    )
    const build = run('steps: [{command: u}]')
    build.start('u')
    build.must(build.uploadEvent('u', document))
    const work = build.build.store.work.get(build.job('echo 1-x').id)
    if (work?.kind !== 'script') throw new Error('Expected a script')
    const env = jobEnvironment({
      stored: {},
      build: { A: '9', C: '3' },
      uploaded: Object.fromEntries(document.env),
      work,
      standard: someStandardFacts(),
    })
    expect(env).toMatchObject({ A: '2', B: '1-x', C: '3' })
  })
})

describe('E38 upload position and coverage', () => {
  it('puts later uploads in front and holds z behind all of them', () => {
    const build = run(UPLOADER)
    build.start('u')
    build.upload('u', 'steps: [{command: p}]')
    build.upload('u', 'steps: [{command: q}]')
    expect(Object.keys(build.states)).toEqual(['u', 'q', 'p', 'wait', 'z'])
    expect(build.states).toMatchObject({ p: 'waiting', q: 'waiting' })
    build.pass('u', 'q')
    expect(build.states).toMatchObject({ wait: 'waiting', p: 'scheduled' })
    build.start('p')
    build.upload('p', 'steps: [{command: deeper}]')
    build.pass('p')
    expect(build.states).toMatchObject({ wait: 'waiting', deeper: 'scheduled' })
    build.pass('deeper')
    expect(build.states).toMatchObject({ wait: 'passed', z: 'scheduled' })
    build.pass('z')
    expect(build.state).toBe('passed')
  })

  it('does not run z when an uploaded step fails', () => {
    const build = run(UPLOADER)
    build.start('u')
    build.upload('u', 'steps: [{command: p}, {command: q}]')
    build.pass('u')
    build.exit('p', 1)
    expect(build.states).toMatchObject({ wait: 'waiting_failed', z: 'waiting_failed', q: 'scheduled' })
  })

  it('runs a step without dependencies while its uploader runs', () => {
    const build = run(UPLOADER)
    build.start('u')
    build.upload('u', 'steps: [{command: r, depends_on: ~}]')
    expect(build.states).toMatchObject({ u: 'running', r: 'scheduled' })
  })

  it('refuses a key that exists and adds nothing', () => {
    const build = run(UPLOADER)
    build.start('u')
    const document = mustRead('steps: [{command: p}, {command: q, key: u}]')
    expect(build.uploadRefused('u', document)).toBe('invalid_upload')
    expect(Object.keys(build.states)).toEqual(['u', 'wait', 'z'])
  })

  it('replaces what has not started', () => {
    const build = run(UPLOADER)
    build.start('u')
    build.upload('u', 'steps: [{command: p, depends_on: ~}, {command: q, depends_on: ~}]')
    build.pass('p', 'q')
    build.upload('u', 'steps: [{command: n}]', { replace: true })
    expect(build.states).toEqual({ u: 'running', n: 'waiting', p: 'passed', q: 'passed' })
    build.pass('u', 'n')
    expect(build.state).toBe('passed')
  })

  it('replaces half-started steps, groups and keys', () => {
    const build = run(`
steps:
  - {command: u, key: u}
  - {label: "par %n", command: x, parallelism: 2}
  - {group: G, key: g, steps: [{command: g1}, wait, {command: g2}]}
  - {command: late, depends_on: never}
  - {block: go}
`)
    build.start('u', 'par 0')
    build.upload('u', 'steps: [{command: n, key: g}]', { replace: true })
    expect(build.states).toEqual({ u: 'running', n: 'waiting', 'par 0': 'running' })
    build.pass('u', 'n', 'par 0')
    expect(build.state).toBe('passed')
  })

  it('refuses an upload to a finished or canceled build', () => {
    const finished = run('steps: [{command: u}]')
    finished.pass('u')
    expect(finished.uploadRefused('u', mustRead('steps: [{command: p}]'))).toBe('build_finished')
    const canceled = run('steps: [{command: u}]')
    canceled.start('u')
    canceled.must({ type: 'cancel_build', reason: null })
    expect(canceled.uploadRefused('u', mustRead('steps: [{command: p}]'))).toBe('build_canceled')
  })

  it('refuses more than 500 jobs at once', () => {
    const build = run('steps: [{command: u}]')
    build.start('u')
    const document = mustRead('steps: [{command: p, parallelism: 250}, {command: q, parallelism: 251}]', {
      origin: 'stored',
    })
    expect(build.uploadRefused('u', document)).toBe('invalid_upload')
  })

  it('keeps an uploaded wait from holding older steps', () => {
    const build = run('steps: [{command: u}, {command: old}]')
    build.start('u')
    build.upload('u', 'steps: [{command: p}, wait, {command: q}]')
    expect(build.states).toEqual({
      u: 'running',
      p: 'waiting',
      wait: 'waiting',
      q: 'waiting',
      old: 'scheduled',
    })
    build.pass('u', 'p')
    expect(build.states).toMatchObject({ wait: 'passed', q: 'scheduled' })
  })

  it('makes a wait that was uploaded earlier wait for a later batch in front of it', () => {
    const build = run('steps: [{command: u}]')
    build.start('u')
    build.upload('u', 'steps: [{command: p1}, wait, {command: q1}]')
    build.upload('u', 'steps: [{command: p2}]')
    build.pass('u', 'p1')
    expect(build.states).toMatchObject({ wait: 'waiting', q1: 'waiting' })
    build.pass('p2')
    expect(build.states).toMatchObject({ wait: 'passed', q1: 'scheduled' })
  })

  it('puts steps of an uploader in a group behind the group', () => {
    const build = run('steps: [{group: G, steps: [{command: u}, wait, {command: g2}]}, {command: z}]')
    build.start('u')
    build.upload('u', 'steps: [{command: p}]')
    expect(Object.keys(build.states)).toEqual(['u', 'wait', 'g2', 'p', 'z'])
    build.pass('u')
    expect(build.states).toMatchObject({ wait: 'waiting', p: 'scheduled' })
    build.pass('p')
    expect(build.states).toMatchObject({ wait: 'passed', g2: 'scheduled' })
  })

  it('blocks what waits for the uploader when a block is uploaded', () => {
    const build = run(UPLOADER)
    build.start('u')
    build.upload('u', 'steps: [{block: go}]')
    expect(build.states).toMatchObject({ go: 'blocked', wait: 'blocked', z: 'blocked' })
    build.pass('u')
    build.unblock('go')
    expect(build.states).toMatchObject({ wait: 'passed', z: 'scheduled' })
  })

  it('refuses a step that waits for something that waits for it', () => {
    const build = run('steps: [{command: u, key: u}, {command: after, key: after, depends_on: u}]')
    build.start('u')
    const document = mustRead('steps: [{command: n, key: n, depends_on: after}]')
    expect(build.uploadRefused('u', document)).toBe('invalid_upload')
  })

  it('accepts a step behind one that waits for another step of the same upload', () => {
    const build = run('steps: [{command: u}, {command: b, key: b, depends_on: late}]')
    build.start('u')
    build.upload('u', 'steps: [{command: l, key: late}, {command: m, depends_on: b}]')
    build.pass('u', 'l', 'b', 'm')
    expect(build.state).toBe('passed')
  })

  it('leaves out of an uploaded wait the older steps that wait for the upload', () => {
    const build = run('steps: [{command: e, depends_on: u}, {command: u, key: u}]')
    build.start('u')
    build.upload('u', 'steps: [{command: p}, wait, {command: q}]')
    build.pass('u', 'p', 'q', 'e')
    expect(build.state).toBe('passed')
  })

  it('lets a step name its own uploader', () => {
    const build = run(UPLOADER)
    build.start('u')
    build.upload('u', 'steps: [{command: p, depends_on: u}]')
    build.pass('u')
    expect(build.states).toMatchObject({ p: 'scheduled', z: 'waiting' })
    build.pass('p', 'z')
    expect(build.state).toBe('passed')
  })
})

describe('groups and uploads', () => {
  const yaml =
    'steps: [{group: G, key: g, steps: [{command: u}, {command: v}]}, {command: after, depends_on: g}]'

  it('make steps that depend on a group wait for the uploads of its members', () => {
    const build = run(yaml)
    build.start('u')
    build.upload('u', 'steps: [{command: p}]')
    build.pass('u', 'v')
    expect(build.states).toMatchObject({ after: 'waiting', p: 'scheduled' })
    build.pass('p')
    expect(build.states).toMatchObject({ after: 'scheduled' })
  })

  it('let an uploaded step name the group of its uploader', () => {
    const build = run(yaml)
    build.start('u')
    build.upload('u', 'steps: [{command: p, depends_on: g}]')
    build.pass('u')
    expect(build.states).toMatchObject({ p: 'waiting' })
    build.pass('v')
    expect(build.states).toMatchObject({ p: 'scheduled', after: 'waiting' })
    build.pass('p', 'after')
    expect(build.state).toBe('passed')
  })

  it('resolve the key of a group that is uploaded late', () => {
    const build = run('steps: [{command: u}, {command: after, depends_on: g}]')
    build.start('u')
    build.upload('u', 'steps: [{group: G, key: g, steps: [{command: x}, {command: y}]}]')
    build.pass('u', 'x')
    expect(build.states).toMatchObject({ after: 'waiting' })
    build.pass('y')
    expect(build.states).toMatchObject({ after: 'scheduled' })
  })
})
