import { describe, expect, it } from 'vitest'
import { sampleGraph, sampleJob } from '../../../test/sample-graph.ts'
import { JobTable } from '../jobs/job-table.ts'
import { legendOf } from './legend.ts'

describe('legendOf', () => {
  it('has what the bars show, of every attempt, and nothing else', () => {
    const table = new JobTable(
      sampleGraph(
        [],
        [
          sampleJob('1', 's', 'failed', { runnable: 0, started: 0, finished: 5, retriedIn: '2' }),
          sampleJob('2', 's', 'passed', { attempt: 1, runnable: 0, started: 7, finished: 9 }),
          sampleJob('3', 's', 'timed_out', { runnable: 0, started: 0, finished: 9 }),
          sampleJob('4', 's', 'canceled', { runnable: 0, finished: 9 }),
        ],
      ),
    )
    const { kinds, ran } = legendOf(table.newestJobs().flatMap(({ id }) => table.attemptsOf(id)))
    expect([...kinds]).not.toContain('waiting')
    expect([...kinds]).toEqual(expect.arrayContaining(['queued', 'running']))
    expect(ran).toEqual([
      ['passed', 'passed'],
      ['failed', 'failed, timed out'],
    ])
  })
})
