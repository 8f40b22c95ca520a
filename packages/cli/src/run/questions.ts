// Asks the person at the terminal for the fields of a block or input step.
import { showLabel } from '@millrace/engine/labels/show.ts'
import type { Answers } from '@millrace/engine/manual-fields.ts'
import type { Field } from '@millrace/engine/steps/types.ts'
import type { ManualWork } from '@millrace/engine/work.ts'
import type { Terminal } from './terminal.ts'

/** `given` are values that are known. null: the step stays blocked. */
export async function askPerson(
  terminal: Terminal,
  work: ManualWork,
  given: Answers,
): Promise<Answers | null> {
  if (work.prompt !== null) terminal.write(`${work.prompt}\n`)
  const consent = await terminal.ask(`${work.submit ?? 'Continue'}? [y/N] `)
  if (consent === null || !/^y(es)?$/i.test(consent.trim())) return null
  const answers: Record<string, string | readonly string[]> = { ...given }
  for (const field of work.fields) {
    if (Object.hasOwn(given, field.key)) continue
    const answer = await askField(terminal, field)
    if (answer === null) return null
    answers[field.key] = answer
  }
  return answers
}

/** The given values for these fields. */
export function answersAmong(
  fields: readonly Field[],
  given: ReadonlyMap<string, readonly string[]>,
): Answers {
  const answers = fields.flatMap(({ key }): [string, string | readonly string[]][] => {
    const values = given.get(key)
    const [first, second] = values ?? []
    if (values === undefined || first === undefined) return []
    return [[key, second === undefined ? first : values]]
  })
  return Object.fromEntries(answers)
}

async function askField(terminal: Terminal, field: Field): Promise<string | readonly string[] | null> {
  if (field.hint !== null) terminal.write(`${field.hint}\n`)
  const preset = field.kind === 'text' ? field.default : field.default.join(', ')
  const question = `${showLabel(field.label)}${preset ? ` [${preset}]` : ''}: `
  if (field.kind === 'text') return terminal.ask(question)
  for (const [index, { label, value }] of field.options.entries()) {
    terminal.write(`  ${index + 1}. ${showLabel(label)}${label === value ? '' : ` (${value})`}\n`)
  }
  const answer = await terminal.ask(question)
  if (answer === null) return null
  const words = (field.multiple ? answer.split(',') : [answer]).map((word) => word.trim())
  return words.filter((word) => word !== '').map((word) => optionFor(field, word))
}

/** An option may be named by its value or by its number. */
function optionFor({ options }: Extract<Field, { kind: 'select' }>, word: string): string {
  if (options.some((option) => option.value === word)) return word
  return options[Number(word) - 1]?.value ?? word
}
