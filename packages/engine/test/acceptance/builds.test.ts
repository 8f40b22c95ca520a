import { describe, expect, it } from 'vitest'
import { supersededBy } from '../../src/intermediate.ts'
import type { BranchBuild } from '../../src/intermediate.ts'
import type { BuildState } from '../../src/states.ts'
import { run } from '../running.ts'

const TRIGGER = 'steps: [{trigger: child, build: {branch: rel, meta_data: {v: "1"}}}, wait, {command: b}]'

function build(number: number, branch: string, state: BuildState): BranchBuild {
  return { id: `#${number}`, number, branch, state, isForMergeQueue: false }
}

describe('E39 intermediate builds', () => {
  const skipping = {
    skipQueued: true,
    skipQueuedFilter: '!main',
    cancelRunning: false,
    cancelRunningFilter: null,
  }
  const canceling = {
    skipQueued: false,
    skipQueuedFilter: null,
    cancelRunning: true,
    cancelRunningFilter: null,
  }

  it('skips queued builds of the branch when the filter lets it', () => {
    const others = [build(1, 'dev', 'scheduled'), build(2, 'dev', 'scheduled'), build(3, 'dev', 'running')]
    expect(supersededBy(build(4, 'dev', 'scheduled'), others, skipping)).toEqual({
      skip: ['#1', '#2'],
      cancel: [],
    })
    const main = [build(1, 'main', 'scheduled')]
    expect(supersededBy(build(2, 'main', 'scheduled'), main, skipping)).toEqual({ skip: [], cancel: [] })
  })

  it('cancels running builds of the branch and no newer or foreign one', () => {
    const others = [
      build(4, 'dev', 'running'),
      build(3, 'dev', 'blocked'),
      build(2, 'dev', 'failing'),
      build(1, 'other', 'running'),
      build(6, 'dev', 'running'),
    ]
    expect(supersededBy(build(5, 'dev', 'scheduled'), others, canceling)).toEqual({
      skip: [],
      cancel: ['#4', '#3', '#2'],
    })
  })

  it('skips every job of a skipped build', () => {
    const old = run('steps: [{command: a}, {block: go}, {command: b}, {trigger: t, depends_on: nope}]')
    old.must({ type: 'skip_build' })
    expect(new Set(Object.values(old.states))).toEqual(new Set(['skipped']))
    expect(old.state).toBe('skipped')
    expect(old.effects).toContainEqual({ kind: 'notify', event: 'build.skipped' })
  })

  it('does not skip a build that has started', () => {
    const old = run('steps: [{command: a}]')
    old.start('a')
    expect(old.refused({ type: 'skip_build' })).toBe('wrong_state')
  })

  it('is canceling while an agent works and canceled afterwards', () => {
    const old = run('steps: [{command: a}, {command: b}, wait, {command: c}]')
    old.start('a')
    old.must({ type: 'cancel_build', reason: 'A newer build took over' })
    expect(old.state).toBe('canceling')
    expect(old.states).toEqual({ a: 'canceling', b: 'canceled', wait: 'canceled', c: 'canceled' })
    old.exit('a', 143)
    expect(old.state).toBe('canceled')
    expect(old.row.cancelReason).toBe('A newer build took over')
    expect(old.refused({ type: 'cancel_build', reason: null })).toBe('build_finished')
  })

  it('is canceled at once when no agent works, and refuses to cancel a passed build', () => {
    const queued = run('steps: [{command: a}]')
    queued.must({ type: 'cancel_build', reason: null })
    expect(queued.state).toBe('canceled')
    const passed = run('steps: [{command: a}]')
    passed.pass('a')
    expect(passed.refused({ type: 'cancel_build', reason: null })).toBe('build_finished')
  })
})

describe('E40 trigger', () => {
  const child = (state: BuildState, isSuperseded = false) => ({
    type: 'child_changed' as const,
    state,
    blockedState: null,
    isSuperseded,
  })

  it('asks for a child build and follows it', () => {
    const parent = run(TRIGGER)
    const jobId = parent.job('child').id
    expect(parent.effects).toContainEqual({ kind: 'create_child_build', jobId })
    expect(parent.build.store.work.get(jobId)).toMatchObject({ branch: 'rel', metaData: { v: '1' } })
    expect(parent.states).toMatchObject({ child: 'running', b: 'waiting' })
    expect(parent.state).toBe('running')
    parent.must({ type: 'child_created', jobId, buildId: 'c1' })
    parent.must({ ...child('running'), jobId })
    parent.must({ ...child('passed'), jobId })
    expect(parent.states).toMatchObject({ child: 'passed', b: 'scheduled' })
  })

  it('fails with its child, softly if the step says so', () => {
    const parent = run(TRIGGER)
    parent.must({ ...child('failed'), jobId: parent.job('child').id })
    expect(parent.states).toMatchObject({ child: 'failed', b: 'waiting_failed' })
    expect(parent.state).toBe('failed')
    const soft = run(TRIGGER.replace('trigger: child,', 'trigger: child, soft_fail: true,'))
    soft.must({ ...child('failed'), jobId: soft.job('child').id })
    expect(soft.states).toMatchObject({ child: 'failed', b: 'scheduled' })
  })

  it('is skipped with a child that a newer one replaced', () => {
    for (const event of [child('skipped'), child('canceled', true)]) {
      const parent = run(TRIGGER)
      parent.must({ ...event, jobId: parent.job('child').id })
      expect(parent.states).toMatchObject({ child: 'skipped', b: 'scheduled' })
    }
  })

  it('fails the parent when a person cancels the child', () => {
    const parent = run(TRIGGER)
    parent.must({ ...child('canceled'), jobId: parent.job('child').id })
    expect(parent.states).toMatchObject({ child: 'canceled', b: 'waiting_failed' })
    expect(parent.state).toBe('failed')
  })

  it('passes at once when it is asynchronous, whatever the child does', () => {
    const parent = run(TRIGGER.replace('trigger: child,', 'trigger: child, async: true,'))
    const jobId = parent.job('child').id
    parent.must({ type: 'child_created', jobId, buildId: 'c1' })
    expect(parent.states).toMatchObject({ child: 'passed', b: 'scheduled' })
    expect(parent.refused({ ...child('failed'), jobId })).toBe('job_finished')
    parent.must({ type: 'cancel_build', reason: null })
    expect(parent.effects.some((effect) => effect.kind === 'cancel_child_build')).toBe(false)
  })

  it('takes a running child with it when the parent is canceled', () => {
    const parent = run(TRIGGER)
    const jobId = parent.job('child').id
    parent.must({ type: 'child_created', jobId, buildId: 'c1' })
    const effects = parent.must({ type: 'cancel_build', reason: null })
    expect(effects).toContainEqual({ kind: 'cancel_child_build', jobId, buildId: 'c1' })
    expect(parent.states).toMatchObject({ child: 'canceled' })
    expect(parent.state).toBe('canceled')
  })

  it('cancels a child that appears after its job was canceled', () => {
    const parent = run(TRIGGER)
    const jobId = parent.job('child').id
    parent.must({ type: 'cancel_build', reason: null })
    const effects = parent.must({ type: 'child_created', jobId, buildId: 'c1' })
    expect(effects).toContainEqual({ kind: 'cancel_child_build', jobId, buildId: 'c1' })
  })

  it('fails when no child can be made', () => {
    const parent = run(TRIGGER)
    const jobId = parent.job('child').id
    parent.must({ type: 'child_refused', jobId, message: 'No pipeline found' })
    expect(parent.job('child')).toMatchObject({ state: 'failed', reason: 'No pipeline found' })
    expect(parent.state).toBe('failed')
    parent.retry('child')
    expect(parent.states).toMatchObject({ child: 'running', b: 'waiting' })
  })

  it('makes one child per parallel job', () => {
    const parent = run('steps: [{trigger: child, parallelism: 2}]')
    expect(parent.effects.filter((effect) => effect.kind === 'create_child_build')).toHaveLength(2)
    expect(parent.build.store.work.get(parent.job('child 2').id)).toMatchObject({
      env: { BUILDKITE_PARALLEL_JOB: '1', BUILDKITE_PARALLEL_JOB_COUNT: '2' },
    })
  })
})
