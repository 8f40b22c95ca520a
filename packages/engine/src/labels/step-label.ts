// The label of a step that has several jobs. Each job fills the tokens of the label with its own values; the step shows the
// values of all of them: `Unit %N of %t` is "Unit 1–4 of 4", and `Test {{matrix.os}}` is "Test linux, macos".
import { ANY_TOKEN } from './tokens.ts'

/** `jobLabels` are those of the step's jobs. Without any, … stands for the values. */
export function fillStepLabel(label: string, jobLabels: readonly string[]): string {
  const [first, ...others] = jobLabels
  if (first !== undefined && others.every((each) => each === first)) return first
  const literals = label.split(ANY_TOKEN)
  const found = literals.slice(1).map(() => new Set<string>())
  for (const each of jobLabels) {
    for (const [token, value] of (readValues(literals, each) ?? []).entries()) found[token]?.add(value)
  }
  let token = 0
  return label.replace(ANY_TOKEN, () => summarize([...(found[token++] ?? [])]))
}

/**
 * What the job has between the literal parts of the label; null: it has another label. The label may be of a fork, so this
 * searches each part once, and never goes back.
 */
function readValues(literals: readonly string[], jobLabel: string): string[] | null {
  const [head = '', ...rest] = literals
  if (!jobLabel.startsWith(head)) return null
  const values: string[] = []
  let at = head.length
  for (const [index, literal] of rest.entries()) {
    const isLast = index === rest.length - 1
    const end = isLast ? jobLabel.length - literal.length : jobLabel.indexOf(literal, at)
    if (end < at || !jobLabel.startsWith(literal, end)) return null
    values.push(jobLabel.slice(at, end))
    at = end + literal.length
  }
  return values
}

const mostNamed = 3

function summarize(values: readonly string[]): string {
  const [first, second] = values
  if (first === undefined) return '…'
  if (second === undefined) return first
  const isRange = values.every((value, index) => value === String(Number(first) + index))
  if (isRange) return `${first}–${values.at(-1) ?? ''}`
  return values.length <= mostNamed ? values.join(', ') : `${first}, ${second}, …`
}
