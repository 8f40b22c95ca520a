// What a form needs to know of a setting. It is read from the schema that checks values, so that a form offers what is accepted.
import type { Field } from '../provider.ts'

export const fieldKinds = ['text', 'lines', 'number', 'switch', 'choice', 'choices', 'map'] as const

interface FieldForm {
  kind: (typeof fieldKinds)[number]
  /** The values that can be chosen. */
  choices: string[]
  minimum: number | null
  maximum: number | null
  hint: string
  example: string | null
}

/** The part of JSON schema that settings use. */
interface PlainSchema {
  type?: string
  const?: unknown
  anyOf?: readonly PlainSchema[]
  items?: PlainSchema
  minimum?: number
  maximum?: number
  description?: string
  examples?: readonly unknown[]
}

export function describeField({ schema, hasLines }: Pick<Field, 'schema' | 'hasLines'>): FieldForm {
  const outer = schema as PlainSchema
  const [only, ...others] = outer.anyOf ?? []
  // With one alternative, the union only adds a description.
  const inner = only !== undefined && others.length === 0 ? only : outer
  const example = (outer.examples ?? inner.examples)?.[0]
  return {
    ...kindOf(inner, hasLines === true),
    minimum: inner.minimum ?? null,
    maximum: inner.maximum ?? null,
    hint: outer.description ?? inner.description ?? '',
    example: typeof example === 'string' ? example : null,
  }
}

const kindOfType: Readonly<Record<string, FieldForm['kind']>> = {
  string: 'text',
  integer: 'number',
  boolean: 'switch',
  object: 'map',
}

function kindOf(schema: PlainSchema, hasLines: boolean): Pick<FieldForm, 'kind' | 'choices'> {
  const { anyOf, type = 'none', items = {} } = schema
  if (anyOf !== undefined) return { kind: 'choice', choices: constantsOf(schema) }
  if (type === 'array') return { kind: 'choices', choices: constantsOf(items) }
  if (type === 'string' && hasLines) return { kind: 'lines', choices: [] }
  const kind = kindOfType[type]
  if (kind === undefined) throw new Error(`There is no form for a setting of the type ${type}.`)
  return { kind, choices: [] }
}

const constantsOf = ({ anyOf = [] }: PlainSchema): string[] =>
  anyOf.map(({ const: value }) => {
    if (typeof value === 'string') return value
    throw new Error('A setting can be chosen from texts only.')
  })
