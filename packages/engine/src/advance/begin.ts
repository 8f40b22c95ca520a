import type { Draft } from './draft.ts'
import type { EventOf } from './events.ts'
import { attach } from './attach.ts'
import { refuse } from './refusal.ts'
import type { Refusal } from './refusal.ts'

/** Gives a new build its steps. */
export function begin(draft: Draft, event: EventOf<'begin'>): Refusal | null {
  if (draft.build.state !== 'creating' || draft.build.cancelRequested) {
    return refuse('wrong_state', 'The build has its steps already')
  }
  attach(draft, event.plan)
  return null
}
