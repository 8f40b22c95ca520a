// The answers to the fields of a block or an input.
import type { Schemas } from '../../../api/operations.ts'

export type ManualField = NonNullable<Schemas['Job']['fields']>[number]
type Answers = Readonly<Record<string, string | string[]>>

export const firstAnswers = (fields: readonly ManualField[]): Answers =>
  Object.fromEntries(
    fields.map((field) => [
      field.key,
      field.kind === 'text'
        ? (field.default ?? '')
        : field.multiple
          ? field.default
          : (field.default[0] ?? ''),
    ]),
  )

/** What is missing, by the keys of the fields. The server checks the rest. */
export function findMissing(fields: readonly ManualField[], answers: Answers): Record<string, string> {
  const missing = fields.filter(({ key, required }) => required && (answers[key] ?? '').length === 0)
  return Object.fromEntries(missing.map(({ key, label }) => [key, `${label} is required.`]))
}
