import { BUILD_STATES, JOB_STATES } from '@millrace/engine/states.ts'
import { describe, expect, it } from 'vitest'
import { stateLook } from './states.ts'

describe('stateLook', () => {
  it('knows every state of a build and of a job', () => {
    for (const state of BUILD_STATES) expect(stateLook('build', state).label).not.toBe(state)
    for (const state of JOB_STATES) expect(stateLook('job', state).label).not.toBe(state)
  })

  it('gives different words different icons within one kind, so that states differ without colour', () => {
    const words = new Map<string, Set<string>>()
    for (const state of JOB_STATES) {
      const { icon, label } = stateLook('job', state)
      words.set(icon, (words.get(icon) ?? new Set()).add(label))
    }
    const shared = [...words].filter(([icon, labels]) => labels.size > 1 && icon !== 'timer-off')
    expect(shared).toEqual([])
  })

  it('shows a soft failure as a warning, and leaves a soft failing job that runs alone', () => {
    expect(stateLook('job', 'failed', { softFailed: true }).label).toBe('Soft failed')
    expect(stateLook('job', 'timed_out', { softFailed: true }).tone).toBe('warn')
    expect(stateLook('job', 'running', { softFailed: true }).label).toBe('Running')
  })

  it('shows a hand only where somebody can unblock now', () => {
    expect(stateLook('job', 'blocked', { unblockable: true }).icon).toBe('hand')
    expect(stateLook('job', 'blocked').icon).toBe('circle-dashed')
  })

  it('says how a blocked build stands so far', () => {
    const found = stateLook('build', 'passed', { blocked: true })
    expect(found).toMatchObject({ icon: 'hand', label: 'Blocked', aside: 'so far passed' })
  })

  it('does not hide a failure behind another state', () => {
    expect(stateLook('build', 'failed', { blocked: true })).toMatchObject({
      label: 'Blocked',
      aside: 'so far failed',
      hasFailed: true,
    })
    expect(stateLook('build', 'canceled', { failing: true })).toMatchObject({
      label: 'Canceled',
      aside: 'after a failure',
      hasFailed: true,
    })
    // A build that goes on after a retry.
    expect(stateLook('build', 'running', { failing: true })).not.toHaveProperty('hasFailed')
  })

  it('tells idle, busy and paused agents apart', () => {
    expect(stateLook('agent', 'connected').label).toBe('Idle')
    expect(stateLook('agent', 'connected', { busy: true }).label).toBe('Busy')
    expect(stateLook('agent', 'connected', { paused: true, busy: true }).label).toBe('Paused')
    expect(stateLook('agent', 'lost', { paused: true }).label).toBe('Lost')
  })

  it('names the reason of a job that was left out', () => {
    expect(stateLook('job', 'broken', { reason: 'branch does not match' }).aside).toBe(
      'branch does not match',
    )
  })

  it('shows the name of an unknown state', () => {
    expect(stateLook('job', 'half_done').label).toBe('half done')
  })
})
