// The status of a build or step in words.
import { textIn, type Message } from './message.ts'
import type { ReadableMessage } from './readable.ts'
import type { BuildStateName } from '../names.ts'

interface StatusText {
  text: string
  emoji: string
}

/** In order of precedence: a fixed build has passed as well. */
const statusTexts: ReadonlyArray<[BuildStateName, StatusText]> = [
  ['build_fixed', { text: 'is fixed', emoji: ':tada:' }],
  ['build_passed', { text: 'passed', emoji: ':white_check_mark:' }],
  ['build_failing', { text: 'is failing', emoji: ':warning:' }],
  ['build_failed', { text: 'failed', emoji: ':x:' }],
  ['build_canceled', { text: 'was canceled', emoji: ':no_entry_sign:' }],
  ['build_blocked', { text: 'waits to be unblocked', emoji: ':double_vertical_bar:' }],
  ['job_activated', { text: 'goes on', emoji: ':arrow_forward:' }],
]

const events: Readonly<Partial<Record<Message['event'], StatusText>>> = {
  'build.scheduled': { text: 'was created', emoji: ':new:' },
  'build.running': { text: 'is running', emoji: ':arrow_forward:' },
  'build.skipped': { text: 'was skipped', emoji: ':fast_forward:' },
}

const outcomes: Readonly<Record<string, StatusText>> = {
  passed: { text: 'passed', emoji: ':white_check_mark:' },
  soft_failed: { text: 'failed, and may', emoji: ':warning:' },
  hard_failed: { text: 'failed', emoji: ':x:' },
}

export function statusTextOf({ event, states, step }: Message): StatusText {
  if (event === 'step.failing') return { text: 'is failing', emoji: ':warning:' }
  if (step?.state === 'canceled') return { text: 'was canceled', emoji: ':no_entry_sign:' }
  if (step !== undefined)
    return outcomes[step.outcome ?? ''] ?? { text: 'did not run', emoji: ':fast_forward:' }
  return (
    statusTexts.find(([state]) => states.includes(state))?.[1] ??
    events[event] ?? { text: 'changed', emoji: ':information_source:' }
  )
}

/** `App #12`, or `Test of App #12`. */
export function nameOf({ build = {}, pipeline = {}, step }: ReadableMessage): string {
  const name = `${textIn(pipeline, 'name')} #${textIn(build, 'number')}`
  return step === undefined ? name : `${step.name ?? step.key ?? 'A step'} of ${name}`
}
