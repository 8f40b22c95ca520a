// Checks a value against its schema and describes the first error in one sentence.
import { Compile } from 'typebox/compile'
import type { Static, TSchema } from 'typebox'

type Checked<T> = { ok: true; value: T } | { ok: false; reason: string; field: string }

export type Check<S extends TSchema> = (value: unknown) => Checked<Static<S>>

interface Violation {
  keyword: string
  schemaPath: string
  instancePath: string
  params: object
}

/** Compiled on first use, because compiling all schemas takes a tenth of the start. */
export function checker<S extends TSchema>(schema: S): Check<S> {
  let made: ReturnType<typeof Compile<S>> | undefined
  return (value) => {
    const compiled = (made ??= Compile(schema))
    if (compiled.Check(value)) return { ok: true, value }
    return { ok: false, ...explain(compiled.Errors(value), schema) }
  }
}

function explain(violations: readonly Violation[], schema: TSchema): { reason: string; field: string } {
  const violation = mostTelling(violations)
  if (violation === undefined) return { reason: 'the body is not valid', field: '' }
  if (violation.keyword === 'required') {
    const missing = String(Reflect.get(violation.params, 'requiredProperties')).split(',')[0] ?? ''
    const path = fieldName(`${violation.instancePath}/${missing}`)
    return { reason: `${path} is required`, field: path }
  }
  const field = fieldName(violation.instancePath)
  return {
    reason: `${field || 'the body'} ${demand(violation, schemaAt(schema, violation.schemaPath))}`,
    field,
  }
}

/**
 * A union reports errors of all its branches. If a branch accepts the value's type and refuses something else, that error
 * is reported; otherwise the error of the union as a whole.
 */
function mostTelling(violations: readonly Violation[]): Violation | undefined {
  const branch = /\/anyOf\/\d+$/
  const [first] = violations
  const finer = violations.find(
    ({ keyword, schemaPath }) =>
      keyword !== 'anyOf' && !(branch.test(schemaPath) && ['const', 'type'].includes(keyword)),
  )
  if (finer !== undefined || first === undefined || !branch.test(first.schemaPath)) return finer ?? first
  return { ...first, keyword: 'anyOf', schemaPath: first.schemaPath.replace(branch, '') }
}

/** `/maintainers/0/user` to `maintainers[0].user`. */
const fieldName = (pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 60))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path ? `${path}.${part}` : part), '')

function demand({ keyword, params }: Violation, schema: TSchema | undefined): string {
  const limit = String(Reflect.get(params, 'limit'))
  switch (keyword) {
    case 'type':
      return `must be ${article(String(Reflect.get(params, 'type')))}`
    case 'minLength':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} characters`
    case 'maxLength':
      return `must have at most ${limit} characters`
    case 'minItems':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} entries`
    case 'maxItems':
      return `must have at most ${limit} entries`
    case 'minimum':
    case 'exclusiveMinimum':
      return `must be at least ${limit}`
    case 'maximum':
    case 'exclusiveMaximum':
      return `must be at most ${limit}`
    case 'const':
      return `must be ${JSON.stringify(Reflect.get(params, 'allowedValue'))}`
    case 'anyOf':
      return `must be ${alternatives(schema)}`
    default:
      return description(schema) ?? 'is not valid'
  }
}

/** The last sentence of the description of a schema with a pattern: "Name, for people. Must not be blank." */
const description = (schema: TSchema | undefined) => {
  const text: unknown = schema === undefined ? undefined : Reflect.get(schema, 'description')
  const [, rest] = /(?:^|\. )must (.+?)\.?$/i.exec(String(text)) ?? []
  return rest === undefined ? undefined : `must ${rest}`
}

function alternatives(schema: TSchema | undefined): string {
  const branches: unknown = schema === undefined ? undefined : Reflect.get(schema, 'anyOf')
  if (!Array.isArray(branches)) return 'one of the accepted values'
  const names = branches.map((branch: object) => {
    const constant: unknown = Reflect.get(branch, 'const')
    if (constant !== undefined) return JSON.stringify(constant)
    return description(branch)?.replace(/^must be /, '') ?? article(String(Reflect.get(branch, 'type')))
  })
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}

const article = (type: string) =>
  type === 'null' ? 'null' : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`

/** The part of the schema at a path such as `#/properties/name/anyOf/0`. */
function schemaAt(schema: TSchema, path: string): TSchema | undefined {
  let at: unknown = schema
  for (const part of path.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null) return undefined
    at = Reflect.get(at, part)
  }
  return typeof at === 'object' && at !== null ? at : undefined
}
