// A message as people read it. The messages of programs, such as webhooks, have the texts as they were typed.
import { showLabel } from '@millrace/engine/labels/show.ts'
import type { Message, Shown } from './message.ts'

declare const isReadable: unique symbol

/** What writes a text for people takes this, so it cannot be given a message that nobody made readable. */
export type ReadableMessage = Message & { readonly [isReadable]: true }

export function readable(message: Message): ReadableMessage {
  const { build, pipeline, job, step, failed_jobs: failed } = message
  const shown: Message = {
    ...message,
    ...(build === undefined ? {} : { build: shownIn(build, 'message') }),
    ...(pipeline === undefined ? {} : { pipeline: shownIn(pipeline, 'name') }),
    ...(job === undefined ? {} : { job: shownIn(job, 'name') }),
    ...(step === undefined ? {} : { step: { ...step, name: shownOrNull(step.name ?? step.label) } }),
    ...(failed === undefined
      ? {}
      : { failed_jobs: failed.map((one) => ({ ...one, name: shownOrNull(one.name) })) }),
  }
  return shown as ReadableMessage
}

function shownIn(object: Shown, field: string): Shown {
  const value = object[field]
  return typeof value === 'string' ? { ...object, [field]: showLabel(value) } : object
}

const shownOrNull = (text: string | null) => (text === null ? null : showLabel(text))
