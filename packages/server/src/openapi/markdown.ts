// The OpenAPI document as Markdown, for people in a terminal and for language models: an index, and a page for each group of
// operations. llms.txt is the index of both.
import type { Json } from './schemas.ts'

export interface MarkdownDocs {
  /** By the name of the group. */
  groups: ReadonlyMap<string, string>
  index: string
  llms: string
}

interface Operation {
  method: string
  path: string
  about: Json
}

const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {}
const asText = (value: unknown): string => (typeof value === 'string' ? value : '')
const entriesOf = (value: unknown): Array<[string, Json]> =>
  Object.entries(asObject(value)).map(([name, part]) => [name, asObject(part)])

export function markdownDocs(baseUrl: string, document: Json): MarkdownDocs {
  const operations = entriesOf(document['paths']).flatMap(([path, methods]) =>
    entriesOf(methods).map(([method, about]): Operation => ({ method: method.toUpperCase(), path, about })),
  )
  const tags = (document['tags'] as Json[]).map((tag) => ({
    name: asText(tag['name']),
    description: asText(tag['description']),
  }))
  const ofGroup = (name: string) =>
    operations.filter(({ about }) => (about['tags'] as string[] | undefined)?.includes(name))
  const groups = new Map(
    tags.map(({ name, description }) => {
      const parts = ofGroup(name).map((operation) => operationText(document, operation))
      return [name, [`# ${name}`, description, ...parts].join('\n\n') + '\n']
    }),
  )
  const list = tags
    .map(({ name, description }) => `- [${name}](${baseUrl}/docs/${name}.md): ${description}`)
    .join('\n')
  const calls = tags.map(({ name }) => `## ${name}\n\n${ofGroup(name).map(lineOf).join('\n')}`).join('\n\n')
  return {
    groups,
    index: `# Millrace REST API\n\n${intro(baseUrl)}\n\n${list}\n\n${calls}\n`,
    llms: llmsText(baseUrl, list),
  }
}

const intro = (baseUrl: string) =>
  `Every request goes to ${baseUrl} and carries \`Authorization: Bearer TOKEN\`. Bodies and answers are JSON. An error is \`{"message": "…"}\`. POST and PUT take an \`Idempotency-Key\`. The same as OpenAPI 3.1: ${baseUrl}/v2/openapi.json`

const llmsText = (baseUrl: string, list: string) => `# Millrace

> A self-hosted control plane for continuous integration. This installation is at ${baseUrl}.

To find out why a build failed, call \`GET /v2/organizations/{org}/pipelines/{pipeline}/builds/{build}/failure_summary\`, or the tool
\`get_failure_summary\` of the Model Context Protocol at ${baseUrl}/mcp. Both need an access token.

## Interfaces

- [REST API as Markdown](${baseUrl}/docs.md): all operations, one line each
- [OpenAPI document](${baseUrl}/v2/openapi.json): the same for programs
- [API explorer](${baseUrl}/docs): the same for a browser
- ${baseUrl}/mcp: Model Context Protocol over streamable HTTP, with a bearer token

## REST API by group

${list}
`

const lineOf = ({ method, path, about }: Operation) => `- \`${method} ${path}\`: ${asText(about['summary'])}`

function operationText(document: Json, { method, path, about }: Operation): string {
  const parameters = ((about['parameters'] as Json[] | undefined) ?? []).map((parameter) => {
    const type = typeOf(document, asObject(parameter['schema']))
    return `- \`${asText(parameter['name'])}\` (${asText(parameter['in'])}, ${type}): ${asText(parameter['description'])}`
  })
  const body = contentOf(about['requestBody'])
  const answers = entriesOf(about['responses'])
  const sections = [
    `## ${method} ${path}`,
    [asText(about['summary']), asText(about['description'])].filter(Boolean).join('. '),
    parameters.length === 0 ? '' : `Parameters:\n\n${parameters.join('\n')}`,
    body === null ? '' : `Body:\n\n${fieldsText(document, asObject(body['schema']))}`,
    ...answers
      .filter(([status]) => Number(status) < 400)
      .map(([status, answer]) => answerText(document, status, answer)),
    `Errors: ${answers
      .filter(([status]) => Number(status) >= 400)
      .map(([status, answer]) => `${status} (${asText(resolve(document, answer)['description'])})`)
      .join(' ')}`,
  ]
  return sections.filter(Boolean).join('\n\n')
}

function answerText(document: Json, status: string, answer: Json): string {
  const content = contentOf(answer)
  if (content === null) return `Answer ${status}: ${asText(answer['description'])}`
  const { example } = content
  const shown = example === undefined ? '' : JSON.stringify(example, null, 2)
  if (shown !== '' && shown.length <= mostExample)
    return `Answer ${status}, for example:\n\n\`\`\`json\n${shown}\n\`\`\``
  return `Answer ${status}:\n\n${fieldsText(document, asObject(content['schema']))}`
}

const mostExample = 8000
const deepest = 3

const contentOf = (part: unknown): Json | null => {
  const [first] = entriesOf(asObject(part)['content'])
  return first === undefined ? null : first[1]
}

function resolve(document: Json, schema: Json): Json {
  const reference = asText(schema['$ref'])
  if (reference === '') return schema
  const found = reference
    .split('/')
    .slice(1)
    .reduce<unknown>((whole, key) => asObject(whole)[key], document)
  return asObject(found)
}

function typeOf(document: Json, given: Json): string {
  const schema = resolve(document, given)
  const choices = (schema['anyOf'] ?? schema['oneOf']) as Json[] | undefined
  if (choices !== undefined)
    return [...new Set(choices.map((choice) => typeOf(document, choice)))].join(' or ')
  if (schema['const'] !== undefined) return JSON.stringify(schema['const'])
  if (schema['type'] === 'array') return `list of ${typeOf(document, asObject(schema['items']))}`
  const { type } = schema
  return Array.isArray(type) ? type.join(' or ') : asText(type) || 'any'
}

/** The fields of an object, of the entries of a list, or of the object that a value may be. */
function fieldsText(document: Json, given: Json, depth = 0): string {
  const schema = innerObject(document, given)
  const properties = entriesOf(schema['properties'])
  if (properties.length === 0) return depth === 0 ? `- ${typeOf(document, given)}` : ''
  const required = (schema['required'] as string[] | undefined) ?? []
  const indent = '  '.repeat(depth)
  return properties
    .map(([name, property]) => {
      const described = asText(property['description']) || asText(resolve(document, property)['description'])
      const isOptional = required.includes(name) ? '' : ', optional'
      const line = `${indent}- \`${name}\` (${typeOf(document, property)}${isOptional})${described === '' ? '' : `: ${described}`}`
      const inner = depth + 1 < deepest ? fieldsText(document, property, depth + 1) : ''
      return inner === '' ? line : `${line}\n${inner}`
    })
    .join('\n')
}

function innerObject(document: Json, given: Json): Json {
  const schema = resolve(document, given)
  if (schema['type'] === 'array') return innerObject(document, asObject(schema['items']))
  const choices = (schema['anyOf'] ?? schema['oneOf']) as Json[] | undefined
  const object = choices
    ?.map((choice) => innerObject(document, choice))
    .find((choice) => choice['properties'] !== undefined)
  return object ?? schema
}
