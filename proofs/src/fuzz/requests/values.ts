// Values made from JSON schemas, and values that are likely to be handled wrongly.
import type { Dice } from '../../dice.ts'
import type { Schema } from '../operations/operation.ts'

export const pick = <T>(dice: Dice, list: readonly T[]): T => {
  const chosen = list[dice.between(0, list.length - 1)]
  if (chosen === undefined) throw new Error('Nothing to pick from.')
  return chosen
}

export function uuidOf(dice: Dice): string {
  const hex = Array.from({ length: 32 }, () => dice.between(0, 15).toString(16)).join('')
  const variant = pick(dice, ['8', '9', 'a', 'b'])
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}

/** A value for a field that means something, such as the id of a cluster; undefined: any value fits. */
type Sense = (field: string) => unknown

const deepestValid = 6

/** A value that the schema accepts. */
export function validValue(dice: Dice, schema: Schema, sense: Sense, field = '', depth = 0): unknown {
  const meant = sense(field)
  if (meant !== undefined) return meant
  if ('const' in schema) return schema['const']
  const { enum: constants, anyOf, allOf, examples } = schema
  if (Array.isArray(constants)) return pick(dice, constants)
  if (Array.isArray(examples) && examples.length > 0 && dice.happens(0.5)) return pick(dice, examples)
  if (Array.isArray(anyOf)) return validValue(dice, pick(dice, anyOf as Schema[]), sense, field, depth)
  if (Array.isArray(allOf)) {
    const parts = (allOf as Schema[]).map((part) => validValue(dice, part, sense, field, depth))
    return Object.assign({}, ...parts)
  }
  switch (schema['type']) {
    case 'string':
      return validText(dice, schema)
    case 'integer':
    case 'number':
      return validNumber(dice, schema)
    case 'boolean':
      return dice.happens(0.5)
    case 'null':
      return null
    case 'array':
      return validList(dice, schema, sense, field, depth)
    case 'object':
      return validObject(dice, schema, sense, depth)
    default:
      return pick(dice, ['any', 7, true, null, ['any'], { any: 'value' }])
  }
}

function validList(dice: Dice, schema: Schema, sense: Sense, field: string, depth: number): unknown[] {
  const least = Number(schema['minItems'] ?? 0)
  const most = Math.min(Number(schema['maxItems'] ?? 3), Math.max(least, 3))
  const length = depth > deepestValid ? least : dice.between(least, most)
  return Array.from({ length }, () =>
    validValue(dice, (schema['items'] ?? {}) as Schema, sense, field.replace(/s$/, ''), depth + 1),
  )
}

function validObject(dice: Dice, schema: Schema, sense: Sense, depth: number): Record<string, unknown> {
  const made: Record<string, unknown> = {}
  const required = (schema['required'] ?? []) as string[]
  for (const [name, part] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)) {
    if (!required.includes(name) && (depth > deepestValid || dice.happens(0.5))) continue
    made[name] = validValue(dice, part, sense, name, depth + 1)
  }
  const others = recordValues(schema)
  if (others !== null) {
    for (let i = dice.between(0, 3); i > 0; i--)
      made[pick(dice, keyNames)] = validValue(dice, others, sense, '', depth + 1)
  }
  return made
}

function recordValues(schema: Schema): Schema | null {
  const { additionalProperties, patternProperties } = schema
  const [byPattern] = Object.values((patternProperties ?? {}) as Record<string, Schema>)
  if (byPattern !== undefined) return byPattern
  return typeof additionalProperties === 'object' && additionalProperties !== null
    ? (additionalProperties as Schema)
    : null
}

const keyNames = ['key', 'FOO', 'release-name', 'a.b', 'x_1', 'ünïcode', 'constructor', 'with space']

const texts = [
  'a',
  'main',
  'HEAD',
  'fuzz',
  'Fuzz 12',
  '12',
  'FUZZ_KEY',
  ':rocket:',
  '#FFE0F1',
  'git@git.example.com:acme/app.git',
  'release/*',
  'pass',
  'a'.repeat(40),
  'b'.repeat(64),
  'grüße 😀',
  'example.com',
  '',
]

function validText(dice: Dice, schema: Schema): string {
  if (schema['format'] === 'uuid') return uuidOf(dice)
  if (schema['format'] === 'date-time')
    return pick(dice, ['2026-01-02T03:04:05Z', '2030-01-01T00:00:00.123Z'])
  const { pattern: source } = schema
  const pattern = typeof source === 'string' ? new RegExp(source, 'u') : null
  const [least, most] = [Number(schema['minLength'] ?? 0), Number(schema['maxLength'] ?? Infinity)]
  const fitting = texts.filter(
    (text) => text.length >= least && text.length <= most && (pattern === null || pattern.test(text)),
  )
  return fitting.length === 0 ? 'fuzz' : pick(dice, fitting)
}

function validNumber(dice: Dice, schema: Schema): number {
  const least = Number(schema['minimum'] ?? 0)
  const most = Number(schema['maximum'] ?? Math.max(least, 1000))
  const edge = dice.happens(0.3)
  return edge ? pick(dice, [least, most]) : dice.between(least, Math.min(most, least + 1000))
}

export const oddTexts: readonly string[] = [
  '',
  ' ',
  '\t\n',
  '\0',
  'a\0b',
  '\ud800',
  'x\udc00y',
  '\u202eabc',
  '\ufeff',
  'e\u0301'.repeat(300),
  '😀'.repeat(200),
  '\u{10ffff}',
  'ı İ ß ﬀ',
  'x'.repeat(256),
  'x'.repeat(10_001),
  'x'.repeat(70_000),
  // Runs inside a text, which take some regular expressions the square of their length.
  `a${' '.repeat(60_000)}b`,
  `a${'\t'.repeat(15_000)}b`,
  `a${'\n'.repeat(30_000)}b`,
  `${'/'.repeat(30_000)}b`,
  '<'.repeat(30_000),
  '-1',
  '0',
  '00',
  '1e309',
  'NaN',
  'Infinity',
  '-infinity',
  'infinity',
  'null',
  'true',
  '9007199254740993',
  '99999999999999999999',
  '2147483648',
  '0x10',
  '1_000',
  '0000-00-00T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '+275760-09-13T00:00:00.001Z',
  '294277-01-01',
  '2026-02-30',
  'now',
  'epoch',
  '2026-01-02T03:04:05+99:99',
  '00000000-0000-0000-0000-000000000000',
  '{00000000-0000-0000-0000-000000000000}',
  '0000000000000000000000000000000g',
  '../../../../etc/passwd',
  '..%2f..%2f',
  'C:\\windows',
  'file:///etc/passwd',
  'http://[::1]:1/',
  'http://169.254.169.254/',
  'https://user:pass@127.0.0.1:0/',
  'javascript:alert(1)',
  '<script>alert(1)</script>',
  `'; drop table users; --`,
  '"',
  '\\',
  '\\u0000',
  '$(id)',
  '${HOME}',
  '{{7*7}}',
  '%s%n',
  'a\r\nX-Injected: yes',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '(a+)+$',
  '(?<=a)b',
  '[',
  '*',
  '*'.repeat(500),
  '!'.repeat(300),
  'a,b,,c',
  '0.0.0.0/0 ::/0',
  '1.2.3.4/33',
  '::ffff:127.0.0.1',
  '* * * * *',
  '@every 1s',
  '60 24 32 13 8',
  '0 0 31 2 *',
  '0 0 * * * Nowhere/Atall',
  '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----',
  'refs/heads/..',
  '--upload-pack=id',
  'ext::sh -c id',
]

const oddNumbers: readonly number[] = [
  0,
  -0,
  -1,
  1,
  1.5,
  -1.5,
  255,
  256,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 32,
  2 ** 53,
  2 ** 53 + 2,
  2 ** 63,
  1e21,
  1e308,
  -1e308,
  5e-324,
]

/** Any JSON value, whatever the schema says. */
export function oddValue(dice: Dice, depth = 0): unknown {
  switch (dice.between(0, depth > 2 ? 3 : 7)) {
    case 0:
    case 1:
      return pick(dice, oddTexts)
    case 2:
      return pick(dice, oddNumbers)
    case 3:
      return pick(dice, [true, false, null, [], {}])
    case 4:
      return Array.from({ length: dice.between(1, 4) }, () => oddValue(dice, depth + 1))
    case 5:
      return Object.fromEntries(
        Array.from({ length: dice.between(1, 3) }, () => [pick(dice, oddTexts), oddValue(dice, depth + 1)]),
      )
    case 6:
      return Array.from({ length: pick(dice, [100, 501, 1001]) }, () => pick(dice, ['a', 1, null]))
    default:
      return nested(pick(dice, [10, 60, 66]))
  }
}

function nested(levels: number): unknown {
  let value: unknown = 'deep'
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

/** The same value with one part replaced, deleted, added or repeated. */
export function mutate(dice: Dice, value: unknown): unknown {
  if (Array.isArray(value)) return mutateList(dice, value)
  if (typeof value === 'object' && value !== null) return mutateObject(dice, value as Record<string, unknown>)
  return mutateLeaf(dice, value)
}

function mutateList(dice: Dice, list: readonly unknown[]): unknown {
  if (list.length === 0 || dice.happens(0.2)) return dice.happens(0.5) ? [oddValue(dice)] : oddValue(dice)
  const at = dice.between(0, list.length - 1)
  switch (dice.between(0, 3)) {
    case 0:
      return list.filter((_, index) => index !== at)
    case 1:
      return [...list, ...list]
    case 2:
      return Array.from({ length: 300 }, () => list[at])
    default:
      return list.map((item, index) => (index === at ? mutate(dice, item) : item))
  }
}

function mutateObject(dice: Dice, object: Record<string, unknown>): unknown {
  const names = Object.keys(object)
  if (names.length === 0 || dice.happens(0.1)) {
    return dice.happens(0.5) ? { ...object, [pick(dice, oddTexts)]: oddValue(dice) } : oddValue(dice)
  }
  const name = pick(dice, names)
  if (dice.happens(0.15)) return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))
  return { ...object, [name]: mutate(dice, object[name]) }
}

function mutateLeaf(dice: Dice, value: unknown): unknown {
  if (typeof value === 'string' && value !== '' && dice.happens(0.3)) {
    const at = dice.between(0, value.length)
    return value.slice(0, at) + pick(dice, oddTexts) + value.slice(at)
  }
  if (typeof value === 'number' && dice.happens(0.3)) return value + pick(dice, [-1, 1, 0.5, 1e9])
  return oddValue(dice)
}
