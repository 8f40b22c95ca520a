import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { didNotRun, isFinal, isFinalBuild } from '../src/states.ts'
import { advance } from '../src/advance.ts'
import type { BuildEvent } from '../src/advance/events.ts'
import type { Need } from '../src/advance/needs.ts'
import { MemoryBuild } from '../src/memory/build.ts'
import { answer } from '../src/memory/answer.ts'
import type { Store } from '../src/memory/store.ts'
import { decideGroupSlots } from '../src/memory/slots.ts'
import type { Effect } from '../src/advance/effects.ts'
import type { BuildRow, JobRow, StepPhase } from '../src/rows.ts'
import { documentOf, sketches } from './random-documents.ts'
import { eventOf, moves, nextEventOf } from './random-events.ts'
import type { Move } from './random-events.ts'
import { Oracle } from './oracle.ts'
import { findDrift } from './recount.ts'
import { counter, someFacts } from './running.ts'

const SEED = 20300101
const RUNS = { seed: SEED, numRuns: 150 }
const FACTS = someFacts()

type Sketches = typeof sketches extends fc.Arbitrary<infer Sketched> ? Sketched : never

function time(step: number): string {
  return new Date(Date.UTC(2030, 0, 1, 0, 0, step)).toISOString()
}

function begin(sketched: Sketches): MemoryBuild | null {
  const build = new MemoryBuild({ scheduledAt: time(0), mint: counter('id-') })
  const outcome = build.begin(documentOf(sketched, 's', []), FACTS, time(1))
  return outcome.ok ? build : null
}

function walk(
  build: MemoryBuild,
  history: readonly Move[],
  /** Returns how much is wrong; the walk ends there. */
  inspect?: (before: Snapshot, effects: Effect[] | null) => number,
): void {
  for (const [index, move] of history.entries()) {
    const before = inspect === undefined ? null : snapshot(build)
    const outcome = build.apply(eventOf(move, build, FACTS, time(index + 2), index))
    if (before !== null && inspect !== undefined && inspect(before, outcome.ok ? outcome.effects : null) > 0)
      return
  }
}

/** The result, in a fixed order. */
function drive(store: Store, event: BuildEvent, mint: () => string, ask: (need: Need) => Need): string[] {
  const steps = advance(store.build, event, { mint })
  let turn = steps.next()
  while (!turn.done) turn = steps.next(answer(store, ask(turn.value)))
  if (!turn.value.ok) return [turn.value.reason]
  store.write(turn.value.changes)
  const reported = new Set([...turn.value.effects, store.build].map((item) => JSON.stringify(item)))
  return [...reported].toSorted()
}

/** A step that was ready stays so whatever becomes of its dependencies, and a step given up has no rule. */
function findMistakes(store: Store, before: Snapshot): string[] {
  const oracle = new Oracle(store)
  const steps = store.stepsInOrder().filter((step) => step.kind !== 'group' && !step.impossible)
  return steps.flatMap((step) => {
    if (step.phase === 'ignored' || before.phases.get(step.id) === 'ready') return []
    const result = oracle.resultOf(step)
    const expected = { ok: ['ready'], fail: ['not_run'], wait: ['waiting', 'blocked'] }[result]
    return expected.includes(step.phase) ? [] : [`${step.key} is ${step.phase}, the rules say ${result}`]
  })
}

interface Snapshot {
  build: BuildRow
  jobs: Map<string, JobRow>
  phases: Map<string, StepPhase>
}

function snapshot({ store }: MemoryBuild): Snapshot {
  const phases = new Map([...store.steps.values()].map((step) => [step.id, step.phase]))
  return { build: store.build, jobs: new Map(store.jobs), phases }
}

/** Lets everything that can run pass, and every person say yes. */
function drain(build: MemoryBuild): void {
  for (let turn = 0; turn < 2000; turn += 1) {
    const at = time(1000 + turn)
    decideGroupSlots([build], 'g', at)
    const next = build.store
      .newestJobs()
      .filter((job) => job.state !== 'limiting' && job.state !== 'limited')
      .map((job) => nextEventOf(job, 0, at))
      .find((event) => event !== null)
    if (next === undefined) return
    const outcome = build.apply(next)
    if (!outcome.ok) throw new Error(outcome.message)
  }
  throw new Error('The build never came to an end')
}

// To expect costs more than a step of a walk, so what is wrong is gathered and expected to be nothing at its end.
describe('random walks', { timeout: 600_000 }, () => {
  it('keep every counter equal to a recount', () => {
    fc.assert(
      fc.property(sketches, moves, (sketched, history) => {
        const build = begin(sketched)
        if (build === null) return
        const drift = findDrift(build.store)
        walk(build, history, () => drift.push(...findDrift(build.store)))
        expect(drift).toEqual([])
      }),
      RUNS,
    )
  })

  it('report every change of state once, and only legal ones', () => {
    fc.assert(
      fc.property(sketches, moves, (sketched, history) => {
        const build = begin(sketched)
        if (build === null) return
        const wrong: unknown[] = []
        walk(build, history, (before, effects) => {
          const reported = (effects ?? []).flatMap((effect) =>
            effect.kind === 'job_state_changed' ? [`${effect.jobId} ${effect.from} ${effect.to}`] : [],
          )
          const seen = [...build.store.jobs.values()].flatMap((job) => {
            const from = before.jobs.get(job.id)?.state ?? null
            return from === job.state ? [] : [`${job.id} ${from} ${job.state}`]
          })
          const [report, truth] = [reported.toSorted().join(), seen.toSorted().join()]
          if (report !== truth) wrong.push({ report, truth })
          const turns = (effects ?? []).filter((effect) => effect.kind === 'build_state_changed')
          const { state, blockedState } = build.store.build
          const hasTurned = state !== before.build.state || blockedState !== before.build.blockedState
          if (turns.length !== Number(hasTurned)) wrong.push({ turns, hasTurned })
          return wrong.length
        })
        expect(wrong).toEqual([])
      }),
      RUNS,
    )
  })

  it('change a final job only where a retry above it allows, and never clear failing_at', () => {
    fc.assert(
      fc.property(sketches, moves, (sketched, history) => {
        const build = begin(sketched)
        if (build === null) return
        const wrong: unknown[] = []
        walk(build, history, (before) => {
          for (const [id, old] of before.jobs) {
            const now = build.store.jobs.get(id)
            if (now === undefined || now.state === old.state || !isFinal(old.state)) continue
            if (!didNotRun(old.state)) wrong.push({ id, was: old.state, is: now.state })
          }
          const { failingAt } = build.store.build
          if ((before.build.failingAt ?? failingAt) !== failingAt) wrong.push({ before, failingAt })
          return wrong.length
        })
        expect(wrong).toEqual([])
      }),
      RUNS,
    )
  })

  it('free and stop the steps that the rules free and stop', () => {
    fc.assert(
      fc.property(sketches, moves, (sketched, history) => {
        const build = begin(sketched)
        if (build === null) return
        const simple = history.filter(
          ({ type }) => !['upload', 'retry', 'cancel_build', 'skip_build'].includes(type),
        )
        const mistakes: string[] = []
        walk(build, simple, (before) => mistakes.push(...findMistakes(build.store, before)))
        expect(mistakes).toEqual([])
      }),
      RUNS,
    )
  })

  it('have the same end for the same history', () => {
    fc.assert(
      fc.property(sketches, moves, (sketched, history) => {
        const [one, two] = [begin(sketched), begin(sketched)]
        if (one === null || two === null) return
        walk(one, history)
        walk(two, history)
        expect(two.store).toEqual(one.store)
      }),
      { ...RUNS, numRuns: 40 },
    )
  })

  it('do not depend on answers with more rows than was asked', () => {
    fc.assert(
      fc.property(sketches, moves, (sketched, history) => {
        const [generous, stingy] = [begin(sketched), begin(sketched)]
        if (generous === null || stingy === null) return
        const mint = counter('more-')
        const again = counter('more-')
        const different: unknown[] = []
        for (const [index, move] of history.entries()) {
          const event = eventOf(move, generous, FACTS, time(index + 2), index)
          const more = drive(generous.store, event, mint, (need) => need)
          const less = drive(stingy.store, event, again, (need) =>
            'reach' in need ? { ...need, reach: 'next' } : need,
          )
          if (less.join('\n') !== more.join('\n')) different.push({ event, more, less })
        }
        expect(different).toEqual([])
      }),
      RUNS,
    )
  })

  it('never leave a build stuck while something could run', () => {
    fc.assert(
      fc.property(sketches, moves, (sketched, history) => {
        const build = begin(sketched)
        if (build === null) return
        walk(build, history)
        drain(build)
        expect(isFinalBuild(build.store.build.state)).toBe(true)
        expect(build.store.newestJobs().filter((job) => !isFinal(job.state))).toEqual([])
        expect(build.store.build.finishedAt).not.toBeNull()
      }),
      RUNS,
    )
  })
})
