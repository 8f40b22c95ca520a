// Random histories: any event, legal or not, aimed mostly at jobs it makes sense for.

import fc from 'fast-check'
import type { BuildEvent } from '../src/advance/events.ts'
import type { ConditionFacts } from '../src/conditions/facts.ts'
import type { MemoryBuild } from '../src/memory/build.ts'
import type { JobRow } from '../src/rows.ts'
import type { JobState } from '../src/states.ts'
import { documentOf, sketch } from './random-documents.ts'
import type { Sketch } from './random-documents.ts'

export interface Move {
  /** `go_on`: whatever comes next for some job that can go on. */
  type: BuildEvent['type'] | 'go_on'
  target: number
  exitStatus: number
  steps: Sketch[]
  replace: boolean
}

export const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.record({
    type: fc.oneof(
      { weight: 30, arbitrary: fc.constant('go_on' as const) },
      {
        weight: 8,
        arbitrary: fc.constantFrom(
          'retry' as const,
          'child_changed',
          'child_created',
          'upload',
          'upload',
          'promise',
        ),
      },
      {
        weight: 5,
        arbitrary: fc.constantFrom(
          'cancel_job' as const,
          'cancel_step',
          'time_out',
          'give_up_on_agent',
          'lose_agent',
          'give_back',
          'expire',
          'child_refused',
          'reserve',
          'finish',
          'unblock',
          'start',
        ),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom('begin' as const, 'skip_build', 'cancel_build', 'accept', 'slots_decided'),
      },
    ),
    target: fc.nat(),
    exitStatus: fc.constantFrom(0, 0, 0, 1, 42, -1),
    steps: fc.array(sketch, { minLength: 1, maxLength: 3 }),
    replace: fc.integer({ max: 6 }).map((n) => n === 0),
  }),
  { minLength: 10, maxLength: 90, size: 'max' },
)

/** The event a move stands for in this build, legal or not. */
export function eventOf(
  move: Move,
  build: MemoryBuild,
  facts: ConditionFacts,
  at: string,
  serial: number,
): BuildEvent {
  const jobs = [...build.store.jobs.values()]
  if (move.type === 'go_on') {
    const able = build.store.newestJobs().filter((job) => nextEventOf(job, move.exitStatus, at) !== null)
    const job = able[move.target % Math.max(able.length, 1)]
    const next = job === undefined ? null : nextEventOf(job, move.exitStatus, at)
    return next ?? { type: 'cancel_build', at, reason: null }
  }
  const likely = jobs.filter(LIKELY[move.type] ?? (() => true))
  const pool = likely.length > 0 && move.target % 8 !== 0 ? likely : jobs
  const job = pool[move.target % Math.max(pool.length, 1)]
  const jobId = job?.id ?? 'none'
  switch (move.type) {
    case 'begin':
      return { type: 'begin', at, plan: { steps: [], jobs: [], edges: [], refs: [] } }
    case 'upload': {
      const prefix = build.store.build.uploads === 0 ? 'late' : `u${serial}-`
      const keys = [...build.store.steps.values()].map((step) => step.key).filter((key) => key !== null)
      return {
        type: 'upload',
        at,
        jobId,
        document: documentOf(move.steps, prefix, keys),
        facts,
        replace: move.replace,
      }
    }
    case 'finish':
      return { type: 'finish', at, jobId, exitStatus: move.exitStatus, signal: null, signalReason: null }
    case 'promise':
      return { type: 'promise', at, jobId, exitStatus: move.exitStatus }
    case 'cancel_step':
      return { type: 'cancel_step', at, stepId: job?.stepId ?? 'none' }
    case 'cancel_build':
      return { type: 'cancel_build', at, reason: null }
    case 'skip_build':
      return { type: 'skip_build', at }
    case 'unblock':
      return { type: 'unblock', at, jobId, answers: {}, by: null }
    case 'retry':
      return { type: 'retry', at, jobId, parentCanceled: false }
    case 'child_created':
      return { type: 'child_created', at, jobId, buildId: `child-${jobId}` }
    case 'child_refused':
      return { type: 'child_refused', at, jobId, message: 'No pipeline found' }
    case 'child_changed': {
      const state = (['passed', 'failed', 'blocked', 'canceled', 'skipped', 'running'] as const)[
        move.target % 6
      ]
      return {
        type: 'child_changed',
        at,
        jobId,
        state: state ?? 'passed',
        blockedState: 'passed',
        isSuperseded: move.replace,
      }
    }
    case 'slots_decided':
      return {
        type: 'slots_decided',
        at,
        start: [jobId],
        wait: jobs.map(({ id }) => id),
        release: move.replace ? jobs.map(({ id }) => id) : [],
      }
    case 'reserve':
    case 'assign':
    case 'accept':
    case 'start':
    case 'give_back':
    case 'lose_agent':
    case 'time_out':
    case 'give_up_on_agent':
    case 'expire':
    case 'cancel_job':
      return { type: move.type, at, jobId }
  }
}

type Next = (jobId: string, exitStatus: number, at: string, job: JobRow) => BuildEvent | null

const finish: Next = (jobId, exitStatus, at) => ({
  type: 'finish',
  at,
  jobId,
  exitStatus,
  signal: null,
  signalReason: null,
})

const decideSlot: Next = (jobId, _, at) => ({
  type: 'slots_decided',
  at,
  start: [jobId],
  wait: [],
  release: [],
})

const followChild: Next = (jobId, exitStatus, at) => {
  const state = exitStatus === 0 ? 'passed' : exitStatus === 1 ? 'failed' : 'canceled'
  return { type: 'child_changed', at, jobId, state, blockedState: null, isSuperseded: false }
}

const NEXT: Partial<Record<JobState, Next>> = {
  limiting: decideSlot,
  limited: decideSlot,
  scheduled: (jobId, _, at) => ({ type: 'assign', at, jobId }),
  reserved: (jobId, _, at) => ({ type: 'assign', at, jobId }),
  assigned: (jobId, _, at) => ({ type: 'accept', at, jobId }),
  accepted: (jobId, _, at) => ({ type: 'start', at, jobId }),
  running: (jobId, exitStatus, at, job) =>
    (job.kind === 'trigger' ? followChild : finish)(jobId, exitStatus, at, job),
  timing_out: finish,
  canceling: finish,
  blocked: (jobId, _, at, job) =>
    job.unblockable ? { type: 'unblock', at, jobId, answers: {}, by: null } : null,
}

/** An event that advances the job; null if the job can only wait. */
export function nextEventOf(job: JobRow, exitStatus: number, at: string): BuildEvent | null {
  return NEXT[job.state]?.(job.id, exitStatus, at, job) ?? null
}

const isRunningScript = ({ state, kind }: JobRow): boolean => state === 'running' && kind === 'script'
const isFailedTrigger = ({ state, kind }: JobRow): boolean => state === 'failed' && kind === 'trigger'
const isRunningTrigger = ({ state, kind }: JobRow): boolean => state === 'running' && kind === 'trigger'

/** Which jobs an event probably means; any job for the others. */
const LIKELY: Partial<Record<Move['type'], (job: JobRow) => boolean>> = {
  reserve: ({ state }) => state === 'scheduled',
  expire: ({ state }) => state === 'scheduled',
  accept: ({ state }) => state === 'assigned',
  start: ({ state }) => state === 'accepted',
  upload: isRunningScript,
  promise: isRunningScript,
  time_out: isRunningScript,
  lose_agent: isRunningScript,
  give_up_on_agent: ({ state }) => state === 'timing_out' || state === 'canceling',
  child_changed: (job) => isRunningTrigger(job) || isFailedTrigger(job),
  child_created: isRunningTrigger,
  child_refused: isRunningTrigger,
  retry: ({ state }) => ['failed', 'timed_out', 'canceled', 'expired'].includes(state),
}
