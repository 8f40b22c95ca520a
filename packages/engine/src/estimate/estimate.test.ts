import { describe, expect, it } from 'vitest'
import { newShare } from '../fairness/shares.ts'
import type { FairQueue } from '../fairness/take.ts'
import { estimateStarts, type Estimate } from './estimate.ts'
import type { WaitingJob } from './line.ts'
import { numbersFrom } from './random.ts'
import { runOnce, type AgentNow, type QueueNow } from './run.ts'

const length = 60

const agent = (kinds: readonly number[] = [0], left?: readonly number[]): AgentNow => ({
  kinds: new Set(kinds),
  running: left === undefined ? null : { lengths: left, ranSeconds: 10, isMachine: false },
})

let places = 0
const job = (id: string, given: Partial<WaitingJob> = {}): WaitingJob => ({
  id,
  kind: 0,
  place: (places += 1),
  lengths: [length],
  share: null,
  isMachine: false,
  isUntrusted: false,
  priority: 0,
  seconds: length,
  ...given,
})

const queue = (agents: readonly AgentNow[], jobs: readonly WaitingJob[], fair: FairQueue | null = null) => ({
  agents,
  jobs,
  fair,
})

function estimatesOf(now: QueueNow): Map<string, Estimate> {
  const steps = estimateStarts(now)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

const said = (estimate: Estimate | undefined) =>
  estimate === undefined ? undefined : 'seconds' in estimate ? estimate.seconds : estimate.unknown

const estimated = (now: QueueNow) =>
  Object.fromEntries([...estimatesOf(now)].map(([id, estimate]) => [id, said(estimate)]))

describe('the first come of a queue are the first served', () => {
  it('at once by an idle agent, then when the jobs before them have ended', () => {
    const jobs = [job('a'), job('b'), job('c'), job('d')]
    expect(estimated(queue([agent(), agent([0], [30])], jobs))).toEqual({ a: 0, b: 30, c: 60, d: 90 })
  })

  it('by agents that can run them alone', () => {
    const agents = [agent([0], [100]), agent([0, 1], [20])]
    const jobs = [job('a', { kind: 1 }), job('b', { kind: 1 }), job('c'), job('d', { kind: 2 })]
    expect(estimated(queue(agents, jobs))).toEqual({ a: 20, b: 80, c: 100, d: 'no_agent' })
  })

  it('in the order of the queue, also where one comes later from its concurrency group', () => {
    const first = job('first', { notBefore: [70] })
    const jobs = [job('a'), job('b'), job('c'), first].map((each) =>
      each === first ? { ...each, place: 0 } : each,
    )
    expect(estimated(queue([agent()], jobs))).toEqual({ a: 0, b: 60, first: 120, c: 180 })
  })

  it('with a slot that comes late, by an agent that idles until then', () => {
    expect(estimated(queue([agent()], [job('a', { notBefore: [45] })]))).toEqual({ a: 45 })
  })
})

describe('a fair queue', () => {
  const fair = (share: string | null, given: Partial<WaitingJob> = {}): Partial<WaitingJob> => ({
    share,
    ...given,
  })
  const shares = (...keys: readonly string[]): FairQueue => ({
    virtualTime: 0,
    shares: new Map(keys.map((key) => [key, newShare(1)])),
    machines: null,
  })
  const flood = (count: number, given: Partial<WaitingJob>) =>
    Array.from({ length: count }, (_, number) => job(`flood ${number}`, given))

  it('lets a person start beside a flood, and the flood take turns', () => {
    const now = queue([agent([0], [10])], [...flood(4, fair('flood')), job('person', fair('person'))])
    const running = { ...now.agents[0], kinds: new Set([0]) }
    const busy: AgentNow = {
      ...running,
      running: { lengths: [10], ranSeconds: 50, isMachine: false, charged: { share: 'flood', charge: 60 } },
    }
    const used = { ...shares('flood', 'person') }
    used.shares = new Map(used.shares).set('flood', { finish: 0, running: 60, weight: 1 })
    expect(estimated({ ...now, agents: [busy], fair: used })).toMatchObject({
      person: 10,
      'flood 0': 70,
      'flood 3': 250,
    })
  })

  it('gives a share by its weight', () => {
    const two = shares('one', 'other')
    two.shares = new Map(two.shares).set('other', newShare(3))
    const jobs = Array.from({ length: 8 }, (_, number) => [
      job(`one ${number}`, fair('one')),
      job(`other ${number}`, fair('other')),
    ]).flat()
    const found = estimated({ agents: [agent()], jobs, fair: two })
    const within = (name: string) =>
      Object.entries(found).filter(([id, at]) => id.startsWith(name) && Number(at) < 8 * length).length
    expect([within('one'), within('other')]).toEqual([2, 6])
  })

  it('keeps machines behind people while their slots are in use, and jobs without a share behind all', () => {
    const machines = { running: 0, slots: 1 }
    const jobs = [
      job('none', fair(null)),
      ...flood(3, fair('flood', { isMachine: true, priority: 5 })),
      job('a', fair('person')),
      job('b', fair('person')),
    ]
    expect(
      estimated({ agents: [agent(), agent()], jobs, fair: { ...shares('flood', 'person'), machines } }),
    ).toEqual({
      'flood 0': 0,
      a: 0,
      'flood 1': 60,
      b: 60,
      'flood 2': 120,
      none: 120,
    })
  })
})

describe('what is not known is not said', () => {
  it('without an agent', () => {
    expect(estimated(queue([], [job('a')]))).toEqual({ a: 'no_agent' })
  })

  it('without lengths of jobs, except where an agent is idle', () => {
    expect(estimated(queue([agent()], [job('a', { lengths: [] }), job('b', { lengths: [] })]))).toEqual({
      a: 0,
      b: 'no_history',
    })
  })

  it('behind a job that runs longer than all before it', () => {
    expect(estimated(queue([agent([0], [])], [job('a')]))).toEqual({ a: 'overrun' })
    expect(estimated(queue([agent([0], []), agent([0], [5])], [job('a'), job('b')]))).toEqual({ a: 5, b: 65 })
  })

  it('where the lengths differ too much', () => {
    const lengths = [10, 2000]
    expect(estimated(queue([agent()], [job('a', { lengths }), job('b')]))).toEqual({ a: 0, b: 'spread' })
    const few = [20, 30, 40]
    expect(
      said(estimatesOf(queue([agent()], [job('a', { lengths: few }), job('b')])).get('b')),
    ).toBeGreaterThan(19)
  })

  it('of jobs behind too many others, so that the cost is bounded', () => {
    const count = 1000
    const jobs = Array.from({ length: count }, (_, number) => job(`${number}`, { kind: number }))
    const found = estimated(queue([agent(jobs.map(({ kind }) => kind))], jobs))
    expect(found['0']).toBe(0)
    expect(found['19']).toBe(19 * length)
    expect(found[`${count - 1}`]).toBe('too_large')
  })
})

it('the same queue has the same estimates', () => {
  const lengths = [40, 50, 60, 70]
  const jobs = Array.from({ length: 50 }, (_, number) => job(`${number}`, { lengths }))
  const now = queue([agent(), agent([0], [3, 9])], jobs)
  expect(estimatesOf(now)).toEqual(estimatesOf(now))
})

it('a step looks at a bounded part of a large queue', () => {
  const kinds = Array.from({ length: 1000 }, (_, kind) => kind)
  const jobs = kinds.map((kind) => job(`${kind}`, { kind: kind % 10 }))
  const steps = [...estimateStarts(queue([agent(kinds), agent(kinds, [30])], jobs))]
  expect(steps.length).toBeGreaterThanOrEqual(5)
})

it('half of the starts are before the estimate, and half after it, in random queues', () => {
  const random = numbersFrom(20300101)
  const upTo = (most: number) => Math.floor(random() * most)
  let [before, all] = [0, 0]
  for (let round = 0; round < 200; round++) {
    const lengthsFor = () => Array.from({ length: 20 }, () => 30 + upTo(60))
    const agents = Array.from({ length: 1 + upTo(5) }, () => agent([0], lengthsFor()))
    const jobs = Array.from({ length: 1 + upTo(40) }, (_, number) =>
      job(`${number}`, { lengths: lengthsFor() }),
    )
    const now = queue(agents, jobs)
    const happened = runOnce(now, random)
    for (const [id, estimate] of estimatesOf(now)) {
      if (!('seconds' in estimate)) continue
      all += 1
      if ((happened.get(id) ?? Infinity) < estimate.seconds) before += 1
    }
  }
  expect(all).toBeGreaterThan(2000)
  expect(before / all).toBeGreaterThan(0.4)
  expect(before / all).toBeLessThan(0.6)
})
