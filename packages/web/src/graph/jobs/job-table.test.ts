import { describe, expect, it, vi } from 'vitest'
import { describeCounts } from './buckets.ts'
import { nextFailure } from './job-groups.ts'
import { JobTable } from './job-table.ts'
import { namesLoaded } from '../../parts/labels.ts'
import { stepName } from './job.ts'
import { sampleGraph, sampleJob, sampleStep } from '../../../test/sample-graph.ts'

/** A table whose frames the test draws. */
function aTable(
  graph = sampleGraph([['a', 'b']], [sampleJob('1', 'a', 'running'), sampleJob('2', 'b', 'waiting')]),
) {
  const frames: Array<() => void> = []
  const table = new JobTable(graph, (run) => frames.push(run))
  const drawFrame = () => {
    for (const run of frames.splice(0)) run()
  }
  return { table, frames, drawFrame }
}

describe('JobTable', () => {
  it('applies all changes of a frame at once, and only the newest of each job', () => {
    const { table, frames, drawFrame } = aTable()
    const listener = vi.fn<() => void>()
    table.subscribe(listener)
    table.change([sampleJob('1', 'a', 'canceling')])
    table.change([sampleJob('1', 'a', 'passed'), sampleJob('2', 'b', 'scheduled')])
    expect(frames).toHaveLength(1)
    expect(table.job('1')?.state).toBe('running')
    drawFrame()
    expect(table.job('1')?.state).toBe('passed')
    expect(table.job('2')?.state).toBe('scheduled')
    expect(listener).toHaveBeenCalledTimes(1)
  })

  it('tells only those who watch a changed step, and keeps the summaries of the others', () => {
    const { table, drawFrame } = aTable()
    const [ofA, ofB] = [vi.fn<() => void>(), vi.fn<() => void>()]
    table.subscribeToStep('a', ofA)
    table.subscribeToStep('b', ofB)
    const [a, b] = [table.summaryOf('a'), table.summaryOf('b')]
    table.change([sampleJob('1', 'a', 'failed')])
    drawFrame()
    expect([ofA.mock.calls.length, ofB.mock.calls.length]).toEqual([1, 0])
    expect(table.summaryOf('a')).not.toBe(a)
    expect(table.summaryOf('b')).toBe(b)
  })

  it('puts a retry in the place of the job that it retries, and keeps all attempts', () => {
    const { table, drawFrame } = aTable()
    table.change([
      sampleJob('1', 'a', 'failed', { retriedIn: '3' }),
      sampleJob('3', 'a', 'failed', { attempt: 1, retriedIn: '4' }),
      sampleJob('4', 'a', 'running', { attempt: 2 }),
    ])
    drawFrame()
    expect(table.newestJobs().map(({ id }) => id)).toEqual(['4', '2'])
    expect(table.job('4')?.firstAttemptId).toBe('1')
    expect(table.attemptsOf('3').map(({ id }) => id)).toEqual(['1', '3', '4'])
    expect(table.summaryOf('a')).toMatchObject({ total: 1, look: { label: 'Running' } })
  })

  it('applies changes again that arrived while a snapshot was on its way', () => {
    const { table, drawFrame } = aTable()
    const finish = table.beginLoad()
    table.change([sampleJob('1', 'a', 'passed')])
    drawFrame()
    finish(sampleGraph([['a', 'b']], [sampleJob('1', 'a', 'running'), sampleJob('2', 'b', 'waiting')]))
    drawFrame()
    expect(table.job('1')?.state).toBe('passed')
  })

  it('keeps its shape when a new snapshot has the same steps and edges', () => {
    const { table } = aTable()
    const [{ shapeVersion }, steps] = [table, table.steps]
    table.beginLoad()(
      sampleGraph([['a', 'b']], [sampleJob('1', 'a', 'passed'), sampleJob('2', 'b', 'passed')]),
    )
    expect(table.shapeVersion).toBe(shapeVersion)
    expect(table.steps).toBe(steps)
    table.beginLoad()(
      sampleGraph([
        ['a', 'b'],
        ['b', 'c'],
      ]),
    )
    expect(table.shapeVersion).not.toBe(shapeVersion)
  })

  it('adds the jobs of a group together', () => {
    const steps = [
      sampleStep('g', { kind: 'group' }),
      sampleStep('a', { group_id: 'g' }),
      sampleStep('b', { group_id: 'g' }),
    ]
    const jobs = [sampleJob('1', 'a', 'passed'), sampleJob('2', 'b', 'running')]
    const { table, drawFrame } = aTable({ steps, edges: [], jobs })
    expect(table.summaryOf('g')).toMatchObject({ total: 2, look: { label: 'Running' } })
    table.change([sampleJob('2', 'b', 'failed')])
    drawFrame()
    expect(describeCounts(table.summaryOf('g').counts)).toBe('1 failed, 1 passed')
    expect(table.summaryOf('g').look?.label).toBe('Failed')
  })

  it('lists failures in the order in which they happened, and walks them in a circle', () => {
    const { table } = aTable(
      sampleGraph(
        [],
        [
          sampleJob('late', 'a', 'failed', { finished: 30 }),
          sampleJob('soft', 'a', 'failed', { finished: 20, softFailed: true }),
          sampleJob('early', 'b', 'timed_out', { finished: 10 }),
          sampleJob('retried', 'b', 'failed', { finished: 5, retriedIn: 'again' }),
          sampleJob('again', 'b', 'passed', { attempt: 1 }),
        ],
      ),
    )
    const { jobs, counts } = table.groups()
    expect(jobs.failed.map(({ id }) => id)).toEqual(['early', 'late'])
    expect(counts).toMatchObject({ failed: 2, soft: 1, passed: 1 })
    expect(nextFailure(jobs.failed, null, 1)).toMatchObject({ job: { id: 'early' }, position: 1, total: 2 })
    expect(nextFailure(jobs.failed, 'late', 1)).toMatchObject({ job: { id: 'early' } })
    expect(nextFailure(jobs.failed, 'early', -1)).toMatchObject({ job: { id: 'late' }, position: 2 })
    expect(nextFailure([], null, 1)).toBeNull()
  })

  it('tells a block that somebody can open from jobs behind it', () => {
    const { table } = aTable(
      sampleGraph(
        [['gate', 'after']],
        [sampleJob('1', 'gate', 'blocked', { unblockable: true }), sampleJob('2', 'after', 'blocked')],
        { gate: 'block' },
      ),
    )
    expect(table.groups().counts).toMatchObject({ blocked: 1, waiting: 1 })
  })
})

describe('stepName', () => {
  it('shows emoji, and the values of the jobs of a parallel step or a matrix', async () => {
    await namesLoaded
    const parallel = sampleStep('key', { label: ':jest: Test %n of %t', parallelism: 2 })
    expect(stepName(parallel, [':jest: Test 0 of 2', ':jest: Test 1 of 2'])).toBe('🃏 Test 0–1 of 2')
    expect(stepName(sampleStep('key', { label: 'For {{matrix.os}}', matrix: true }), [])).toBe('For …')
    expect(stepName(sampleStep('key', { label: '100%next' }), [])).toBe('100%next')
    expect(stepName(sampleStep('x', { key: null, command: 'make\nmake test' }), [])).toBe('make')
    expect(stepName(sampleStep('x', { key: null, kind: 'wait' }), [])).toBe('Wait')
  })
})
