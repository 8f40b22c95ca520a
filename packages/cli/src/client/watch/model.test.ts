import { describe, expect, it } from 'vitest'
import { aBuild, aGraph, aJob, aStep } from '../../../test/graphs.ts'
import type { ShortJob } from './graph.ts'
import { WatchedBuild, type Changes } from './model.ts'
import { changeJson, describeChange } from './reports.ts'

function watch(
  jobs: ShortJob[],
  steps = [aStep('Test'), aStep('Go', { kind: 'block' }), aStep('w', { kind: 'wait' })],
) {
  const graph = aGraph(steps, jobs)
  const watched = new WatchedBuild(graph)
  const lines = (changes: ReturnType<WatchedBuild['load']>) =>
    changes.flatMap((change) => describeChange(watched, change) ?? [])
  return {
    watched,
    first: lines(watched.load(graph)),
    apply: (changes: Changes) => lines(watched.apply(changes)),
    lines,
    graph,
  }
}

const job = (...args: Parameters<typeof aJob>) => ({ build_id: 'build', job: aJob(...args) })

describe('the changes of a build', () => {
  it('begins with what there is, and says each change once', () => {
    const { first, apply } = watch([
      aJob('1', 'Test', { state: 'running', agent: 'linux-1' }),
      aJob('2', 'w', { state: 'waiting' }),
    ])
    expect(first).toEqual(['Test: running on linux-1', 'build #12: running'])
    const ended = job('1', 'Test', { state: 'passed', started: 1000, finished: 5000 })
    expect(apply({ jobs: [ended], builds: [aBuild({ state: 'passed' })] })).toEqual([
      'Test: passed after 4 s',
      'build #12: passed',
    ])
    expect(apply({ jobs: [ended], builds: [aBuild({ state: 'passed' })] })).toEqual([])
  })

  it('ignores other builds', () => {
    const { apply } = watch([aJob('1', 'Test', { state: 'running' })])
    const other = { build_id: 'other', job: aJob('1', 'Test', { state: 'failed' }) }
    expect(apply({ jobs: [other], builds: [aBuild({ id: 'other', state: 'failed' })] })).toEqual([])
  })

  it('tells of failures, retries, soft failures, blocks and steps that do not run', () => {
    const { apply, watched } = watch([
      aJob('1', 'Test', { state: 'running' }),
      aJob('b', 'Go', { state: 'blocked' }),
    ])
    const failed = { started: 0, finished: 2000, exit: 3, note: 'exit 3' }
    expect(
      apply({
        jobs: [
          job('1', 'Test', { state: 'failed', ...failed, retriedIn: '2' }),
          job('2', 'Test', { state: 'scheduled', attempt: 1 }),
        ],
      }),
    ).toEqual(['Test: failed, exit 3 after 2 s'])
    expect(watched.jobsOf(aStep('Test')).map(({ id }) => id)).toEqual(['2'])
    expect(apply({ jobs: [job('2', 'Test', { state: 'running', attempt: 1, agent: 'a' })] })).toEqual([
      'Test: running on a, attempt 2',
    ])
    expect(apply({ jobs: [job('2', 'Test', { state: 'failed', soft: true, note: 'exit 1' })] })).toEqual([
      'Test: failed, exit 1, does not count',
    ])
    expect(apply({ jobs: [job('b', 'Go', { state: 'blocked', unblockable: true })] })).toEqual([
      'Go: blocked',
    ])
    expect(apply({ builds: [aBuild({ state: 'passed', blocked: true })] })).toEqual([
      'build #12: blocked (counts as passed)',
    ])
    expect(apply({ jobs: [job('b', 'Go', { state: 'blocked_failed' })] })).toEqual([
      'Go: not run, something before it failed',
    ])
  })

  it('compares a new graph with what is known', () => {
    const { watched, graph, lines } = watch([aJob('1', 'Test', { state: 'running' })])
    const steps = [...graph.steps, aStep('Late')]
    const jobs = [aJob('1', 'Test', { state: 'running' }), aJob('9', 'Late', { state: 'running' })]
    expect(lines(watched.load(aGraph(steps, jobs)))).toEqual(['Late: running'])
    expect(watched.jobsOf(aStep('Late')).map(({ id }) => id)).toEqual(['9'])
  })

  it('waits for the step of a job that was uploaded, and then has its name', () => {
    const { watched, graph, lines, apply } = watch([aJob('1', 'Test', { state: 'running' })])
    expect(apply({ jobs: [job('9', 'Late', { state: 'running' })] })).toEqual([])
    const jobs = [aJob('1', 'Test', { state: 'running' }), aJob('9', 'Late', { state: 'running' })]
    expect(lines(watched.load(aGraph([...graph.steps, aStep('Late')], jobs)))).toEqual(['Late: running'])
    expect(apply({ jobs: [job('9', 'Late', { state: 'passed' })] })).toEqual(['Late: passed'])
  })

  it('shows labels with emoji and the values of their jobs', () => {
    const step = { ...aStep('unit'), label: ':jest: Unit %N of %t', parallelism: 3 }
    const jobs = [1, 2, 3].map((n) =>
      aJob(`${n}`, 'unit', { state: 'running', label: `:jest: Unit ${n} of 3` }),
    )
    const graph = aGraph([step], jobs)
    const watched = new WatchedBuild(graph)
    watched.load(graph)
    expect(watched.nameOfStep(step)).toBe('🃏 Unit 1–3 of 3')
    expect(watched.jobsOf(step).map((job) => watched.nameOfJob(job))[2]).toBe('🃏 Unit 3 of 3')
  })

  it('says the same as JSON', () => {
    const { watched, graph } = watch([
      aJob('1', 'Test', { state: 'failed', started: 0, finished: 2000, exit: 3, note: 'exit 3', index: 1 }),
    ])
    const [change] = new WatchedBuild(graph).load(graph)
    expect(change && changeJson(watched, change)).toEqual({
      type: 'job',
      id: '1',
      name: 'Test (2 of ?)',
      step: { id: 'Test', key: 'Test', kind: 'command' },
      state: 'failed',
      soft_failed: false,
      exit_status: 3,
      reason: 'exit 3',
      attempt: 1,
      retried_in_job_id: null,
      agent: null,
      unblockable: false,
      started_at: '1970-01-01T00:00:00.000Z',
      finished_at: '1970-01-01T00:00:02.000Z',
    })
  })
})
