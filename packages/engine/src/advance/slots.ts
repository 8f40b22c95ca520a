import { loadJob } from './ask.ts'
import type { Draft } from './draft.ts'
import type { EventOf } from './events.ts'
import type { Asking } from './needs.ts'
import { scheduleJob } from './ready.ts'
import type { Refusal } from './refusal.ts'

/** Jobs that have moved on since the decision are passed over: the group will be decided again. */
export function* slotsDecided(draft: Draft, event: EventOf<'slots_decided'>): Asking<Refusal | null> {
  for (const id of event.start) {
    const job = yield* loadJob(draft, id)
    if (job?.state === 'limiting' || job?.state === 'limited') scheduleJob(draft, job)
  }
  for (const id of event.wait) {
    const job = yield* loadJob(draft, id)
    if (job?.state === 'limiting') draft.moveJob(id, { state: 'limited' })
  }
  for (const id of event.release) {
    const job = yield* loadJob(draft, id)
    if (job?.state === 'scheduled' && job.concurrencyGroup !== null)
      draft.moveJob(id, { state: 'limited', runnableAt: null })
  }
  return null
}
