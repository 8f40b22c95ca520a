// How every state looks: colour, icon and word. A page shows all three, because colour alone says nothing to some readers.

import type { IconName } from '../icon-names.ts'

export type Tone = 'passed' | 'failed' | 'running' | 'warn' | 'blocked' | 'idle'

export type StateKind =
  | 'build'
  | 'job'
  | 'step'
  | 'agent'
  | 'queue'
  | 'artifact'
  | 'delivery'
  | 'service'
  | 'connection'
  | 'status'
  | 'image'
  | 'upload'
  | 'test'
  | 'budget'

export interface StateLook {
  tone: Tone
  icon: IconName
  label: string
  /** Said beside the label where there is room: the reason, or a blocked build's state so far. */
  aside?: string
  /** The icon turns. */
  turns?: true
  /** A job of the build has failed, although the state is another one. */
  hasFailed?: true
}

export interface StateDetail {
  /** A job whose failure does not fail its build. */
  softFailed?: boolean
  /** A block that somebody can unblock now. */
  unblockable?: boolean
  /** A build that waits for somebody to unblock it. */
  blocked?: boolean
  /** A build of which a job had failed at some time. */
  failing?: boolean
  /** How a finished step ended. */
  outcome?: string | null
  /** An agent that runs a job. */
  busy?: boolean
  /** An agent or queue that takes no new jobs. */
  paused?: boolean
  /** How many attempts of a delivery failed. */
  failures?: number
  /** Why a job was left out. */
  reason?: string | null
}

const look = (tone: Tone, icon: IconName, label: string): StateLook => ({ tone, icon, label })

const passed = look('passed', 'circle-check', 'Passed')
const failed = look('failed', 'circle-x', 'Failed')
const running: StateLook = { tone: 'running', icon: 'loader-circle', label: 'Running', turns: true }
const failing: StateLook = { tone: 'failed', icon: 'circle-alert', label: 'Failing', turns: true }
const softFailed = look('warn', 'triangle-alert', 'Soft failed')
const canceling = look('warn', 'circle-stop', 'Canceling')
const canceled = look('idle', 'ban', 'Canceled')
const skipped = look('idle', 'skip-forward', 'Skipped')
const blocked = look('blocked', 'hand', 'Blocked')
const queued = look('idle', 'clock', 'Queued')
const pending = look('idle', 'clock', 'Pending')
const waiting = look('idle', 'circle-dashed', 'Waiting')
const starting = look('running', 'circle-dot', 'Starting')
const notRun = look('idle', 'circle-minus', 'Not run')
const leftOut = look('idle', 'circle-slash', 'Left out')
const paused = look('warn', 'pause', 'Paused')
const afterFailure: StateLook = { ...notRun, aside: 'an earlier step failed' }

const LOOKS: Record<StateKind, Readonly<Record<string, StateLook>>> = {
  budget: {
    within: look('idle', 'circle-check', 'Within'),
    near: look('warn', 'triangle-alert', '80 % or more'),
    spent: look('failed', 'circle-alert', 'Spent'),
  },
  test: { enabled: look('idle', 'circle-dot', 'Enabled'), muted: look('warn', 'pause', 'Muted'), skipped },
  build: {
    creating: queued,
    scheduled: queued,
    running,
    failing,
    blocked,
    passed,
    failed,
    canceling,
    canceled,
    skipped,
    not_run: notRun,
  },
  job: {
    pending: waiting,
    waiting,
    blocked: waiting,
    unblocked: look('passed', 'lock-open', 'Unblocked'),
    waiting_failed: afterFailure,
    blocked_failed: afterFailure,
    unblocked_failed: afterFailure,
    broken: leftOut,
    limiting: look('idle', 'layers', 'Waiting its turn'),
    limited: look('idle', 'layers', 'Waiting its turn'),
    scheduled: queued,
    reserved: queued,
    assigned: starting,
    accepted: starting,
    running,
    passed,
    failed,
    timing_out: look('failed', 'timer-off', 'Timing out'),
    timed_out: look('failed', 'timer-off', 'Timed out'),
    canceling,
    canceled,
    expired: look('failed', 'hourglass', 'Expired'),
    skipped,
  },
  step: {
    ignored: leftOut,
    waiting_for_dependencies: waiting,
    ready: queued,
    waiting_for_input: blocked,
    running,
    failing,
    canceled,
    neutral: notRun,
    passed,
    soft_failed: softFailed,
    hard_failed: failed,
    errored: look('failed', 'circle-alert', 'Errored'),
  },
  agent: {
    never_connected: look('idle', 'circle-dashed', 'Never connected'),
    connected: look('idle', 'plug', 'Idle'),
    busy: { ...running, label: 'Busy' },
    paused,
    disconnected: look('idle', 'power-off', 'Disconnected'),
    stopping: look('warn', 'circle-stop', 'Stopping'),
    stopped: look('idle', 'power-off', 'Stopped'),
    lost: look('failed', 'wifi-off', 'Lost'),
  },
  queue: { active: look('idle', 'circle-check', 'Active'), paused: { ...paused, label: 'Dispatch paused' } },
  artifact: {
    new: look('running', 'circle-dot', 'Uploading'),
    finished: look('passed', 'circle-check', 'Uploaded'),
    error: look('failed', 'circle-x', 'Upload failed'),
    deleted: look('idle', 'trash', 'Deleted'),
    expired: look('idle', 'trash', 'Expired'),
  },
  delivery: {
    pending,
    retrying: look('warn', 'triangle-alert', 'Retrying'),
    delivered: look('passed', 'circle-check', 'Delivered'),
    dead: look('failed', 'mail-x', 'Given up'),
    discarded: look('idle', 'trash', 'Discarded'),
  },
  service: {
    enabled: look('idle', 'circle-check', 'Enabled'),
    disabled: look('idle', 'power-off', 'Disabled'),
    broken: look('failed', 'unplug', 'Stopped'),
  },
  connection: {
    fine: look('idle', 'circle-check', 'Works'),
    failing: look('failed', 'circle-alert', 'Fails'),
  },
  status: {
    pending,
    running,
    success: look('passed', 'circle-check', 'Success'),
    failure: look('failed', 'circle-x', 'Failure'),
    error: look('failed', 'circle-alert', 'Error'),
    canceled,
    skipped,
    neutral: look('idle', 'circle-minus', 'Neutral'),
  },
  image: {
    BUILDING: { ...running, label: 'Building' },
    READY: look('passed', 'circle-check', 'Ready'),
    FAILED: failed,
  },
  upload: {
    pending,
    processing: { ...running, label: 'Processing' },
    applied: look('passed', 'circle-check', 'Applied'),
    rejected: look('failed', 'circle-alert', 'Rejected'),
    failed,
  },
}

/** A state that this version does not know shows its own name. */
export function stateLook(kind: StateKind, state: string, detail: StateDetail = {}): StateLook {
  const known = LOOKS[kind][effectiveState(kind, state, detail)]
  const found = known ?? look('idle', 'circle-dashed', state.replaceAll('_', ' '))
  if (kind === 'build') return buildLook(found, detail)
  if (kind !== 'job') return found
  if (detail.softFailed === true && isFailed(found)) return softFailed
  if (state === 'blocked' && detail.unblockable === true) return blocked
  if (state === 'broken' && detail.reason) return { ...found, aside: detail.reason }
  return found
}

/** A failure stays visible in a build that is blocked or canceled. */
function buildLook(
  found: StateLook,
  { blocked: isBlocked = false, failing: wasFailing = false }: StateDetail,
): StateLook {
  if (isBlocked) {
    const soFar = found === blocked ? passed : found
    const aside = `so far ${soFar.label.toLowerCase()}`
    return { ...blocked, aside, ...(isFailed(found) ? { hasFailed: true as const } : {}) }
  }
  const isCanceled = found === canceling || found === canceled
  if (isCanceled && wasFailing) return { ...found, aside: 'after a failure', hasFailed: true }
  return found
}

function effectiveState(kind: StateKind, state: string, detail: StateDetail): string {
  if (kind === 'step' && state === 'finished') return detail.outcome ?? 'passed'
  if (kind === 'queue') return detail.paused === true ? 'paused' : state
  if (kind === 'delivery' && state === 'pending' && (detail.failures ?? 0) > 0) return 'retrying'
  if (kind === 'agent' && state === 'connected') {
    if (detail.paused === true) return 'paused'
    return detail.busy === true ? 'busy' : state
  }
  return state
}

const isFailed = (found: StateLook): boolean => found.tone === 'failed' && found.turns !== true

export const titleOf = ({ label, aside }: StateLook): string =>
  aside === undefined ? label : `${label}, ${aside}`
