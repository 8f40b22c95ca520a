import { describe, expect, it } from 'vitest'
import { JobTable } from '../jobs/job-table.ts'
import { sampleGraph, sampleJob, type SampleJob } from '../../../test/sample-graph.ts'
import { findFolds, FoldedTime } from './folded-time.ts'

const jobsOf = (...jobs: Array<[state: string, times: SampleJob]>) =>
  new JobTable(
    sampleGraph(
      [],
      jobs.map(([state, times], at) => sampleJob(`${at}`, 's', state, times)),
    ),
  ).newestJobs()

const blockedForHalfAnHour = jobsOf(
  ['passed', { runnable: 0, started: 1000, finished: 20_000 }],
  ['passed', { runnable: 1_820_000, started: 1_821_000, finished: 1_839_000 }],
)
const extent = { startMs: 0, endMs: 1_839_000 }

describe('findFolds', () => {
  it('folds a pause that is longer than the work, such as the wait for somebody to unblock', () => {
    expect(findFolds(blockedForHalfAnHour, extent)).toEqual([{ fromMs: 20_000, toMs: 1_821_000 }])
  })

  it('folds the pause that goes on', () => {
    const jobs = jobsOf(['passed', { runnable: 0, started: 0, finished: 5000 }], ['blocked', {}])
    expect(findFolds(jobs, { startMs: 0, endMs: 900_000 })).toEqual([{ fromMs: 5000, toMs: 900_000 }])
  })

  it('keeps short pauses, and those of a build in which nothing ran', () => {
    const jobs = jobsOf(
      ['passed', { runnable: 0, started: 0, finished: 1000 }],
      ['passed', { runnable: 0, started: 9000, finished: 10_000 }],
    )
    expect(findFolds(jobs, { startMs: 0, endMs: 10_000 })).toEqual([])
    expect(findFolds(jobsOf(['scheduled', { runnable: 5 }]), { startMs: 0, endMs: 900_000 })).toEqual([])
  })
})

describe('FoldedTime', () => {
  it('is the time itself without folds', () => {
    const time = new FoldedTime({ startMs: 500, endMs: 2500 }, [])
    expect([time.at(500), time.at(1500), time.elapsedAt(700)]).toEqual([0, 1000, 700])
  })

  it('leads from moments to the axis and back, in order, with the work unfolded', () => {
    const time = new FoldedTime(extent, findFolds(blockedForHalfAnHour, extent))
    expect(time.at(20_000)).toBe(20_000)
    expect(time.at(1_839_000) - time.at(1_821_000)).toBeCloseTo(18_000)
    expect(time.at(1_839_000)).toBeLessThan(45_000)
    let before = -1
    for (const moment of [0, 1000, 20_000, 600_000, 1_820_999, 1_821_000, 1_830_000, 1_839_000]) {
      expect(time.at(moment)).toBeGreaterThan(before)
      expect(time.elapsedAt(time.at(moment))).toBeCloseTo(moment)
      before = time.at(moment)
    }
  })
})
