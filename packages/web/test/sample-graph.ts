// Graphs of any size, for tests.
import type { ShortJob } from '../src/api/live-changes.ts'
import type { Graph, GraphStep, StepKind } from '../src/graph/jobs/job.ts'

export const sampleStep = (id: string, more: Partial<GraphStep> = {}): GraphStep => ({
  id,
  kind: 'command',
  key: id,
  label: null,
  group_id: null,
  parallelism: null,
  matrix: false,
  command: null,
  ...more,
})

export interface SampleJob {
  label?: string
  index?: number
  attempt?: number
  runnable?: number
  started?: number
  finished?: number
  exit?: number
  softFailed?: boolean
  retriedIn?: string
  agent?: string
  note?: string
  unblockable?: boolean
}

export const sampleJob = (id: string, stepId: string, state: string, more: SampleJob = {}): ShortJob => [
  id,
  stepId,
  state,
  more.label ?? null,
  more.index ?? null,
  more.attempt ?? 0,
  0,
  more.runnable ?? null,
  more.started ?? null,
  more.finished ?? null,
  more.exit ?? null,
  more.softFailed === true ? 1 : 0,
  more.retriedIn ?? null,
  more.agent ?? null,
  more.note ?? null,
  more.unblockable === true ? 1 : 0,
]

/** `kinds` names the kinds of steps that are no commands. */
export function sampleGraph(
  edges: ReadonlyArray<readonly [string, string]>,
  jobs: readonly ShortJob[] = [],
  kinds: Readonly<Record<string, StepKind>> = {},
): Graph {
  const ids = new Set([...edges.flat(), ...jobs.map((job) => String(job[1]))])
  return { steps: [...ids].map((id) => sampleStep(id, { kind: kinds[id] ?? 'command' })), edges, jobs }
}

/** One build, then `stepCount` steps of parallel jobs in all states, a wait, and a deployment. */
export function bigGraph(stepCount: number, jobsPerStep: number): Graph {
  const steps = [sampleStep('build', { label: 'Build' })]
  const edges: Array<[string, string]> = []
  const jobs = [sampleJob('build', 'build', 'passed', { runnable: 0, started: 500, finished: 60_000 })]
  const states = ['passed', 'passed', 'failed', 'running', 'scheduled', 'passed', 'limited', 'timed_out']
  for (let at = 0; at < stepCount; at++) {
    const id = `step ${at}`
    steps.push(sampleStep(id, { label: `Test suite ${at}`, parallelism: jobsPerStep }))
    edges.push(['build', id], [id, 'wait'])
    for (let index = 0; index < jobsPerStep; index++) {
      const state = states[(at + index) % states.length] ?? 'passed'
      const hasStarted = state !== 'scheduled' && state !== 'limited'
      jobs.push(
        sampleJob(`${id} job ${index}`, id, state, {
          index,
          runnable: 60_000,
          ...(hasStarted ? { started: 61_000 + index * 100, agent: `agent ${index % 50}` } : {}),
          ...(hasStarted && state !== 'running' ? { finished: 90_000 + index * 250 } : {}),
          ...(state === 'failed' ? { exit: 1, note: 'exit 1' } : {}),
        }),
      )
    }
  }
  steps.push(sampleStep('wait', { kind: 'wait', key: null }), sampleStep('deploy', { label: 'Deploy' }))
  edges.push(['wait', 'deploy'])
  jobs.push(sampleJob('wait', 'wait', 'waiting'), sampleJob('deploy', 'deploy', 'waiting'))
  return { steps, edges, jobs }
}
