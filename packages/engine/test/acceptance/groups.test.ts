import { describe, expect, it } from 'vitest'
import { stepStateOf } from '../../src/outcome.ts'
import { run } from '../running.ts'

describe('E29 waits inside groups are local', () => {
  const yaml = `
steps:
  - {group: A, steps: [{command: a1}, wait, {command: a2}]}
  - {group: B, key: gb, steps: [{command: b1}, wait, {command: b2}]}
  - {command: z, depends_on: gb}
  - {command: y}
`

  it('keeps the two groups apart', () => {
    const build = run(yaml)
    expect(build.states).toMatchObject({ a1: 'scheduled', b1: 'scheduled', y: 'scheduled' })
    build.start('a1')
    build.pass('b1')
    expect(build.states).toMatchObject({ b2: 'scheduled', z: 'waiting' })
    build.pass('b2')
    expect(build.states).toMatchObject({ z: 'scheduled' })
    build.exit('a1', 1)
    expect(build.states).toMatchObject({ a2: 'waiting_failed', z: 'scheduled', y: 'scheduled' })
    build.pass('z', 'y')
    expect(build.state).toBe('failed')
    const groups = build.build.store.stepsInOrder().filter((step) => step.kind === 'group')
    expect(groups.map((group) => group.key)).toEqual([null, 'gb'])
    expect(build.step('b1').groupId).toBe(groups[1]?.id)
    expect(groups.map(stepStateOf)).toEqual(['finished', 'finished'])
  })

  it('makes an outer wait wait for every inner step', () => {
    const build = run('steps: [{group: A, steps: [{command: a1}, {command: a2}]}, wait, {command: b}]')
    build.pass('a1')
    expect(build.states).toMatchObject({ wait: 'waiting' })
    build.pass('a2')
    expect(build.states).toMatchObject({ wait: 'passed', b: 'scheduled' })
  })

  it('puts a group behind the outer barrier', () => {
    const build = run('steps: [{command: a}, wait, {group: G, steps: [{command: g1}, wait, {command: g2}]}]')
    expect(build.states).toMatchObject({ g1: 'waiting', g2: 'waiting' })
    build.pass('a')
    expect(build.states).toMatchObject({ g1: 'scheduled', 'wait 2': 'waiting', g2: 'waiting' })
  })
})

describe('E30 group if, skip, deps merge inward', () => {
  const yaml = `
steps:
  - {command: t, key: t}
  - group: G
    key: g
    depends_on: t
    if: build.branch == "dev"
    steps: [{command: x, if: build.message !~ /nox/}, {command: y}]
  - {command: after, depends_on: g}
`

  it('drops all inner steps when the group loses', () => {
    const build = run(yaml)
    expect(build.states).toEqual({ t: 'scheduled', x: 'broken', y: 'broken', after: 'scheduled' })
  })

  it('holds the inner steps behind the dependency of the group', () => {
    const build = run(yaml, { branch: 'dev', message: 'nox' })
    expect(build.states).toEqual({ t: 'scheduled', x: 'broken', y: 'waiting', after: 'waiting' })
    build.pass('t')
    expect(build.states).toMatchObject({ y: 'scheduled', after: 'waiting' })
    build.pass('y')
    expect(build.states).toMatchObject({ after: 'scheduled' })
  })

  it('skips every inner step with the reason of the group', () => {
    const build = run('steps: [{group: G, skip: later, steps: [{command: x}]}, {command: y}]')
    expect(build.job('x')).toMatchObject({ state: 'broken', reason: 'later' })
  })

  it('tolerates an allowed failure at every wait of the group', () => {
    const build = run(`
steps:
  - {command: t, key: t}
  - group: G
    depends_on: t
    allow_dependency_failure: true
    steps: [{command: x}, wait, {command: y}, wait, {command: z}]
`)
    build.exit('t', 1)
    build.pass('x', 'y', 'z')
    expect(build.state).toBe('failed')
    expect(build.states).toMatchObject({ z: 'passed' })
  })
})
