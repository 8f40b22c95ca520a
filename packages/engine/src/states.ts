// Every state a job, a step and a build can be in, and which may follow which.
//
// A job starts `pending` and is judged in the same breath. A loser of `if`, `branches` or `skip` is `broken`.
// A job with an unmet dependency is `waiting`, or `blocked` when a person stands somewhere above it. When its
// dependencies are met a waiter is `passed`, a trigger is `running`, and a script goes to `scheduled`, through
// `limiting` and perhaps `limited` if it belongs to a concurrency group; it goes back to `limited` when no agent
// can take it and others of the group can start. When a dependency can no longer be
// met it is `waiting_failed` or `blocked_failed`. An agent then moves a script through `assigned`, perhaps `accepted`,
// and `running` to `passed` or `failed`; a stop request puts `canceling` or `timing_out` in between. A final
// job never changes again, with two exceptions: a job that did not run goes back to waiting when the failure
// above it is retried, and a retry makes a new job that takes the old one's place in every count.
//
// A step is the sum of its newest jobs; a build is a pure function of counts over its newest jobs. A build
// that has ended is opened again only by a manual retry, a canceled or skipped one by nothing.

export const JOB_STATES = [
  'pending',
  'waiting',
  'blocked',
  'unblocked',
  'waiting_failed',
  'blocked_failed',
  'unblocked_failed',
  'broken',
  'limiting',
  'limited',
  'scheduled',
  'reserved',
  'assigned',
  'accepted',
  'running',
  'passed',
  'failed',
  'timing_out',
  'timed_out',
  'canceling',
  'canceled',
  'expired',
  'skipped',
] as const

export type JobState = (typeof JOB_STATES)[number]

export const BUILD_STATES = [
  'creating',
  'scheduled',
  'running',
  'failing',
  'blocked',
  'passed',
  'failed',
  'canceling',
  'canceled',
  'skipped',
  'not_run',
] as const

export type BuildState = (typeof BUILD_STATES)[number]

export type StepState =
  | 'ignored'
  | 'waiting_for_dependencies'
  | 'ready'
  | 'waiting_for_input'
  | 'running'
  | 'failing'
  | 'canceled'
  | 'finished'

export type StepOutcome = 'neutral' | 'passed' | 'soft_failed' | 'hard_failed' | 'errored'

const JOB_TRANSITIONS: Readonly<Record<JobState, readonly JobState[]>> = {
  pending: [
    'broken',
    'waiting',
    'blocked',
    'waiting_failed',
    'blocked_failed',
    'limiting',
    'scheduled',
    'passed',
    'running',
    'canceled',
    'skipped',
  ],
  waiting: ['blocked', 'limiting', 'scheduled', 'passed', 'running', 'waiting_failed', 'canceled', 'skipped'],
  blocked: [
    'waiting',
    'limiting',
    'scheduled',
    'passed',
    'running',
    'blocked_failed',
    'unblocked',
    'canceled',
    'skipped',
  ],
  unblocked: ['unblocked_failed'],
  waiting_failed: ['waiting', 'blocked'],
  blocked_failed: ['waiting', 'blocked'],
  unblocked_failed: [],
  broken: [],
  limiting: ['limited', 'scheduled', 'canceled', 'skipped'],
  limited: ['scheduled', 'canceled', 'skipped'],
  scheduled: ['reserved', 'assigned', 'limited', 'expired', 'canceled', 'skipped'],
  reserved: ['scheduled', 'assigned', 'canceled', 'skipped'],
  assigned: ['accepted', 'running', 'scheduled', 'canceled', 'skipped'],
  accepted: ['running', 'scheduled', 'canceling', 'skipped'],
  running: ['passed', 'failed', 'timing_out', 'canceling', 'canceled', 'skipped'],
  passed: [],
  // A trigger job, when the build it waits for is opened again.
  failed: ['running'],
  timing_out: ['timed_out', 'passed'],
  timed_out: [],
  canceling: ['canceled'],
  canceled: [],
  expired: [],
  skipped: [],
}

// A job ended before any agent took it can end the build straight from `scheduled`, and one event can both
// end a job and finish everything behind it, so some transitions skip states.
const BUILD_TRANSITIONS: Readonly<Record<BuildState, readonly BuildState[]>> = {
  creating: ['scheduled', 'running', 'failing', 'blocked', 'failed', 'canceled', 'skipped', 'not_run'],
  scheduled: [
    'running',
    'failing',
    'blocked',
    'passed',
    'failed',
    'canceling',
    'canceled',
    'skipped',
    'not_run',
  ],
  running: ['failing', 'blocked', 'passed', 'failed', 'canceling', 'canceled'],
  failing: ['scheduled', 'running', 'blocked', 'passed', 'failed', 'canceling', 'canceled'],
  blocked: ['scheduled', 'running', 'failing', 'passed', 'failed', 'canceled'],
  passed: ['scheduled', 'running', 'failing'],
  failed: ['scheduled', 'running', 'failing'],
  canceling: ['canceled'],
  canceled: [],
  skipped: [],
  not_run: [],
}

export function mayFollow(from: JobState, to: JobState): boolean {
  return JOB_TRANSITIONS[from].includes(to)
}

export function mayBuildFollow(from: BuildState, to: BuildState): boolean {
  return BUILD_TRANSITIONS[from].includes(to)
}

/** Throws on a broken invariant: callers refuse invalid requests before they change a job. */
export function assertTransition(from: JobState, to: JobState): void {
  if (!mayFollow(from, to)) throw new Error(`A job may not go from ${from} to ${to}`)
}

export function assertBuildTransition(from: BuildState, to: BuildState): void {
  if (!mayBuildFollow(from, to)) throw new Error(`A build may not go from ${from} to ${to}`)
}

const FINAL_JOB_STATES = new Set<JobState>([
  'unblocked',
  'waiting_failed',
  'blocked_failed',
  'unblocked_failed',
  'broken',
  'passed',
  'failed',
  'timed_out',
  'canceled',
  'expired',
  'skipped',
])

const FINAL_BUILD_STATES = new Set<BuildState>(['passed', 'failed', 'canceled', 'skipped', 'not_run'])

const ACTIVE_JOB_STATES = new Set<JobState>([
  'pending',
  'limiting',
  'limited',
  'scheduled',
  'reserved',
  'assigned',
  'accepted',
  'running',
  'timing_out',
  'canceling',
])

export const SLOT_JOB_STATES: ReadonlySet<JobState> = new Set<JobState>([
  'scheduled',
  'reserved',
  'assigned',
  'accepted',
  'running',
  'timing_out',
  'canceling',
])

export function isFinal(state: JobState): boolean {
  return FINAL_JOB_STATES.has(state)
}

export function isFinalBuild(state: BuildState): boolean {
  return FINAL_BUILD_STATES.has(state)
}

/** The job will change its state without a change in front of it. */
export function isActive(state: JobState): boolean {
  return ACTIVE_JOB_STATES.has(state)
}

/** Not yet judged ready, and not final either. */
export function isUnready(state: JobState): boolean {
  return state === 'pending' || state === 'waiting' || state === 'blocked'
}

/** No agent has been offered the job yet. */
export function isUnoffered(state: JobState): boolean {
  return isUnready(state) || state === 'limiting' || state === 'limited' || state === 'scheduled'
}

export function isStopping(state: JobState): boolean {
  return state === 'canceling' || state === 'timing_out'
}

export function didNotRun(state: JobState): boolean {
  return state === 'waiting_failed' || state === 'blocked_failed' || state === 'unblocked_failed'
}

/** The job occupies a slot of its concurrency group. */
export function holdsSlot(state: JobState): boolean {
  return SLOT_JOB_STATES.has(state)
}

/** The job stands in its concurrency group's queue without a slot. */
export function isQueuedForSlot(state: JobState): boolean {
  return state === 'limiting' || state === 'limited' || state === 'waiting'
}

/** How the REST API spells a job's state. */
export function shownJobState(state: JobState): Exclude<JobState, 'limiting' | 'reserved'> {
  return state === 'limiting' || state === 'reserved' ? 'scheduled' : state
}

/** The REST API's name of a build's state; a blocked build shows the state that its block sets. */
export function shownBuildState(
  state: BuildState,
  blockedState: 'passed' | 'failed' | 'running' | null,
): Exclude<BuildState, 'creating'> {
  if (state === 'creating') return 'scheduled'
  return state === 'blocked' && blockedState !== null ? blockedState : state
}
