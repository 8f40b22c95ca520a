import { describe, expect, it } from 'vitest'
import { sampleGraph, sampleJob } from '../../../test/sample-graph.ts'
import { JobTable } from '../jobs/job-table.ts'
import { attemptKey, attemptRows } from './attempt-rows.ts'

const table = new JobTable(
  sampleGraph(
    [],
    [
      sampleJob('1', 's', 'failed', { retriedIn: '2' }),
      sampleJob('2', 's', 'failed', { attempt: 1, retriedIn: '3' }),
      sampleJob('3', 's', 'passed', { attempt: 2 }),
      sampleJob('4', 's', 'passed'),
    ],
  ),
)

describe('attemptRows', () => {
  it('puts the earlier attempts of a job under it, each in a row', () => {
    const rows = table.newestJobs().flatMap((job) => attemptRows(table, job))
    expect(rows.map(({ job }) => job.id)).toEqual(['3', '2', '1', '4'])
    expect(new Set(rows.map(({ key }) => key)).size).toBe(4)
    for (const { key, job } of rows) expect(attemptKey(table, job.id)).toBe(key)
    expect(attemptKey(table, 'unknown')).toBeNull()
  })
})
