import { describe, expect, it } from 'vitest'
import { extentOf, sortByStart, spansOf } from './job-spans.ts'
import { JobTable } from '../jobs/job-table.ts'
import { sampleGraph, sampleJob, type SampleJob } from '../../../test/sample-graph.ts'
import { tickStepMs } from './timescale.ts'

const jobsOf = (...jobs: Array<[state: string, times: SampleJob]>) =>
  new JobTable(
    sampleGraph(
      [],
      jobs.map(([state, times], at) => sampleJob(`${at}`, 's', state, times)),
    ),
  ).newestJobs()

describe('spansOf', () => {
  it('splits a job into waiting, queued and running', () => {
    const [job] = jobsOf(['passed', { runnable: 10, started: 30, finished: 90 }])
    expect(spansOf(job)).toEqual([
      { kind: 'waiting', fromMs: 0, toMs: 10 },
      { kind: 'queued', fromMs: 10, toMs: 30 },
      { kind: 'running', fromMs: 30, toMs: 90 },
    ])
  })

  it('leaves the last part of an unfinished job open, and shows nothing open of one that never ran', () => {
    const [running, scheduled, broken] = jobsOf(
      ['running', { runnable: 0, started: 30 }],
      ['scheduled', { runnable: 5 }],
      ['broken', {}],
    )
    expect(spansOf(running).at(-1)).toEqual({ kind: 'running', fromMs: 30, toMs: null })
    expect(spansOf(scheduled).at(-1)).toEqual({ kind: 'queued', fromMs: 5, toMs: null })
    expect(spansOf(broken)).toEqual([])
  })
})

describe('extentOf', () => {
  it('ends now while a job goes on, else with the last job', () => {
    const done = jobsOf(['passed', { runnable: 10, started: 30, finished: 9000 }])
    expect(extentOf(done, 50_000)).toEqual({ startMs: 0, endMs: 9000, isLive: false })
    expect(extentOf(jobsOf(['running', { started: 30 }]), 50_000)).toEqual({
      startMs: 0,
      endMs: 50_000,
      isLive: true,
    })
  })

  it('has a length without jobs and with a clock that is behind', () => {
    expect(extentOf([], 7)).toMatchObject({ startMs: 7, endMs: 1007 })
    expect(extentOf(jobsOf(['running', { started: 29_500 }]), 20_000).endMs).toBe(30_000)
  })
})

it('sorts jobs by their start, and those that have none to the end', () => {
  const jobs = jobsOf(
    ['waiting', {}],
    ['passed', { started: 9, finished: 10 }],
    ['scheduled', { runnable: 4 }],
  )
  expect(sortByStart(jobs).map(({ id }) => id)).toEqual(['2', '1', '0'])
})

it('chooses round steps that leave room for their labels', () => {
  for (const pxPerMs of [1, 0.1, 0.01, 0.001, 0.000_01, 0.000_000_1]) {
    expect(tickStepMs(pxPerMs) * pxPerMs).toBeGreaterThanOrEqual(88)
  }
  expect(tickStepMs(0.01)).toBe(10_000)
})
