// Schemas as the OpenAPI document shows them: those with a title become components, unions of constants become
// enumerations, and every field has a description.
import { commonFields } from './field-descriptions.ts'

export interface Json {
  [key: string]: unknown
}

/** The schemas with a title. Each is published once, however many others contain it. */
export class Components {
  readonly byTitle: Record<string, Json> = {}
  readonly published = new Set<unknown>()
}

export function publishSchema(schema: unknown, components: Components): Json {
  const { title, ...own } = asObject(schema)
  if (typeof title !== 'string') return publishParts(own, components)
  const reference = { $ref: `#/components/schemas/${title}` }
  if (components.published.has(schema)) return reference
  const published = publishParts(own, components)
  const known = components.byTitle[title]
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(published)) {
    throw new Error(`Two different schemas are called ${title}.`)
  }
  components.byTitle[title] = published
  components.published.add(schema)
  return reference
}

function publishParts(schema: Json, components: Components): Json {
  const published: Json = { ...schema }
  for (const key of ['items', 'additionalProperties']) {
    if (isObject(schema[key])) published[key] = publishSchema(schema[key], components)
  }
  if (isObject(schema['patternProperties'])) return publishRecord(published, components)
  if (isObject(schema['properties'])) {
    published['properties'] = Object.fromEntries(
      Object.entries(schema['properties']).map(([name, field]) => [
        name,
        describeField(publishSchema(field, components), name),
      ]),
    )
  }
  const { anyOf } = schema
  return Array.isArray(anyOf) ? publishAlternatives(published, anyOf, components) : published
}

/** A record becomes an object with any keys, because few generators understand patterns of keys. */
function publishRecord({ patternProperties, ...rest }: Json, components: Components): Json {
  const [values] = Object.values(asObject(patternProperties))
  return { ...rest, type: 'object', additionalProperties: publishSchema(values, components) }
}

function publishAlternatives(
  { anyOf: _anyOf, ...rest }: Json,
  anyOf: readonly unknown[],
  components: Components,
): Json {
  const branches = anyOf.map(asObject)
  const constants = branches.filter((branch) => 'const' in branch)
  const others = branches.filter((branch) => !('const' in branch))
  const enumeration: Json = { type: constants[0]?.['type'], enum: constants.map((branch) => branch['const']) }
  const published = [
    ...(constants.length > 0 ? [enumeration] : []),
    ...others.map((branch) => publishSchema(branch, components)),
  ]
  const [only] = published
  return published.length === 1 && only !== undefined ? { ...only, ...rest } : { ...rest, anyOf: published }
}

function describeField(field: Json, name: string): Json {
  const text = ownText(field) ?? commonFields[name]
  return text === undefined ? field : { ...withoutText(field), description: text }
}

function ownText({ description, anyOf }: Json): string | undefined {
  if (typeof description === 'string') return description
  const texts = Array.isArray(anyOf) ? anyOf.map((branch) => asObject(branch)['description']) : []
  const [only, ...more] = texts.filter((text) => typeof text === 'string')
  return more.length === 0 ? only : undefined
}

/** Removes the description that was lifted out of the one alternative beside null. */
const withoutText = (field: Json): Json =>
  Array.isArray(field['anyOf'])
    ? {
        ...field,
        anyOf: field['anyOf'].map((branch) => {
          const { description: _description, ...rest } = asObject(branch)
          return rest
        }),
      }
    : field

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const asObject = (value: unknown): Json => (isObject(value) ? { ...value } : {})
