/*
 * Writes the types of the REST API for the web interface, from the server's OpenAPI document. The file is not committed:
 * the build makes it.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../packages/', import.meta.url))

const typesFile = join(packages, 'web', 'src', 'api', 'operations.ts')

async function writeTypes() {
  const { slices } = await import('../packages/server/dist/app.js')
  const { openApiDocument } = await import('../packages/server/dist/openapi/document.js')
  const { paths, components } = await openApiDocument('http://localhost', slices, {})
  writeFileSync(typesFile, textOf(paths, components.schemas))
}

function textOf(paths, schemas) {
  const named = Object.entries(schemas).map(([name, schema]) => `  ${key(name)}: ${typeOf(schema)}`)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => `  ${key(`${method.toUpperCase()} ${path}`)}: ${operationType(operation)}`,
    ),
  )
  return [
    '// Made by tools/web-types.mjs from the OpenAPI document.',
    `export interface Schemas {\n${named.join('\n')}\n}`,
    `export interface Operations {\n${operations.join('\n')}\n}`,
    '',
  ].join('\n\n')
}

function operationType({ parameters = [], requestBody, responses }) {
  const body = requestBody?.content?.['application/json']?.schema
  const parts = [
    `params: ${parametersType(parameters, 'path')}`,
    `query: ${parametersType(parameters, 'query')}`,
    `body: ${body === undefined ? 'undefined' : typeOf(body)}`,
    `answer: ${answerType(responses)}`,
  ]
  return `{ ${parts.join('; ')} }`
}

function parametersType(parameters, place) {
  const fields = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, required, schema }) => `${key(name)}${required ? '' : '?'}: ${typeOf(schema)}`)
  return fields.length === 0 ? 'Record<never, never>' : `{ ${fields.join('; ')} }`
}

function answerType(responses) {
  const schemas = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, response]) => response.content?.['application/json']?.schema)
  return union(schemas.map((schema) => (schema === undefined ? 'undefined' : typeOf(schema))))
}

function typeOf(schema) {
  if (schema === true || schema === undefined) return 'unknown'
  if (schema.$ref !== undefined) return `Schemas[${JSON.stringify(schema.$ref.split('/').at(-1))}]`
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)))
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return union(choices.map(typeOf))
  if (schema.allOf !== undefined) return schema.allOf.map((part) => `(${typeOf(part)})`).join(' & ')
  return union([schema.type].flat().map((type) => plainType(type, schema)))
}

function plainType(type, schema) {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return arrayType(schema)
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

function arrayType({ items, prefixItems }) {
  const tuple = prefixItems ?? (Array.isArray(items) ? items : undefined)
  if (tuple !== undefined) return `[${tuple.map(typeOf).join(', ')}]`
  return `Array<${typeOf(items)}>`
}

function objectType({ properties = {}, required = [], additionalProperties, patternProperties }) {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
  if (fields.length > 0) return `{ ${fields.join('; ')} }`
  const [values = additionalProperties] = Object.values(patternProperties ?? {})
  return `Record<string, ${typeof values === 'object' ? typeOf(values) : 'unknown'}>`
}

const union = (types) => (types.length === 0 ? 'undefined' : [...new Set(types)].join(' | '))

const key = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name))

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeTypes()
