// Comments on pull requests, as answers of hosts have them.
import type { Static, TSchema } from 'typebox'
import { checker } from '../lib/check.ts'

export interface HostComment {
  id: string
  text: string
}

/** Null: the answer is not what the host documents. */
export function answerReader<S extends TSchema, T>(
  schema: S,
  read: (answer: Static<S>) => T,
): (answer: unknown) => T | null {
  const check = checker(schema)
  return (answer) => {
    const checked = check(answer)
    return checked.ok ? read(checked.value) : null
  }
}
