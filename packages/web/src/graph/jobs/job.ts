// A job and a step of a build as the views use them, read from the short forms of `GET …/graph` and of the events.
import { showLabel } from '../../parts/labels.ts'
import { fillStepLabel } from '@millrace/engine/labels/step-label.ts'
import type { ShortJob } from '../../api/live-changes.ts'
import type { Schemas } from '../../api/operations.ts'
import { bucketOf, type Bucket } from './buckets.ts'
import { stateLook, type StateLook } from '../../parts/state-badge/states.ts'

export type GraphStep = Schemas['GraphStep']
export type StepKind = GraphStep['kind']

export interface Graph {
  steps: readonly GraphStep[]
  /** Pairs of step ids: the second waits for the first. */
  edges: ReadonlyArray<readonly string[]>
  jobs: readonly ShortJob[]
}

export interface Job {
  id: string
  /** The id of its first attempt. Attempts share their place in lists. */
  firstAttemptId: string
  stepId: string
  kind: StepKind
  state: string
  /** As it is shown. */
  name: string
  /** As it was typed, with the values of the job. */
  label: string | null
  /** Counts from 0 among the jobs of a parallel step. */
  index: number | null
  /** 0 is the first. */
  attempt: number
  createdMs: number | null
  runnableMs: number | null
  startedMs: number | null
  finishedMs: number | null
  exitStatus: number | null
  isSoftFailed: boolean
  retriedIn: string | null
  agent: string | null
  note: string | null
  isUnblockable: boolean
  look: StateLook
  bucket: Bucket
  /** What it was read from. */
  short: ShortJob
}

export function readJob(short: ShortJob, step: GraphStep): Omit<Job, 'firstAttemptId'> {
  const text = (at: number) => (typeof short[at] === 'string' ? short[at] : null)
  const number = (at: number) => (typeof short[at] === 'number' ? short[at] : null)
  const index = number(4)
  const state = text(2) ?? 'pending'
  const isSoftFailed = short[11] === 1
  const isUnblockable = short[15] === 1
  const note = text(14)
  const look = stateLook('job', state, {
    softFailed: isSoftFailed,
    unblockable: isUnblockable,
    reason: note,
  })
  return {
    id: text(0) ?? '',
    stepId: step.id,
    kind: step.kind,
    state,
    name: showLabel(jobName(step, text(3), index)),
    label: text(3) ?? step.label,
    index,
    attempt: number(5) ?? 0,
    createdMs: number(6),
    runnableMs: number(7),
    startedMs: number(8),
    finishedMs: number(9),
    exitStatus: number(10),
    isSoftFailed,
    retriedIn: text(12),
    agent: text(13),
    note,
    isUnblockable,
    look,
    bucket: bucketOf(state, look.tone),
    short,
  }
}

/** As it is shown, with the values of its jobs. */
export function stepName(step: GraphStep, jobLabels: readonly string[]): string {
  return showLabel(
    filledLabel(step, jobLabels) || step.key || firstLine(step.command) || KIND_NAMES[step.kind],
  )
}

function filledLabel(step: GraphStep, jobLabels: readonly string[]): string {
  const hasTokens = step.parallelism !== null || step.matrix
  return hasTokens ? fillStepLabel(step.label ?? '', jobLabels) : (step.label ?? '')
}

export const KIND_NAMES: Record<StepKind, string> = {
  command: 'Command',
  wait: 'Wait',
  block: 'Block',
  input: 'Input',
  trigger: 'Trigger',
  group: 'Group',
}

function jobName(step: GraphStep, label: string | null, index: number | null): string {
  if (label !== null && label !== '') return label
  const name = stepName(step, [])
  return index === null || step.parallelism === null ? name : `${name} ${index + 1}/${step.parallelism}`
}

const firstLine = (command: string | null) => command?.trim().split('\n')[0] ?? ''

/** From `runnable` to `started`: how long the job waited for an agent or for its turn. */
export function waitMs(job: Job, nowMs: number): number | null {
  if (job.runnableMs === null) return null
  return Math.max(0, (job.startedMs ?? job.finishedMs ?? nowMs) - job.runnableMs)
}

export function durationMs(job: Job, nowMs: number): number | null {
  return job.startedMs === null ? null : Math.max(0, (job.finishedMs ?? nowMs) - job.startedMs)
}

/** The job as the event stream would tell it, in another state, in which nobody can unblock it. */
export const withState = ({ short }: Job, state: string): ShortJob => short.with(2, state).with(15, 0)
