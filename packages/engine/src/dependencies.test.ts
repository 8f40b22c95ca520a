import { describe, expect, it } from 'vitest'
import { edgeTallyOf, judge, looksTheSame, severityOf, uploadTallyOf } from './dependencies.ts'
import type { EdgeRow, StepRow } from './rows.ts'
import { blankStep } from '../test/blank-step.ts'

const edge: EdgeRow = { from: 'a', to: 'b', kind: 'named', allowFailure: false, whole: true }

function step(given: Partial<StepRow>): StepRow {
  return blankStep({ total: 1, phase: 'ready', ...given })
}

const ENDS: Record<string, Partial<StepRow>> = {
  passed: {},
  'soft failed': { softFailed: 1 },
  ignored: { broken: 1, phase: 'ignored' },
  'wait passed, block unblocked': { kind: 'wait', barrier: 'full' },
  'hard failed': { hardFailed: 1 },
  'did not run after a failure': { notRun: 1, failed: 1, phase: 'not_run' },
  'did not run after a cancel': { notRun: 1, failed: 1, cut: 1, phase: 'not_run' },
  'canceled or expired': { canceled: 1 },
  'still running or waiting': { open: 1 },
}

describe('what a dependency means', () => {
  it.each([
    ['passed', 'ok', 'ok'],
    ['soft failed', 'ok', 'ok'],
    ['ignored', 'ok', 'ok'],
    ['wait passed, block unblocked', 'ok', 'ok'],
    ['hard failed', 'failed', 'tolerated'],
    ['did not run after a failure', 'failed', 'tolerated'],
    ['did not run after a cancel', 'cut', 'cut'],
    ['canceled or expired', 'cut', 'cut'],
    ['still running or waiting', 'wait', 'wait'],
  ])('that %s: %s, and %s where failure is allowed', (name, strict, allowing) => {
    const source = step(ENDS[name] ?? {})
    expect(judge(severityOf(source), source.open === 0, false)).toBe(strict)
    expect(judge(severityOf(source), source.open === 0, true)).toBe(allowing)
  })

  it('is decided by the worst of several jobs, once all have ended', () => {
    const jobs = { total: 3, softFailed: 1, hardFailed: 1, canceled: 1 }
    expect(severityOf(step({ ...jobs, open: 1 }))).toBe('fine')
    expect(severityOf(step(jobs))).toBe('cut')
  })
})

describe('edges', () => {
  it('wait for everything the source uploaded only when whole', () => {
    const source = step({ uploadsOpen: 1 })
    expect(edgeTallyOf(source, edge)).toMatchObject({ unmet: 1, failed: 0 })
    expect(edgeTallyOf(source, { ...edge, whole: false })).toMatchObject({ unmet: 0, failed: 0 })
  })

  it('fail at once when something uploaded failed, unless that is allowed', () => {
    const source = step({ uploadsOpen: 2, uploadsFailed: 1 })
    expect(edgeTallyOf(source, edge)).toMatchObject({ unmet: 0, failed: 1 })
    expect(edgeTallyOf(source, { ...edge, allowFailure: true })).toMatchObject({ unmet: 1, failed: 0 })
  })

  it('are held while the source waits for a person', () => {
    expect(edgeTallyOf(step({ kind: 'block', open: 1 }), edge)).toMatchObject({ unmet: 1, held: 1 })
    expect(edgeTallyOf(step({ open: 1, held: 1, phase: 'blocked' }), edge)).toMatchObject({ held: 1 })
    expect(edgeTallyOf(step({ open: 1, uploadsHeld: 1 }), edge)).toMatchObject({ held: 1 })
  })

  it('carry a failure a barrier continued over to the next strict barrier only', () => {
    const waiter = step({ kind: 'wait', barrier: 'full', tolerated: 1 })
    expect(edgeTallyOf(waiter, { ...edge, kind: 'behind' })).toMatchObject({ unmet: 0, failed: 0 })
    expect(edgeTallyOf(waiter, { ...edge, kind: 'covers' })).toMatchObject({ failed: 1 })
    const continuing: EdgeRow = { ...edge, kind: 'covers', allowFailure: true }
    expect(edgeTallyOf(waiter, continuing)).toMatchObject({ failed: 0, tolerated: 1 })
  })

  it('never allow a barrier that did not run', () => {
    const waiter = step({ kind: 'wait', barrier: 'full', notRun: 1, failed: 1, phase: 'not_run' })
    expect(edgeTallyOf(waiter, { ...edge, kind: 'covers', allowFailure: true })).toMatchObject({ failed: 1 })
  })
})

describe('a step and what it uploaded', () => {
  it('count as one towards the uploader', () => {
    const open = { uploadsOpen: 1, uploadsHeld: 0, uploadsFailed: 0, uploadsCut: 0 }
    expect(uploadTallyOf(step({ open: 1 }))).toEqual(open)
    expect(uploadTallyOf(step({ uploadsOpen: 3 }))).toEqual(open)
    expect(uploadTallyOf(step({ uploadsFailed: 2, uploadsCut: 1 }))).toMatchObject({
      uploadsOpen: 0,
      uploadsCut: 1,
    })
  })

  it('look the same as long as they count the same for dependents', () => {
    const before = step({ total: 3, open: 3 })
    expect(looksTheSame(before, { ...before, open: 2, hardFailed: 1, onAgent: 1 })).toBe(true)
    expect(looksTheSame(before, { ...before, open: 0 })).toBe(false)
  })
})
