// Checks the answers to the form of a block or input step.

import { compileRegex, createSearchBudget, matchWhole } from './conditions/regex.ts'
import type { Field } from './steps/types.ts'

export type Answers = Readonly<Record<string, string | readonly string[]>>

interface FieldProblem {
  key: string
  message: string
}

type CheckedAnswers = { ok: true; values: Record<string, string> } | { ok: false; problems: FieldProblem[] }

/** The meta-data to write: one value per field, several chosen options joined by line feeds. */
export function checkAnswers(fields: readonly Field[], answers: Answers): CheckedAnswers {
  const known = new Set(fields.map((field) => field.key))
  const problems: FieldProblem[] = Object.keys(answers)
    .filter((key) => !known.has(key))
    .map((key) => ({ key, message: 'is not a field of this step' }))
  const values: [string, string][] = []
  for (const field of fields) {
    const answer = Object.hasOwn(answers, field.key) ? answers[field.key] : undefined
    const checked = field.kind === 'text' ? checkText(field, answer) : checkSelect(field, answer)
    if (checked.ok) values.push([field.key, checked.value])
    else problems.push({ key: field.key, message: checked.message })
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, values: Object.fromEntries(values) }
}

type Checked = { ok: true; value: string } | { ok: false; message: string }
type Answer = string | readonly string[] | undefined

function checkText(field: Extract<Field, { kind: 'text' }>, answer: Answer): Checked {
  if (answer !== undefined && typeof answer !== 'string') return bad('takes a single text')
  const given = (answer ?? '').replace(/\r\n?/g, '\n')
  const value = given === '' ? (field.default ?? '') : given
  if (value === '') return field.required ? bad('is required') : { ok: true, value }
  if (field.format !== null && !hasFormat(value, field.format))
    return bad('does not have the expected format')
  return { ok: true, value }
}

function checkSelect(field: Extract<Field, { kind: 'select' }>, answer: Answer): Checked {
  const given = answer === undefined || answer === '' ? [] : typeof answer === 'string' ? [answer] : answer
  const chosen = given.length === 0 ? field.default : given
  if (chosen.length === 0) return field.required ? bad('is required') : { ok: true, value: '' }
  if (chosen.length > 1 && !field.multiple) return bad('takes a single option')
  const stranger = chosen.find((value) => !field.options.some((option) => option.value === value))
  if (stranger !== undefined) return bad(`"${stranger}" is not one of the options`)
  return { ok: true, value: [...new Set(chosen)].join('\n') }
}

// The whole value must match, as with the pattern of an HTML input.
function hasFormat(value: string, format: string): boolean {
  const compiled = compileRegex(format, { ignoreCase: false })
  if (!compiled.ok) return false
  const answer = matchWhole(compiled.regex, value, createSearchBudget())
  return answer.ok && answer.matches
}

function bad(message: string): Checked {
  return { ok: false, message }
}
