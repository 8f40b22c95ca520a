import { describe, expect, it } from 'vitest'
import { advance } from '../src/advance.ts'
import type { BuildEvent } from '../src/advance/events.ts'
import { MemoryBuild } from '../src/memory/build.ts'
import { answer } from '../src/memory/answer.ts'
import type { CommandStep, PipelineDocument } from '../src/steps/types.ts'
import { aCommand, aDocument, aWait } from './builders.ts'
import { counter, someFacts } from './running.ts'

const SIZES = [10, 100, 1000, 4000]
const AT = '2030-01-01T00:00:00.000Z'

interface Cost {
  needs: string[]
  rowsRead: number
  rowsWritten: number
  effects: number
}

function begin(document: PipelineDocument): MemoryBuild {
  const build = new MemoryBuild({ scheduledAt: AT, mint: counter('id-') })
  const outcome = build.begin(document, someFacts(), AT)
  if (!outcome.ok) throw new Error(outcome.message)
  return build
}

function costOf(build: MemoryBuild, event: BuildEvent): Cost {
  const { store } = build
  const cost: Cost = { needs: [], rowsRead: 0, rowsWritten: 0, effects: 0 }
  const steps = advance(store.build, event, { mint: counter('new-') })
  let turn = steps.next()
  while (!turn.done) {
    cost.needs.push(turn.value.kind)
    const answered = answer(store, turn.value)
    for (const rows of [answered.steps, answered.jobs, answered.edges]) cost.rowsRead += rows?.length ?? 0
    turn = steps.next(answered)
  }
  if (!turn.value.ok) throw new Error(turn.value.message)
  const { changes, effects } = turn.value
  store.write(changes)
  cost.rowsWritten = changes.steps.length + changes.jobs.length + changes.newJobs.length
  cost.effects = effects.length
  return cost
}

/** The cost of each event of the first job, from its assignment to its end. */
function lifeOfFirstJob(build: MemoryBuild, exitStatus = 0): Cost[] {
  const jobId = [...build.store.jobs.keys()][0] ?? ''
  const moves = (['assign', 'accept', 'start'] as const).map((type) => costOf(build, { type, jobId, at: AT }))
  const end = { type: 'finish', jobId, at: AT, exitStatus, signal: null, signalReason: null } as const
  return [...moves, costOf(build, end)]
}

const commands = (count: number, chained: boolean) =>
  Array.from({ length: count }, (_, index) =>
    aCommand(`c${index}`, {
      key: `c${index}`,
      dependsOn: chained && index > 0 ? [{ ref: `c${index - 1}`, allowFailure: null }] : null,
    }),
  )

const SHAPES: Record<string, (size: number) => PipelineDocument> = {
  'one wide step': (size) => aDocument([aCommand('wide', { parallelism: size - 2 }), aWait(), aCommand('b')]),
  'single-job steps in front of a wait': (size) =>
    aDocument([...commands(size - 2, false), aWait(), aCommand('b')]),
  'a chain': (size) => aDocument(commands(size, true)),
}

describe.each(Object.entries(SHAPES))('the cost of one job in %s', (_, shape) => {
  it('does not grow with the build', () => {
    const [smallest, ...others] = SIZES.map((size) => lifeOfFirstJob(begin(shape(size))))
    for (const other of others) expect(other).toEqual(smallest)
    const end = smallest?.at(-1)
    expect(end?.needs.length).toBeLessThanOrEqual(3)
    expect(end?.rowsRead).toBeLessThanOrEqual(6)
    expect(end?.rowsWritten).toBeLessThanOrEqual(4)
  })

  it('does not grow when the job fails and is to be retried', () => {
    const retrying = (size: number): PipelineDocument => {
      const document = shape(size)
      const retry = {
        automatic: [{ exitStatus: '*', signal: '*', signalReason: '*', limit: 1 }],
        manual: { allowed: true, permitOnPassed: false, reason: null },
      } as const
      const again = (step: CommandStep): CommandStep => ({ ...step, retry })
      return aDocument(document.steps.map((step) => (step.kind === 'command' ? again(step) : step)))
    }
    const [smallest, ...others] = SIZES.map((size) => lifeOfFirstJob(begin(retrying(size - 1)), 1))
    for (const other of others) expect(other).toEqual(smallest)
    expect(smallest?.at(-1)?.needs).toEqual(['job'])
  })
})

describe('needs', () => {
  it('are one for a job that does not end its step', () => {
    const build = begin(aDocument([aCommand('a', { parallelism: 2 }), aWait(), aCommand('b')]))
    expect(lifeOfFirstJob(build).map((cost) => cost.needs)).toEqual([['job'], ['job'], ['job'], ['job']])
  })

  it('are the dependents once for a job that ends its step and frees no other', () => {
    const build = begin(aDocument([aCommand('a'), aCommand('b'), aWait(), aCommand('c')]))
    expect(lifeOfFirstJob(build).at(-1)?.needs).toEqual(['job', 'dependents'])
  })

  it('are none for rows handed over up front', () => {
    const build = begin(aDocument([aCommand('a', { parallelism: 2 })]))
    const jobId = [...build.store.jobs.keys()][0] ?? ''
    const rows = answer(build.store, { kind: 'job', jobId })
    const steps = advance(build.store.build, { type: 'assign', jobId, at: AT }, { mint: counter('n'), rows })
    expect(steps.next().done).toBe(true)
  })

  it('are few for a failure that travels down a chain of 4,000 steps', () => {
    const build = begin(aDocument(commands(4000, true)))
    const end = lifeOfFirstJob(build, 1).at(-1)
    expect(end?.needs).toEqual(['job', 'dependents'])
    expect(build.store.build.state).toBe('failed')
  })
})
