// Static types of a condition. Everything that can be known without a build is refused here, so that a step
// with a typing mistake never gets as far as a build.

import { nearestName } from '../nearest-name.ts'
import type { Part } from '../expansion.ts'
import { refuseEnvName } from './env-names.ts'
import { isJsonPointer } from './json-pointer.ts'
import { parseCondition } from './parse.ts'
import { compileRegex } from './regex.ts'
import { ConditionError } from './syntax.ts'
import type { Expression } from './syntax.ts'
import { BOOLEAN, INTEGER, isStepVariable, NULL, REGEX, STRING, STRINGS, VARIABLES } from './variables.ts'
import type { Type } from './variables.ts'

type ConditionContext = 'step' | 'build-notify' | 'step-notify' | 'filter' | 'trigger'
type CheckedCondition = { ok: true } | { ok: false; message: string; offset: number }

export function checkCondition(source: string, where: ConditionContext): CheckedCondition {
  try {
    parseChecked(source, where)
    return { ok: true }
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error
    return { ok: false, message: error.message, offset: error.offset }
  }
}

/** Throws ConditionError. */
export function parseChecked(source: string, where: ConditionContext): Expression {
  const expression = parseCondition(source)
  const type = typeOf(expression, where)
  if (type.kind !== 'boolean' && type.kind !== 'null') {
    throw new ConditionError(`a condition must be true or false, this is ${nameOf(type)}`, expression.offset)
  }
  return expression
}

function typeOf(expression: Expression, where: ConditionContext): Type {
  switch (expression.kind) {
    case 'literal':
      if (expression.value === null) return NULL
      return typeof expression.value === 'number' ? INTEGER : BOOLEAN
    case 'string':
      checkParts(expression.parts, expression.offset)
      return STRING
    case 'shell':
      checkParts([expression.expansion], expression.offset)
      return STRING
    case 'regex':
      throw new ConditionError(
        'a regular expression may only stand to the right of `=~`, `!~` or `includes`',
        expression.offset,
      )
    case 'array':
      return typeOfArray(expression.items, where)
    case 'variable':
      return typeOfVariable(expression.name, expression.offset, where)
    case 'call':
      return typeOfCall(expression, where)
    case 'not':
      requireBoolean(expression.operand, where, '`!`')
      return BOOLEAN
    case 'logic':
      requireBoolean(expression.left, where, `\`${expression.operator}\``)
      requireBoolean(expression.right, where, `\`${expression.operator}\``)
      return BOOLEAN
    case 'compare':
      return typeOfComparison(expression, where)
    case 'choose':
      return typeOfChoice(expression, where)
  }
}

function typeOfArray(items: readonly Expression[], where: ConditionContext): Type {
  for (const item of items) {
    const type = typeOf(item, where)
    if (type.kind !== 'string') {
      throw new ConditionError(`an array holds strings only, this is ${nameOf(type)}`, item.offset)
    }
  }
  return STRINGS
}

function typeOfVariable(name: string, offset: number, where: ConditionContext): Type {
  const variable = VARIABLES.get(name)
  if (!variable) {
    const near = nearestName(name, [...VARIABLES.keys()])
    throw new ConditionError(
      `unknown variable \`${name}\`${near ? `, did you mean \`${near}\`?` : ''}`,
      offset,
    )
  }
  if (isStepVariable(name) && where !== 'step-notify') {
    throw new ConditionError(`\`${name}\` is only known to the notifications of a step`, offset)
  }
  return variable.type
}

function typeOfCall(call: Expression & { kind: 'call' }, where: ConditionContext): Type {
  if (call.name === 'payload') return typeOfPayload(call, where)
  if (call.name !== 'env' && call.name !== 'build.env') {
    throw new ConditionError(
      `unknown function \`${call.name}\`, there are \`build.env\` and \`env\``,
      call.offset,
    )
  }
  const name = literalText(call.argument)
  if (name === null) {
    throw new ConditionError(
      `\`${call.name}\` takes the plain name of a variable in quotes`,
      call.argument.offset,
    )
  }
  const refusal = refuseEnvName(name)
  if (refusal) throw new ConditionError(refusal, call.argument.offset)
  return STRING
}

function typeOfPayload({ argument, offset }: Expression & { kind: 'call' }, where: ConditionContext): Type {
  if (where !== 'trigger') {
    throw new ConditionError('`payload` is only known to the condition of a trigger', offset)
  }
  const pointer = literalText(argument)
  if (pointer === null || !isJsonPointer(pointer)) {
    throw new ConditionError(
      '`payload` takes a JSON pointer in quotes that begins with a slash, such as "/ref"',
      argument.offset,
    )
  }
  return STRING
}

function typeOfComparison(comparison: Expression & { kind: 'compare' }, where: ConditionContext): Type {
  const { operator, left, right } = comparison
  const leftType = typeOf(left, where)
  if (operator === '==' || operator === '!=') {
    checkEquality(leftType, right, where)
    return BOOLEAN
  }
  const rightType = right.kind === 'regex' ? typeOfRegex(right) : typeOf(right, where)
  if (operator === 'includes') {
    requireOneOf(left, leftType, ['strings', 'null'], 'the left of `includes` must be an array of strings')
    requireOneOf(
      right,
      rightType,
      ['string', 'regex', 'null'],
      'the right of `includes` must be a string or regex',
    )
    return BOOLEAN
  }
  requireOneOf(left, leftType, ['string', 'null'], `the left of \`${operator}\` must be a string`)
  requireOneOf(right, rightType, ['regex'], `the right of \`${operator}\` must be a regular expression`)
  return BOOLEAN
}

function checkEquality(left: Type, right: Expression, where: ConditionContext): void {
  const type = typeOf(right, where)
  if (type.kind === 'enum') {
    throw new ConditionError('a variable with a fixed list of values must stand on the left', right.offset)
  }
  if (left.kind === 'null' || type.kind === 'null') return
  if (left.kind === 'enum') {
    checkEnumValue(left.values, right)
    return
  }
  if (left.kind !== type.kind) {
    throw new ConditionError(`cannot compare ${nameOf(left)} with ${nameOf(type)}`, right.offset)
  }
}

function checkEnumValue(values: readonly string[], right: Expression): void {
  if (right.kind !== 'string') {
    throw new ConditionError(`expected one of ${values.join(', ')} in quotes`, right.offset)
  }
  const text = literalText(right)
  if (text === null || values.includes(text)) return
  const near = nearestName(text, values)
  const hint = near ? `, did you mean "${near}"?` : ''
  throw new ConditionError(
    `"${text}" is never the value; expected one of ${values.join(', ')}${hint}`,
    right.offset,
  )
}

function typeOfRegex(regex: Expression & { kind: 'regex' }): Type {
  const compiled = compileRegex(regex.source, { ignoreCase: regex.ignoreCase })
  if (!compiled.ok) throw new ConditionError(compiled.message, regex.offset)
  return REGEX
}

function typeOfChoice(choice: Expression & { kind: 'choose' }, where: ConditionContext): Type {
  requireBoolean(choice.test, where, 'what stands before `?`')
  const then = typeOf(choice.whenTrue, where)
  const otherwise = typeOf(choice.whenFalse, where)
  if (then.kind === 'null') return otherwise
  if (otherwise.kind !== 'null' && otherwise.kind !== then.kind) {
    throw new ConditionError(
      `both outcomes of \`?\` must be alike, one is ${nameOf(then)}, the other ${nameOf(otherwise)}`,
      choice.whenFalse.offset,
    )
  }
  return then
}

function requireBoolean(expression: Expression, where: ConditionContext, what: string): void {
  const type = typeOf(expression, where)
  requireOneOf(expression, type, ['boolean', 'null'], `${what} needs something true or false`)
}

function requireOneOf(at: Expression, type: Type, kinds: readonly Type['kind'][], message: string): void {
  if (!kinds.includes(type.kind)) throw new ConditionError(`${message}, this is ${nameOf(type)}`, at.offset)
}

function checkParts(parts: readonly Part[], offset: number): void {
  for (const part of parts) {
    if (typeof part === 'string') continue
    const refusal = refuseEnvName(part.name)
    if (refusal) throw new ConditionError(refusal, offset)
    if (part.operation.kind === 'word') checkParts(part.operation.word, offset)
  }
}

function literalText(expression: Expression): string | null {
  if (expression.kind !== 'string') return null
  return expression.parts.every((part) => typeof part === 'string') ? expression.parts.join('') : null
}

function nameOf(type: Type): string {
  switch (type.kind) {
    case 'string':
      return 'a string'
    case 'integer':
      return 'a number'
    case 'boolean':
      return 'true or false'
    case 'strings':
      return 'an array of strings'
    case 'regex':
      return 'a regular expression'
    case 'null':
      return 'null'
    case 'enum':
      return 'a variable with a fixed list of values'
  }
}
