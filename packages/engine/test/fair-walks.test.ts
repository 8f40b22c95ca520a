import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runFairly, runInOrder, type Arriving, type Started } from './fair-queue.ts'

const SEED = 20300101
const RUNS = { seed: SEED, numRuns: 60 }
const LENGTH = 60

const aJob = (share: string, number: number, given: Partial<Arriving> = {}): Arriving => ({
  id: `${share}-${number}`,
  share,
  isMachine: share === 'machine',
  isUntrusted: false,
  priority: 0,
  seconds: LENGTH,
  at: 0,
  takes: LENGTH,
  ...given,
})

const times = <Made>(count: number, make: (number: number) => Made): Made[] =>
  Array.from({ length: count }, (_, number) => make(number))

const waitsOf = (started: readonly Started[]) => started.map(({ at, startedAt }) => startedAt - at)

describe('a machine with 2,000 jobs, ten people with one job each, five agents', () => {
  const flood = times(2000, (number) => aJob('machine', number))

  it('let each person wait two job lengths at most, whenever they come', () => {
    const moments = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 10, maxLength: 10 })
    const together = fc.integer({ min: 0, max: 20_000 }).map((at) => times(10, () => at))
    fc.assert(
      fc.property(fc.oneof(moments, together), (ats) => {
        const people = ats.map((at, number) => aJob(`person ${number}`, 0, { at }))
        const started = runFairly([...flood, ...people], { agents: 5 })
        const waits = waitsOf(started.filter(({ isMachine }) => !isMachine))
        expect(waits).toHaveLength(10)
        expect(Math.max(...waits)).toBeLessThanOrEqual(2 * LENGTH)
      }),
      { seed: SEED, numRuns: 10 },
    )
  })

  it('would let them wait for all of the machine, first come, first served', () => {
    const people = times(10, (number) => aJob(`person ${number}`, 0, { at: 1 }))
    const waits = waitsOf(runInOrder([...flood, ...people], 5).filter(({ isMachine }) => !isMachine))
    expect(Math.min(...waits)).toBeGreaterThan(390 * LENGTH)
  })

  it('end as many jobs as first come, first served does, within 3 %', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 240 }), { minLength: 2010, maxLength: 2010 })
    fc.assert(
      fc.property(lengths, (takes) => {
        const jobs = [...flood, ...times(10, (number) => aJob(`person ${number}`, 0, { at: 500 * number }))]
        const sized = jobs.map((job, at) => ({ ...job, takes: takes[at] ?? LENGTH }))
        const end = (started: readonly Started[]) => Math.max(...started.map(({ endsAt }) => endsAt))
        const ratio = end(runFairly(sized, { agents: 5 })) / end(runInOrder(sized, 5))
        expect(Math.abs(ratio - 1)).toBeLessThan(0.03)
      }),
      { seed: SEED, numRuns: 5 },
    )
  })

  it('have the same history each time', () => {
    const people = times(10, (number) => aJob(`person ${number}`, 0, { at: 700 * number }))
    const run = () => runFairly([...flood, ...people], { agents: 5 }).map(({ id }) => id)
    expect(run()).toEqual(run())
  })
})

const names = ['a', 'b', 'c', 'd', 'e']
const weight = fc.integer({ min: 1, max: 1000 })
const weightsOf = (given: readonly number[]) =>
  new Map(names.map((name, at): [string, number] => [name, given[at] ?? 1]))
const someWeights = fc.tuple(weight, weight, weight, weight, weight).map(weightsOf)

/** Jobs whose lengths are known before. */
const walks = fc
  .array(
    fc.record({
      share: fc.constantFrom(...names),
      at: fc.integer({ min: 0, max: 2000 }),
      takes: fc.integer({ min: 1, max: 100 }),
    }),
    { minLength: 1, maxLength: 120 },
  )
  .map((made) => made.map((job, at) => aJob(job.share, at, { ...job, seconds: job.takes })))

const agentCounts = fc.integer({ min: 1, max: 8 })

describe('random walks', () => {
  it('give two shares that both wait the same, by their weights, within a job of each and those that ran before', () => {
    fc.assert(
      fc.property(walks, someWeights, agentCounts, (jobs, weights, agents) => {
        const longest = Math.max(...jobs.map(({ takes }) => takes))
        const given = new Map(names.map((name) => [name, 0]))
        /** How much more the first had than the second when both began to wait. */
        const begin = new Map<string, number>()
        const unfair: string[] = []
        const weightOf = (share: string) => weights.get(share) ?? 1
        const look = (waiting: ReadonlySet<string>) => {
          for (const one of names)
            for (const other of names) {
              const key = `${one} ${other}`
              const ahead = (given.get(one) ?? 0) - (given.get(other) ?? 0)
              if (!waiting.has(one) || !waiting.has(other)) begin.delete(key)
              else if (!begin.has(key)) begin.set(key, ahead)
              const gained = ahead - (begin.get(key) ?? ahead)
              const allowed = longest / weightOf(one) + ((1 + agents) * longest) / weightOf(other)
              if (gained > allowed + 1e-6) unfair.push(key)
            }
        }
        runFairly(jobs, {
          agents,
          weights,
          onStart({ share, takes, startedAt }, waiting) {
            given.set(share, (given.get(share) ?? 0) + takes / weightOf(share))
            look(new Set(waiting.filter(({ at }) => at <= startedAt).map((job) => job.share)))
          },
        })
        expect(unfair).toEqual([])
      }),
      RUNS,
    )
  })

  it('starve no share, under any weights', () => {
    fc.assert(
      fc.property(someWeights, agentCounts, (weights, agents) => {
        const jobs = names.flatMap((name) => times(40, (number) => aJob(name, number)))
        const order = runFairly(jobs, { agents, weights }).map(({ share }) => share)
        expect(new Set(order.slice(0, names.length))).toEqual(new Set(names))
        const most = new Map(names.map((name) => [name, 0]))
        for (const [index, share] of order.entries()) {
          const next = order.indexOf(share, index + 1)
          const between = order.slice(index + 1, next < 0 ? index + 1 : next)
          for (const other of names) {
            const count = between.filter((each) => each === other).length
            const allowed = (weights.get(other) ?? 1) / (weights.get(share) ?? 1) + 1
            most.set(share, Math.max(most.get(share) ?? 0, count - allowed))
          }
        }
        expect(Math.max(...most.values())).toBeLessThanOrEqual(1e-6)
      }),
      RUNS,
    )
  })

  it('never leave an agent idle beside a job, and start each job once', () => {
    fc.assert(
      fc.property(walks, someWeights, agentCounts, (jobs, weights, agents) => {
        const started = runFairly(jobs, { agents, weights, machinePercent: 25 })
        expect(started.map(({ id }) => id).toSorted()).toEqual(jobs.map(({ id }) => id).toSorted())
        const delayed = started.filter(({ at, startedAt }) => at < startedAt)
        const busyBefore = delayed.map(
          ({ startedAt }) =>
            started.filter((job) => job.startedAt < startedAt && job.endsAt >= startedAt).length,
        )
        expect(Math.min(agents, ...busyBefore)).toBe(agents)
      }),
      RUNS,
    )
  })

  it('correct charges that were wrong: in the long run each share has its part of the time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 50 }), agentCounts, (longer, agents) => {
        const jobs = [
          ...times(1500, (number) => aJob('short', number, { takes: 10, seconds: 60 })),
          ...times(500, (number) => aJob('long', number, { takes: 10 * longer, seconds: 60 })),
        ]
        const until = 1500
        const started = runFairly(jobs, { agents }).filter(({ startedAt }) => startedAt < until)
        const timeOf = (name: string) =>
          started.filter(({ share }) => share === name).reduce((sum, { takes }) => sum + takes, 0)
        const wrong = 2 * agents * (10 * longer + 60)
        expect(Math.abs(timeOf('short') - timeOf('long'))).toBeLessThanOrEqual(wrong)
      }),
      { seed: SEED, numRuns: 6 },
    )
  })
})

describe('the slots of machines', () => {
  it('are not exceeded while a person waits, whatever the priority of the jobs', () => {
    fc.assert(
      fc.property(agentCounts, fc.integer({ min: 1, max: 100 }), (agents, percent) => {
        const jobs = [
          ...times(200, (number) => aJob('machine', number, { priority: 9 })),
          ...times(200, (number) => aJob('person', number, { at: 300 })),
        ]
        const slots = Math.max(1, Math.floor((agents * percent) / 100))
        let most = 0
        runFairly(jobs, {
          agents,
          machinePercent: percent,
          onStart({ isMachine }, waiting, running) {
            const isLimited = isMachine && waiting.some((job) => !job.isMachine)
            if (isLimited) most = Math.max(most, running.filter((job) => job.isMachine).length)
          },
        })
        expect(most).toBeLessThanOrEqual(slots)
      }),
      RUNS,
    )
  })

  it('are all agents while no person waits', () => {
    const jobs = times(20, (number) => aJob('machine', number))
    const started = runFairly(jobs, { agents: 4, machinePercent: 25 })
    expect(started.filter(({ startedAt }) => startedAt === 0)).toHaveLength(4)
  })
})

it('higher priorities come first, and then wait for the shares that they passed', () => {
  const jobs = [
    ...times(4, (number) => aJob('hurried', number, { priority: 1 })),
    ...times(2, (number) => aJob('hurried', 10 + number)),
    ...times(4, (number) => aJob('patient', number)),
  ]
  const order = runFairly(jobs, { agents: 1 }).map(({ share }) => share)
  expect(order.slice(0, 4)).toEqual(times(4, () => 'hurried'))
  expect(order.slice(4, 8)).toEqual(times(4, () => 'patient'))
})

it('a share that was idle saves nothing up', () => {
  const jobs = [
    ...times(100, (number) => aJob('busy', number)),
    ...times(20, (number) => aJob('back', number, { at: 50 * LENGTH })),
  ]
  const order = runFairly(jobs, { agents: 1 })
    .map(({ share }) => share)
    .slice(50, 70)
  expect(order.filter((share) => share === 'back').length).toBeLessThanOrEqual(11)
})
