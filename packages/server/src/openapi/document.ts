// The OpenAPI 3.1 document, made from the schemas that validate requests.
import { setImmediate } from 'node:timers/promises'
import type { TSchema } from 'typebox'
import { pathParameters, tagDescriptions } from './field-descriptions.ts'
import { headerNames, headers, referTo } from './headers.ts'
import { uploadPath } from './uploads.ts'
import { Components, publishSchema, type Json } from './schemas.ts'
import type { Route, Slices } from '../http/route.ts'

const securitySchemes = {
  token: { type: 'http', scheme: 'bearer', description: 'An access token of a user.' },
  suite_token: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The token of a test suite, as `Token token="…"`.',
  },
}

const bodyErrors: Record<number, string> = {
  413: 'The body is too large.',
  415: 'The Content-Type is not that of JSON, or cannot be read.',
}

const keyErrors: Record<number, string> = {
  409: 'A request with this Idempotency-Key is still in flight.',
  422: 'The Idempotency-Key was used with another request.',
}

const sharedErrors: Record<number, string> = {
  401: 'The token is missing, malformed, unknown, expired or revoked.',
  429: 'The rate limit is exceeded.',
}

/** Recorded responses by method, URL and status, as tools/examples.mjs writes them: `GET /v2/organizations/:org 200`. */
export type Examples = Readonly<Record<string, unknown>>

/** Lets other requests run after each group of operations, because all of them take long. */
export async function openApiDocument(baseUrl: string, slices: Slices, examples: Examples): Promise<Json> {
  const paths: Record<string, Json> = {}
  const parts = {
    schemas: new Components(),
    responses: new ErrorResponses(),
    exampleOf: exampleFinder(slices, examples),
  }
  publishSchema(errorSchema, parts.schemas)
  for (const [tag, routes] of Object.entries(slices)) {
    await setImmediate()
    for (const route of routes) {
      const path = route.url.replace(/:(\w+)/g, '{$1}')
      for (const method of route.methods) {
        paths[path] = { ...paths[path], [method.toLowerCase()]: operation(route, method, tag, parts) }
      }
    }
  }
  paths['/v1/uploads'] = uploadPath((status, description) =>
    parts.responses.share(String(status), errorResponse(['X-Request-Id'], status, description)),
  )
  return {
    openapi: '3.1.0',
    info: {
      title: 'Millrace',
      version: '2',
      description:
        'The REST API of a Millrace control plane. Every request carries `Authorization: Bearer <token>`.',
      contact: { name: 'Millrace', url: `${baseUrl}/docs` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    security: [{ token: [] }],
    tags: Object.keys(slices).map((name) => ({ name, description: tagDescriptions[name] })),
    paths,
    components: {
      schemas: parts.schemas.byTitle,
      responses: parts.responses.byName,
      headers,
      securitySchemes,
    },
  }
}

interface Parts {
  schemas: Components
  responses: ErrorResponses
  exampleOf: ExampleFinder
}

/** Equal error responses are written once. */
class ErrorResponses {
  readonly byName: Record<string, Json> = {}
  readonly #names = new Map<string, string>()

  share(status: string, response: Json): Json {
    const text = `${status} ${JSON.stringify(response)}`
    const name = this.#names.get(text) ?? this.#newName(`Error${status}_`)
    this.#names.set(text, name)
    this.byName[name] = response
    return { $ref: `#/components/responses/${name}` }
  }

  #newName(prefix: string): string {
    const known = Object.keys(this.byName).filter((name) => name.startsWith(prefix))
    return `${prefix}${known.length + 1}`
  }
}

type ExampleFinder = (route: Route, method: string, status: string) => unknown

/** An endpoint without a recorded response shows that of another one with the same schema. */
function exampleFinder(slices: Slices, examples: Examples): ExampleFinder {
  const bySchema = new Map<TSchema | null, unknown>()
  const nameOf = (route: Route, method: string, status: string) => `${method} ${route.url} ${status}`
  for (const route of Object.values(slices).flat()) {
    for (const [status, schema] of Object.entries(route.answers)) {
      for (const method of route.methods) {
        const example = examples[nameOf(route, method, status)]
        if (example !== undefined && !bySchema.has(schema)) bySchema.set(schema, example)
      }
    }
  }
  return (route, method, status) =>
    examples[nameOf(route, method, status)] ?? bySchema.get(route.answers[Number(status)] ?? null)
}

function operation(
  route: Route,
  method: string,
  tag: string,
  { schemas, responses, exampleOf }: Parts,
): Json {
  const isOpen = route.permission === 'anonymous'
  return {
    operationId: operationId(route, method),
    tags: [tag],
    summary: route.summary,
    description: accessText(route),
    ...(isOpen ? { security: [] } : {}),
    'x-required-scope': route.scope,
    'x-required-permission': route.permission,
    parameters: parameters(route, method, schemas),
    ...requestBody(route, schemas),
    responses: { ...answers(route, method, schemas, exampleOf), ...errors(route, method, isOpen, responses) },
  }
}

function requestBody(route: Route, schemas: Components): Json {
  if (route.rawBody !== null) {
    const schema = {
      type: 'object',
      description: 'What the sender sends; its signature is over these bytes.',
    }
    return { requestBody: { required: true, content: { 'application/json': { schema } } } }
  }
  const { documentedBody } = route
  if (documentedBody === undefined) return {}
  const body = publishSchema(documentedBody, schemas)
  const [example]: unknown[] = (Reflect.get(documentedBody, 'examples') as unknown[] | undefined) ?? []
  return {
    requestBody: {
      required: requiredOf(documentedBody).length > 0,
      content: { 'application/json': { schema: body, ...(example === undefined ? {} : { example }) } },
    },
  }
}

const accessText = ({ scope, permission }: Route) =>
  permission === 'anonymous'
    ? 'Needs no token.'
    : `Scope: ${scope === 'none' ? 'none' : `\`${scope}\``}. Permission: \`${permission}\`.`

/** `GET /v2/organizations/:org/clusters/:cluster` to `get_organizations_org_clusters_cluster`. */
const operationId = (route: Route, method: string) =>
  [
    method.toLowerCase(),
    ...route.url
      .replace(/^\/v2/, '')
      .split('/')
      .filter(Boolean)
      .map((part) => part.replace(/\W+/g, '')),
  ].join('_')

function parameters(route: Route, method: string, schemas: Components): Json[] {
  const inPath = [...route.url.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...described(
      publishSchema(route.params[name]?.schema ?? { type: 'string' }, schemas),
      pathParameters[name],
    ),
  }))
  const inQuery = Object.entries(route.query).map(([name, schema]) => ({
    name: Reflect.get(schema, 'type') === 'array' ? `${name}[]` : name,
    in: 'query',
    required: false,
    ...described(publishSchema(schema, schemas)),
    style: Reflect.get(schema, 'type') === 'object' ? 'deepObject' : 'form',
  }))
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', maxLength: 255 },
    description: 'The first answer is kept for 24 hours and given again to the same request.',
  }
  return [...inPath, ...inQuery, ...(takesKey(method) ? [key] : [])]
}

/** A parameter has its description beside its schema. */
const described = ({ description, ...schema }: Json, common?: string): Json => ({
  schema,
  description: description ?? common,
})

const takesKey = (method: string) => method === 'POST' || method === 'PUT'

function answers(route: Route, method: string, schemas: Components, exampleOf: ExampleFinder): Json {
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, schema]) => [
      status,
      {
        description: status === '304' ? 'Not changed; no body.' : schema === null ? 'Done; no body.' : 'OK',
        headers: referTo(headerNames(route, Number(status))),
        ...(schema === null
          ? {}
          : { content: answerContent(schema, exampleOf(route, method, status), schemas) }),
      },
    ]),
  )
}

const answerContent = (schema: TSchema, example: unknown, schemas: Components): Json => ({
  [mediaType(schema)]: {
    schema: publishSchema(schema, schemas),
    ...(example === undefined ? {} : { example }),
  },
})

/** JSON, unless the schema has a media type. */
const mediaType = (schema: TSchema) => String(Reflect.get(schema, 'contentMediaType') ?? 'application/json')

function errors(route: Route, method: string, isOpen: boolean, responses: ErrorResponses): Json {
  const conditions: Record<number, string> = {
    400: 'The URL, a query parameter, a header or the body cannot be read.',
    ...(takesKey(method) ? keyErrors : {}),
    // A body is read even where none is expected, so that the connection can be used again.
    ...(method === 'GET' ? {} : bodyErrors),
    ...(isOpen ? {} : sharedErrors),
    ...(isOpen ? {} : { 403: forbiddenText(route) }),
    ...(route.url.includes(':')
      ? { 404: 'Something named in the URL does not exist, or the caller may not know of it.' }
      : {}),
    ...(route.body === undefined ? {} : { [route.badBody]: 'The body is not valid.' }),
    ...route.errors,
  }
  return Object.fromEntries(
    Object.entries(conditions).map(([status, description]) => [
      status,
      responses.share(status, errorResponse(headerNames(route, Number(status)), Number(status), description)),
    ]),
  )
}

const errorResponse = (names: readonly string[], status: number, description: string): Json => ({
  description,
  headers: referTo(names),
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Error' },
      example: { message: exampleMessages[status] ?? description },
    },
  },
})

const forbiddenText = ({ scope, permission }: Route) =>
  [
    ...(scope === 'none' ? [] : [`The token lacks the ${scope} scope.`]),
    ...(permission === 'token' || permission === 'member'
      ? []
      : [`The caller lacks the permission ${permission}.`]),
    'The token or the organization does not allow the address.',
  ].join(' ')

const errorSchema = {
  title: 'Error',
  type: 'object',
  required: ['message'],
  properties: {
    message: { type: 'string', description: 'What is wrong, and where possible what would be right.' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          field: { type: 'string', description: 'The field of the request.' },
          code: { type: 'string', description: 'What is wrong with the field.' },
        },
      },
      description: 'One entry for each field that was refused, where the endpoint checks fields one by one.',
    },
  },
}

/** The most common message of each status. */
const exampleMessages: Readonly<Record<number, string>> = {
  400: 'The body is not JSON.',
  401: 'Authentication required. Please supply a valid API Access Token: https://millrace.example.com/docs',
  403: 'Forbidden',
  404: 'No organization found',
  413: 'The request body is too large.',
  416: 'The log is empty.',
  422: 'Validation failed: name is required',
  429: 'You have exceeded your API rate limit. Please wait 42 seconds before making more requests.',
}

const requiredOf = (schema: TSchema): unknown[] => {
  const required: unknown = Reflect.get(schema, 'required')
  return Array.isArray(required) ? required : []
}
