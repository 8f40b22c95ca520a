import { describe, expect, it } from 'vitest'
import { aCommand, aDocument } from '../../test/builders.ts'
import { Run } from '../../test/running.ts'
import type { AutomaticRetry } from '../steps/types.ts'
import { findRule } from './retry.ts'
import type { JobEnd } from './retry.ts'

const ANY: AutomaticRetry = { exitStatus: '*', signal: '*', signalReason: '*', limit: 2 }

function fires(rule: Partial<AutomaticRetry>, end: Partial<JobEnd>): boolean {
  const retry = {
    automatic: [{ ...ANY, ...rule }],
    manual: { allowed: true, permitOnPassed: false, reason: null },
  }
  const job = new Run(aDocument([aCommand('a', { retry })])).job('a')
  return findRule(job, { exitStatus: 1, signal: null, signalReason: null, ...end }) !== null
}

describe('automatic retry rules', () => {
  it.each<[Partial<AutomaticRetry>, Partial<JobEnd>, boolean]>([
    [{}, { exitStatus: 255 }, true],
    [{}, { exitStatus: -1 }, false],
    [{ exitStatus: [-1] }, { exitStatus: -1 }, true],
    [{ exitStatus: [5, 7] }, { exitStatus: 7 }, true],
    [{ exitStatus: [5, 7] }, { exitStatus: 6 }, false],
    [{ signal: ['TERM'] }, { signal: 'SIGTERM' }, true],
    [{ signal: ['TERM'] }, { signal: 'term' }, true],
    [{ signal: ['TERM'] }, {}, false],
    [{ signal: ['NONE'] }, {}, true],
    [{ signal: ['NONE'] }, { signal: 'SIGKILL' }, false],
    [{ signalReason: ['cancel'] }, { signalReason: 'cancel' }, true],
    [{ signalReason: ['none'] }, { signalReason: 'cancel' }, false],
    [{ signalReason: ['none'] }, {}, true],
    [{ limit: 0 }, {}, false],
  ])('%j after %j: %j', (rule, end, expected) => {
    expect(fires(rule, end)).toBe(expected)
  })
})

describe('the job limit', () => {
  it('stops automatic retries and says so', () => {
    const retry = { automatic: [ANY], manual: { allowed: true, permitOnPassed: false, reason: null } }
    const build = new Run(aDocument([aCommand('a', { retry }), aCommand('b', { parallelism: 3999 })]))
    build.exit('a', 1)
    expect(build.job('a')).toMatchObject({ state: 'failed', reason: 'job_limit' })
    const jobId = build.job('a').id
    expect(build.refused({ type: 'retry', jobId, parentCanceled: false })).toBe('job_limit')
  })
})

describe('a retry of a finished build', () => {
  it('counts the time that the build had worked before, each time', () => {
    const build = new Run(aDocument([aCommand('a')]))
    let workedSeconds = 0
    for (let round = 0; round < 3; round++) {
      expect(build.row.workedSeconds).toBeCloseTo(workedSeconds)
      build.exit('a', 1)
      const { startedAt, finishedAt } = build.row
      workedSeconds += (Date.parse(finishedAt ?? '') - Date.parse(startedAt ?? '')) / 1000
      build.retry('a')
      expect(build.row.finishedAt).toBeNull()
    }
    expect(workedSeconds).toBeGreaterThan(0)
  })
})
