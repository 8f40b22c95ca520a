import { expandParts } from '../expansion.ts'
import type { ExpansionBudget, Part } from '../expansion.ts'
import { parseChecked } from './check.ts'
import type { ConditionFacts } from './facts.ts'
import { compileRegex, createSearchBudget, searchRegex } from './regex.ts'
import type { SearchBudget } from './regex.ts'
import { ConditionError } from './syntax.ts'
import type { Expression } from './syntax.ts'
import { VARIABLES } from './variables.ts'
import type { Value } from './variables.ts'

type EvaluatedCondition = { ok: true; value: boolean } | { ok: false; message: string }

const MAX_TEXT = 1024 * 1024

/** The facts, and the remaining limit of work. */
interface Context {
  facts: ConditionFacts
  searches: SearchBudget
  texts: ExpansionBudget
}

export function evaluateCondition(source: string, facts: ConditionFacts): EvaluatedCondition {
  try {
    const where = facts.payload ? 'trigger' : facts.step ? 'step-notify' : 'step'
    const expression = parseChecked(source, where)
    const context = { facts, searches: createSearchBudget(), texts: { left: MAX_TEXT } }
    return { ok: true, value: evaluate(expression, context) === true }
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error
    return { ok: false, message: error.message }
  }
}

function evaluate(expression: Expression, context: Context): Value {
  switch (expression.kind) {
    case 'literal':
      return expression.value
    case 'string':
      return expandText(expression.parts, context, expression.offset)
    case 'shell':
      return evaluateShell(expression, context)
    case 'array':
      return expression.items.map((item) => String(evaluate(item, context)))
    case 'variable':
      return VARIABLES.get(expression.name)?.read(context.facts) ?? null
    case 'call':
      return evaluateCall(expression, context)
    case 'not':
      return evaluate(expression.operand, context) !== true
    case 'logic': {
      const left = evaluate(expression.left, context) === true
      if (left === (expression.operator === '||')) return left
      return evaluate(expression.right, context) === true
    }
    case 'compare':
      return compare(expression, context)
    case 'choose':
      return evaluate(
        evaluate(expression.test, context) === true ? expression.whenTrue : expression.whenFalse,
        context,
      )
    case 'regex':
      throw new Error('A regular expression has no value of its own.')
  }
}

function evaluateShell(shell: Expression & { kind: 'shell' }, context: Context): Value {
  const { name, operation } = shell.expansion
  if (operation.kind !== 'word' && context.facts.env(name) === undefined) return null
  return expandText([shell.expansion], context, shell.offset)
}

function evaluateCall(call: Expression & { kind: 'call' }, context: Context): Value {
  const argument = String(evaluate(call.argument, context))
  if (call.name === 'payload') return context.facts.payload?.(argument) ?? null
  const value = context.facts.env(argument)
  return value ?? (call.name === 'env' ? '' : null)
}

function compare(comparison: Expression & { kind: 'compare' }, context: Context): boolean {
  const { operator, left, right } = comparison
  const value = evaluate(left, context)
  if (operator === '==' || operator === '!=') {
    const other = evaluate(right, context)
    const areEqual = isSame(canonical(left, value), canonical(left, other))
    return areEqual === (operator === '==')
  }
  if (operator === 'includes') return includes(value, right, context)
  const matches = typeof value === 'string' && right.kind === 'regex' && search(right, value, context)
  return matches === (operator === '=~')
}

function includes(list: Value, right: Expression, context: Context): boolean {
  if (!isList(list)) return false
  if (right.kind === 'regex') return list.some((item) => search(right, item, context))
  const wanted = evaluate(right, context)
  return list.some((item) => item === wanted)
}

function search(regex: Expression & { kind: 'regex' }, text: string, context: Context): boolean {
  const compiled = compileRegex(regex.source, { ignoreCase: regex.ignoreCase })
  if (!compiled.ok) throw new ConditionError(compiled.message, regex.offset)
  const answer = searchRegex(compiled.regex, text, context.searches)
  if (!answer.ok) throw new ConditionError(answer.message, regex.offset)
  return answer.matches
}

/** A value of an enum under its one true name. */
function canonical(variable: Expression, value: Value): Value {
  const type = variable.kind === 'variable' ? VARIABLES.get(variable.name)?.type : undefined
  return type?.kind === 'enum' && typeof value === 'string' ? (type.synonyms.get(value) ?? value) : value
}

function isSame(left: Value, right: Value): boolean {
  if (!isList(left) || !isList(right)) return left === right
  return left.length === right.length && left.every((item, index) => item === right[index])
}

function isList(value: Value): value is readonly string[] {
  return Array.isArray(value)
}

function expandText(parts: readonly Part[], context: Context, offset: number): string {
  const expanded = expandParts(parts, context.facts.env, context.texts)
  if (!expanded.ok) throw new ConditionError(expanded.message, offset)
  return expanded.value
}
