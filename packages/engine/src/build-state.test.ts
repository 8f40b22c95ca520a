import { describe, expect, it } from 'vitest'
import { hasFinishedAt, isFailing, isStuck, deriveState } from './build-state.ts'
import { newBuild } from './new-build.ts'
import type { BuildRow } from './rows.ts'

function build(given: Partial<BuildRow>): BuildRow {
  return { ...newBuild('b', '2030-01-01T00:00:00.000Z'), wanted: 1, ...given }
}

describe('build state', () => {
  it.each<[string, Partial<BuildRow>, string, string | null]>([
    ['nothing started', { active: 2 }, 'scheduled', null],
    ['something started', { active: 2, everStarted: true }, 'running', null],
    ['a failure beside work', { active: 1, hardFailed: 1, everStarted: true }, 'failing', null],
    ['a promise beside work', { active: 1, promised: 1, everStarted: true }, 'failing', null],
    ['an open block', { manualPassed: 1, waiting: 3 }, 'blocked', 'passed'],
    ['several open blocks', { manualPassed: 1, manualRunning: 1 }, 'blocked', 'running'],
    ['a failing block among them', { manualFailed: 1, manualRunning: 1 }, 'blocked', 'failed'],
    ['a block beside a failure', { manualPassed: 1, hardFailed: 1 }, 'blocked', 'failed'],
    ['all passed', {}, 'passed', null],
    ['a failure', { hardFailed: 1 }, 'failed', null],
    ['an impossible step', { impossible: 1 }, 'failed', null],
    ['only jobs cut short', { cutShort: 1 }, 'failed', null],
    ['nothing wanted', { wanted: 0 }, 'not_run', null],
    ['a cancel with agents at work', { active: 1, onAgent: 1, cancelRequested: true }, 'canceling', null],
    ['a cancel without', { cancelRequested: true, hardFailed: 1 }, 'canceled', null],
    ['skipped', { state: 'skipped', active: 1 }, 'skipped', null],
  ])('after %s', (_, given, state, blockedState) => {
    expect(deriveState(build(given))).toEqual({ state, blockedState })
  })

  it('is failing only while work is going on', () => {
    expect(isFailing(build({ hardFailed: 1 }))).toBe(false)
    expect(isFailing(build({ hardFailed: 1, active: 1 }))).toBe(true)
  })

  it('is stuck when jobs wait for nothing that can happen', () => {
    expect(isStuck(build({ waiting: 1 }))).toBe(true)
    expect(isStuck(build({ waiting: 1, active: 1 }))).toBe(false)
    expect(isStuck(build({ waiting: 1, manualRunning: 1 }))).toBe(false)
  })

  it('has a finish time when blocked, unless it counts as running', () => {
    expect(hasFinishedAt({ state: 'blocked', blockedState: 'passed' })).toBe(true)
    expect(hasFinishedAt({ state: 'blocked', blockedState: 'running' })).toBe(false)
    expect(hasFinishedAt({ state: 'canceling', blockedState: null })).toBe(false)
  })
})
