import { describe, expect, it } from 'vitest'
import { decideSlots } from './concurrency.ts'
import type { QueuedJob } from './concurrency.ts'
import type { JobState } from './states.ts'

function job(id: string, state: JobState, given: Partial<QueuedJob> = {}): QueuedJob {
  return { id, state, limit: 1, method: 'ordered', priority: 0, waitsFor: [], ...given }
}

describe('ordered', () => {
  it('starts as many as the limit lets, from the front', () => {
    const queue = ['a', 'b', 'c'].map((id) => job(id, 'limiting', { limit: 2 }))
    expect(decideSlots(queue)).toEqual({ start: ['a', 'b'], wait: ['c'] })
  })

  it('counts slots that are held and places that are kept', () => {
    expect(decideSlots([job('a', 'running'), job('b', 'limited')])).toEqual({ start: [], wait: [] })
    expect(decideSlots([job('a', 'waiting'), job('b', 'limiting')])).toEqual({ start: [], wait: ['b'] })
  })

  it('passes jobs that have left the queue', () => {
    const queue = [job('a', 'blocked'), job('b', 'passed'), job('c', 'limited')]
    expect(decideSlots(queue).start).toEqual(['c'])
  })

  it('goes on behind a job that cannot start', () => {
    const queue = [job('a', 'running'), job('b', 'limited'), job('c', 'limited', { limit: 3 })]
    expect(decideSlots(queue).start).toEqual(['c'])
  })

  it('is not held up by a job that depends on it', () => {
    const queue = [job('a', 'waiting', { waitsFor: ['b'] }), job('b', 'limiting')]
    expect(decideSlots(queue).start).toEqual(['b'])
  })

  it('is not held up by a job that depends on one further back', () => {
    const queue = [job('a', 'waiting', { waitsFor: ['c'] }), job('b', 'limited'), job('c', 'limited')]
    expect(decideSlots(queue).start).toEqual(['b'])
  })

  it('is held up by a job that depends on one in front', () => {
    const queue = [
      job('a', 'running', { limit: 2 }),
      job('b', 'waiting', { waitsFor: ['a'] }),
      job('c', 'limited', { limit: 2 }),
    ]
    expect(decideSlots(queue).start).toEqual([])
  })
})

describe('eager', () => {
  it('starts jobs that are ready, highest priority first, then by place', () => {
    const queue = [
      job('a', 'waiting', { method: 'eager', limit: 2 }),
      job('b', 'limiting', { method: 'eager', limit: 2 }),
      job('c', 'limiting', { method: 'eager', limit: 2, priority: 5 }),
      job('d', 'limiting', { method: 'eager', limit: 2 }),
    ]
    expect(decideSlots(queue)).toEqual({ start: ['c', 'b'], wait: ['d'] })
  })
})
