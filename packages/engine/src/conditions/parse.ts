import { ConditionError } from './syntax.ts'
import type { ComparisonOperator, Expression, Token } from './syntax.ts'
import { tokenize } from './tokens.ts'

const MAX_SOURCE = 20_000
const MAX_NESTING = 100
const MAX_LINKS = 500
const COMPARISONS: readonly string[] = ['==', '!=', '=~', '!~', 'includes'] satisfies ComparisonOperator[]

/** Throws ConditionError. */
export function parseCondition(source: string): Expression {
  if (source.length > MAX_SOURCE) throw new ConditionError('the condition is too long', 0)
  return new ConditionParser(tokenize(source)).parse()
}

class ConditionParser {
  private readonly tokens: readonly Token[]
  private index = 0
  private nesting = 0
  private links = 0

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens
  }

  parse(): Expression {
    const expression = this.expression()
    if (this.peek().kind !== 'end') throw unexpected(this.peek())
    return expression
  }

  private expression(): Expression {
    return this.nested(() => {
      const test = this.logic('||')
      if (!this.take('?')) return test
      const whenTrue = this.expression()
      this.expect(':')
      return { kind: 'choose', test, whenTrue, whenFalse: this.expression(), offset: test.offset }
    })
  }

  private logic(operator: '&&' | '||'): Expression {
    const operand = () => (operator === '||' ? this.logic('&&') : this.comparison())
    let left = operand()
    while (this.take(operator)) {
      this.countLink()
      left = { kind: 'logic', operator, left, right: operand(), offset: left.offset }
    }
    return left
  }

  private comparison(): Expression {
    let left = this.unary()
    for (let operator = this.takeComparison(); operator; operator = this.takeComparison()) {
      this.countLink()
      left = { kind: 'compare', operator, left, right: this.unary(), offset: left.offset }
    }
    return left
  }

  private unary(): Expression {
    const { offset } = this.peek()
    if (!this.take('!')) return this.primary()
    return this.nested(() => ({ kind: 'not', operand: this.unary(), offset }))
  }

  private primary(): Expression {
    const token = this.next()
    const { offset } = token
    switch (token.kind) {
      case 'integer':
        return { kind: 'literal', value: token.value, offset }
      case 'string':
        return { kind: 'string', parts: token.parts, offset }
      case 'regex':
        return { kind: 'regex', source: token.source, ignoreCase: token.ignoreCase, offset }
      case 'shell':
        return { kind: 'shell', expansion: token.expansion, offset }
      case 'name':
        return this.named(token.text, offset)
      case 'symbol':
        if (token.text === '[') return { kind: 'array', items: this.arrayItems(), offset }
        if (token.text === '(') return this.parenthesized()
        throw unexpected(token)
      case 'end':
        throw unexpected(token)
    }
  }

  private named(name: string, offset: number): Expression {
    if (name === 'true' || name === 'false') return { kind: 'literal', value: name === 'true', offset }
    if (name === 'null') return { kind: 'literal', value: null, offset }
    if (!this.take('(')) return { kind: 'variable', name, offset }
    return { kind: 'call', name, argument: this.parenthesized(), offset }
  }

  private parenthesized(): Expression {
    const inner = this.expression()
    this.expect(')')
    return inner
  }

  private arrayItems(): Expression[] {
    const items: Expression[] = []
    if (this.take(']')) return items
    do items.push(this.expression())
    while (this.take(','))
    this.expect(']')
    return items
  }

  /** Chains become trees as deep as they are long, and their readers recurse. */
  private countLink(): void {
    this.links += 1
    if (this.links > MAX_LINKS)
      throw new ConditionError('the condition has too many parts', this.peek().offset)
  }

  private nested(read: () => Expression): Expression {
    this.nesting += 1
    if (this.nesting > MAX_NESTING) {
      throw new ConditionError('the condition is nested too deeply', this.peek().offset)
    }
    const expression = read()
    this.nesting -= 1
    return expression
  }

  private takeComparison(): ComparisonOperator | null {
    const token = this.peek()
    if (token.kind !== 'symbol' && token.kind !== 'name') return null
    const operator = COMPARISONS.find((candidate) => candidate === token.text)
    if (operator === undefined) return null
    this.index += 1
    return operator as ComparisonOperator
  }

  private expect(symbol: string): void {
    if (!this.take(symbol)) throw unexpected(this.peek(), `, expected \`${symbol}\``)
  }

  private take(symbol: string): boolean {
    const token = this.peek()
    if (token.kind !== 'symbol' || token.text !== symbol) return false
    this.index += 1
    return true
  }

  private next(): Token {
    const token = this.peek()
    this.index += 1
    return token
  }

  private peek(): Token {
    const last = this.tokens.length - 1
    return this.tokens[Math.min(this.index, last)] ?? { kind: 'end', offset: 0 }
  }
}

function unexpected(token: Token, wanted = ''): ConditionError {
  return new ConditionError(`unexpected ${describe(token)}${wanted}`, token.offset)
}

function describe(token: Token): string {
  switch (token.kind) {
    case 'symbol':
    case 'name':
      return `\`${token.text}\``
    case 'integer':
      return `the number ${token.value}`
    case 'string':
      return 'string'
    case 'regex':
      return 'regular expression'
    case 'shell':
      return `\`$${token.expansion.name}\``
    case 'end':
      return 'end of the condition'
  }
}
