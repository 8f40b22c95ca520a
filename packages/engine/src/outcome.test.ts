import { describe, expect, it } from 'vitest'
import { blankStep } from '../test/blank-step.ts'
import { isHardFailure, isSoft, stepOutcomeOf, stepStateOf } from './outcome.ts'
import type { StepRow } from './rows.ts'
import type { JobState } from './states.ts'

describe('soft failures', () => {
  it.each([
    [true, 1, true],
    [true, -1, true],
    [true, null, true],
    [false, 1, false],
    [[42], 42, true],
    [[42], 1, false],
    [['*'], 7, true],
    [['*'], -1, true],
    [['*'], null, false],
    [[0], 0, false],
  ] as const)('soft_fail %j with exit status %j: %j', (softFail, exitStatus, expected) => {
    expect(isSoft(softFail, exitStatus)).toBe(expected)
  })
})

describe('hard failures', () => {
  it.each<[JobState, boolean]>([
    ['failed', true],
    ['timed_out', true],
    ['expired', true],
    ['canceled', true],
    ['broken', false],
    ['skipped', false],
    ['waiting_failed', false],
    ['blocked_failed', false],
    ['passed', false],
    ['running', false],
  ])('%s: %j', (state, expected) => {
    expect(isHardFailure({ state, softFailed: false, cutShort: false })).toBe(expected)
    expect(isHardFailure({ state, softFailed: true, cutShort: false })).toBe(false)
  })

  it('leave out jobs canceled because the build was failing', () => {
    expect(isHardFailure({ state: 'canceled', softFailed: false, cutShort: true })).toBe(false)
  })
})

describe('step state and outcome', () => {
  it.each<[Partial<StepRow>, string, string]>([
    [{ total: 2, broken: 2, phase: 'ignored' }, 'ignored', 'neutral'],
    [{ total: 1, open: 1, phase: 'waiting' }, 'waiting_for_dependencies', 'neutral'],
    [{ total: 1, open: 1, phase: 'ready' }, 'ready', 'neutral'],
    [{ total: 1, open: 1, phase: 'ready', kind: 'block' }, 'waiting_for_input', 'neutral'],
    [{ total: 2, open: 2, onAgent: 1, phase: 'ready' }, 'running', 'neutral'],
    [{ total: 2, open: 1, phase: 'ready' }, 'running', 'neutral'],
    [{ total: 2, open: 1, hardFailed: 1, phase: 'ready' }, 'failing', 'hard_failed'],
    [{ total: 1, open: 1, onAgent: 1, promised: 1, phase: 'ready' }, 'failing', 'neutral'],
    [{ total: 1, phase: 'ready' }, 'finished', 'passed'],
    [{ total: 2, softFailed: 1, phase: 'ready' }, 'finished', 'soft_failed'],
    [{ total: 2, softFailed: 1, hardFailed: 1, phase: 'ready' }, 'finished', 'hard_failed'],
    [{ total: 1, hardFailed: 1, timedOut: 1, phase: 'ready' }, 'finished', 'errored'],
    [{ total: 2, canceled: 1, phase: 'ready' }, 'finished', 'errored'],
    [{ total: 2, canceled: 2, phase: 'ready' }, 'canceled', 'errored'],
    [{ total: 1, phase: 'ready', kind: 'wait' }, 'finished', 'neutral'],
    [{ total: 2, open: 2, phase: 'ready', kind: 'group' }, 'waiting_for_dependencies', 'neutral'],
    [{ total: 2, open: 1, hardFailed: 1, phase: 'ready', kind: 'group' }, 'failing', 'hard_failed'],
  ])('%j is %s, %s', (given, state, outcome) => {
    const step = blankStep(given)
    expect([stepStateOf(step), stepOutcomeOf(step)]).toEqual([state, outcome])
  })
})
