// One event of one build, from the rows it touches to the rows it changes.
//
// The engine never sees a whole build: the end of one job costs the same in a build of ten jobs and of four
// thousand. A build and its steps carry counters, and an event changes those by small differences. The
// engine asks for rows that it cannot know in advance: `advance` is a generator that yields a Need and goes on with the
// Answer it is given, and returns the outcome of the event. Its caller holds the build's lock, fetches what
// each Need describes, and saves the changes in the same transaction:
//
//   const steps = advance(build, event, { mint })
//   let step = steps.next()
//   while (!step.done) step = steps.next(await fetch(step.value))
//   step.value is the outcome
//
// A job's end that does not end its step needs that job and its step. One that does also needs the step's
// dependents, and the jobs of those that may start now. Only failures, blocks, cancels, uploads and reopening
// look further. Rows passed in `rows` are not asked for.
//
// The result is one list of row changes and one of effects. Within one advance a job may pass through several
// states; the result has only the first and the last.

import { cancelBuild, cancelJob, cancelStep, skipBuild } from './advance/cancel.ts'
import { expire, finish, giveUpOnAgent, loseAgent, moveWithAgent, timeOut } from './advance/agent.ts'
import { pause } from './advance/ask.ts'
import { begin } from './advance/begin.ts'
import { changesOf } from './advance/changes.ts'
import type { Changes } from './advance/changes.ts'
import { conclude } from './advance/conclude.ts'
import { Draft } from './advance/draft.ts'
import type { Effect } from './advance/effects.ts'
import type { BuildEvent } from './advance/events.ts'
import type { Answer, Asking } from './advance/needs.ts'
import { promise } from './advance/promise.ts'
import type { Refusal } from './advance/refusal.ts'
import { retry } from './advance/retry.ts'
import { slotsDecided } from './advance/slots.ts'
import { collectEffects } from './advance/collect-effects.ts'
import { childChanged, childCreated, childRefused } from './advance/trigger.ts'
import { unblock } from './advance/unblock.ts'
import { upload } from './advance/upload.ts'
import type { BuildRow } from './rows.ts'

interface AdvanceOptions {
  /** The source of ids for new rows. */
  mint: () => string
  /** Rows the caller knows will be needed. */
  rows?: Answer
}

export type Outcome = { ok: true; changes: Changes; effects: Effect[] } | Refusal

export function* advance(build: BuildRow, event: BuildEvent, options: AdvanceOptions): Asking<Outcome> {
  const draft = new Draft(build, event.at, options.mint)
  if (options.rows !== undefined) draft.take(options.rows)
  const refusal = yield* handle(draft, event)
  if (refusal !== null) return refusal
  yield* pause(draft, draft.newJobs.length)
  yield* conclude(draft)
  yield* pause(draft, draft.newJobs.length)
  return { ok: true, changes: changesOf(draft), effects: [...draft.effects, ...collectEffects(draft)] }
}

function* handle(draft: Draft, event: BuildEvent): Asking<Refusal | null> {
  switch (event.type) {
    case 'begin':
      return begin(draft, event)
    case 'upload':
      return yield* upload(draft, event)
    case 'reserve':
    case 'assign':
    case 'accept':
    case 'start':
    case 'give_back':
      return yield* moveWithAgent(draft, event)
    case 'finish':
      return yield* finish(draft, event)
    case 'lose_agent':
      return yield* loseAgent(draft, event)
    case 'promise':
      return yield* promise(draft, event)
    case 'time_out':
      return yield* timeOut(draft, event)
    case 'give_up_on_agent':
      return yield* giveUpOnAgent(draft, event)
    case 'expire':
      return yield* expire(draft, event)
    case 'cancel_job':
      return yield* cancelJob(draft, event)
    case 'cancel_step':
      return yield* cancelStep(draft, event)
    case 'cancel_build':
      return yield* cancelBuild(draft, event)
    case 'skip_build':
      return yield* skipBuild(draft)
    case 'unblock':
      return yield* unblock(draft, event)
    case 'retry':
      return yield* retry(draft, event)
    case 'child_created':
      return yield* childCreated(draft, event)
    case 'child_refused':
      return yield* childRefused(draft, event)
    case 'child_changed':
      return yield* childChanged(draft, event)
    case 'slots_decided':
      return yield* slotsDecided(draft, event)
  }
}
