// What became of a build or a step, in words.
import { textIn, type Message } from '../messages/message.ts'
import type { BuildStateName } from '../names.ts'

export interface Saying {
  says: string
  emoji: string
}

/** The most telling first: a fixed build has passed as well. */
const sayings: ReadonlyArray<[BuildStateName, Saying]> = [
  ['build_fixed', { says: 'is fixed', emoji: ':tada:' }],
  ['build_passed', { says: 'passed', emoji: ':white_check_mark:' }],
  ['build_failing', { says: 'is failing', emoji: ':warning:' }],
  ['build_failed', { says: 'failed', emoji: ':x:' }],
  ['build_canceled', { says: 'was canceled', emoji: ':no_entry_sign:' }],
  ['build_blocked', { says: 'waits to be unblocked', emoji: ':double_vertical_bar:' }],
  ['job_activated', { says: 'goes on', emoji: ':arrow_forward:' }],
]

const events: Readonly<Partial<Record<Message['event'], Saying>>> = {
  'build.scheduled': { says: 'was created', emoji: ':new:' },
  'build.running': { says: 'is running', emoji: ':arrow_forward:' },
  'build.skipped': { says: 'was skipped', emoji: ':fast_forward:' },
}

const outcomes: Readonly<Record<string, Saying>> = {
  passed: { says: 'passed', emoji: ':white_check_mark:' },
  soft_failed: { says: 'failed, and may', emoji: ':warning:' },
  hard_failed: { says: 'failed', emoji: ':x:' },
}

export function sayingOf({ event, states, step }: Message): Saying {
  if (event === 'step.failing') return { says: 'is failing', emoji: ':warning:' }
  if (step?.state === 'canceled') return { says: 'was canceled', emoji: ':no_entry_sign:' }
  if (step !== undefined)
    return outcomes[step.outcome ?? ''] ?? { says: 'did not run', emoji: ':fast_forward:' }
  return (
    sayings.find(([state]) => states.includes(state))?.[1] ??
    events[event] ?? { says: 'changed', emoji: ':information_source:' }
  )
}

/** `App #12`, or `Test of App #12`. */
export function nameOf({ build = {}, pipeline = {}, step }: Message): string {
  const name = `${textIn(pipeline, 'name')} #${textIn(build, 'number')}`
  return step === undefined ? name : `${step.label ?? step.key ?? 'A step'} of ${name}`
}
