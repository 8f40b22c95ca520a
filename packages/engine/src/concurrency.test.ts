import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decideSlots } from './concurrency.ts'
import type { QueuedJob } from './concurrency.ts'
import type { JobState } from './states.ts'

function job(id: string, state: JobState, given: Partial<QueuedJob> = {}): QueuedJob {
  return { id, state, limit: 1, method: 'ordered', priority: 0, hasAgent: true, waitsFor: [], ...given }
}

describe('ordered', () => {
  it('starts as many as the limit lets, from the front', () => {
    const queue = ['a', 'b', 'c'].map((id) => job(id, 'limiting', { limit: 2 }))
    expect(decideSlots(queue)).toEqual({ start: ['a', 'b'], wait: ['c'], release: [] })
  })

  it('counts slots that are held and places that are kept', () => {
    expect(decideSlots([job('a', 'running'), job('b', 'limited')])).toEqual({
      start: [],
      wait: [],
      release: [],
    })
    expect(decideSlots([job('a', 'waiting'), job('b', 'limiting')])).toEqual({
      start: [],
      wait: ['b'],
      release: [],
    })
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
    expect(decideSlots(queue)).toEqual({ start: ['c', 'b'], wait: ['d'], release: [] })
  })
})

describe('jobs that no agent can take', () => {
  const stuck = (id: string, state: JobState) => job(id, state, { hasAgent: false })

  it('give their slots to jobs that an agent can take', () => {
    const queue = [stuck('a', 'scheduled'), stuck('b', 'limited'), job('c', 'limited')]
    expect(decideSlots(queue)).toEqual({ start: ['c'], wait: [], release: ['a'] })
  })

  it('keep their slots while no other job can start', () => {
    const queue = [stuck('a', 'scheduled'), stuck('b', 'limiting'), job('c', 'waiting')]
    expect(decideSlots(queue)).toEqual({ start: [], wait: ['b'], release: [] })
  })

  it('get a free slot in their turn', () => {
    expect(decideSlots([stuck('a', 'limited'), job('b', 'limited')])).toMatchObject({ start: ['a'] })
  })

  it('never lead to more jobs with a slot than the limit', () => {
    const states = fc.constantFrom<JobState>('waiting', 'limiting', 'limited', 'scheduled', 'running')
    const jobs = fc.record({
      state: states,
      hasAgent: fc.boolean(),
      method: fc.constantFrom('ordered' as const, 'eager' as const),
    })
    fc.assert(
      fc.property(fc.array(jobs, { maxLength: 12 }), fc.integer({ min: 1, max: 4 }), (given, limit) => {
        const queue = given.map((each, index) =>
          job(String(index), each.state, {
            ...each,
            limit,
            hasAgent: each.hasAgent || each.state === 'running',
          }),
        )
        const { start, release } = decideSlots(queue)
        const held = queue.filter(({ state }) => state === 'scheduled' || state === 'running').length
        expect(held + start.length - release.length).toBeLessThanOrEqual(Math.max(limit, held))
        const ready = queue.filter(({ state }) => state === 'limiting' || state === 'limited')
        const released = new Set(release)
        expect(start.every((id) => ready.some((each) => each.id === id))).toBe(true)
        expect(queue.filter(({ id }) => released.has(id)).every(({ hasAgent }) => !hasAgent)).toBe(true)
      }),
    )
  })
})
