import { describe, expect, it } from 'vitest'
import { JobTable } from './job-table.ts'
import { sampleGraph, sampleJob } from '../../../test/sample-graph.ts'
import { attemptsIn, failedFirst, filterJobs, formatSort, parseSort, sortJobs } from './sort-jobs.ts'
import { keepOrder, isSameOrder } from '../../parts/rows/frozen-order.ts'

const table = new JobTable(
  sampleGraph(
    [],
    [
      sampleJob('1', 's', 'passed', { label: 'Test 10', runnable: 0, started: 5, finished: 100, agent: 'b' }),
      sampleJob('2', 's', 'scheduled', { label: 'Test 9', runnable: 50 }),
      sampleJob('3', 's', 'failed', {
        label: 'Lint',
        runnable: 0,
        started: 1,
        finished: 3,
        agent: 'a',
        note: 'exit 2',
      }),
      sampleJob('4', 's', 'running', { label: 'Deploy', runnable: 0, started: 90, agent: 'c' }),
    ],
  ),
)
const jobs = table.newestJobs()

const ids = (list: ReadonlyArray<{ id: string }>) => list.map(({ id }) => id).join('')

describe('sortJobs', () => {
  it('puts failures first and keeps the order of the pipeline among equals', () => {
    expect(ids(sortJobs(jobs, failedFirst, 1000))).toBe('3421')
  })

  it('sorts numbers within names as numbers', () => {
    expect(ids(sortJobs(jobs, parseSort('name'), 1000))).toBe('4321')
  })

  it('counts a running job up to now, and puts jobs without a value last both ways', () => {
    expect(ids(sortJobs(jobs, parseSort('duration'), 1000))).toBe('3142')
    expect(ids(sortJobs(jobs, parseSort('-duration'), 1000))).toBe('4132')
    expect(ids(sortJobs(jobs, parseSort('-wait'), 1000))).toBe('2413')
    expect(ids(sortJobs(jobs, parseSort('-agent'), 1000))).toBe('4132')
  })

  it('reads what it wrote into the address, and ignores nonsense there', () => {
    expect(formatSort(parseSort('-wait'))).toBe('-wait')
    expect(parseSort('-colour')).toEqual(failedFirst)
  })
})

describe('filterJobs', () => {
  const found = (filter: string) => ids(filterJobs(jobs, filter, attemptsIn(table)))

  it('wants every word, in name, state, agent or note', () => {
    expect(found('test')).toBe('12')
    expect(found(' EXIT  failed ')).toBe('3')
    expect(found('test queued')).toBe('2')
    expect(filterJobs(jobs, '', attemptsIn(table))).toBe(jobs)
  })

  it('finds a job by any of its attempts, and wants every word of the same one', () => {
    const retried = new JobTable(
      sampleGraph(
        [],
        [
          sampleJob('1', 's', 'failed', { agent: 'old', retriedIn: '2' }),
          sampleJob('2', 's', 'passed', { attempt: 1, agent: 'new' }),
          sampleJob('3', 's', 'passed', { agent: 'old' }),
        ],
      ),
    )
    const of = (filter: string) => ids(filterJobs(retried.newestJobs(), filter, attemptsIn(retried)))
    expect(of('failed')).toBe('2')
    expect(of('passed')).toBe('23')
    expect(of('failed new')).toBe('')
  })
})

describe('keepOrder', () => {
  const row = (key: string, text = '') => ({ key, text })

  it('keeps places and takes new content', () => {
    const kept = keepOrder(
      [row('a'), row('b'), row('gone')],
      [row('b', 'new'), row('c'), row('a')],
      ({ key }) => row(key, 'elsewhere'),
    )
    expect(kept).toEqual([row('a'), row('b', 'new'), row('gone', 'elsewhere')])
  })

  it('tells whether the order differs', () => {
    expect(isSameOrder([row('a', '1')], [row('a', '2')])).toBe(true)
    expect(isSameOrder([row('a')], [row('a'), row('b')])).toBe(false)
  })
})
