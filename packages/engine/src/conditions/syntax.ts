import type { Expansion, Part } from '../expansion.ts'

export type ComparisonOperator = '==' | '!=' | '=~' | '!~' | 'includes'

interface At {
  /** Where in the source this begins, from 0. */
  offset: number
}

export type Expression = At &
  (
    | { kind: 'literal'; value: boolean | number | null }
    | { kind: 'string'; parts: readonly Part[] }
    | { kind: 'regex'; source: string; ignoreCase: boolean }
    | { kind: 'array'; items: readonly Expression[] }
    | { kind: 'shell'; expansion: Expansion }
    | { kind: 'variable'; name: string }
    | { kind: 'call'; name: string; argument: Expression }
    | { kind: 'not'; operand: Expression }
    | { kind: 'compare'; operator: ComparisonOperator; left: Expression; right: Expression }
    | { kind: 'logic'; operator: '&&' | '||'; left: Expression; right: Expression }
    | { kind: 'choose'; test: Expression; whenTrue: Expression; whenFalse: Expression }
  )

export type Token = At &
  (
    | { kind: 'symbol'; text: string }
    | { kind: 'name'; text: string }
    | { kind: 'integer'; value: number }
    | { kind: 'string'; parts: readonly Part[] }
    | { kind: 'regex'; source: string; ignoreCase: boolean }
    | { kind: 'shell'; expansion: Expansion }
    | { kind: 'end' }
  )

/** Unwinds the tokenizer, the parser and the checker; never leaves this folder. */
export class ConditionError extends Error {
  readonly offset: number
  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}
