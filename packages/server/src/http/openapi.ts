// The OpenAPI 3.1 document, made from the very schemas that validate. Schemas with a title become components.
import type { TSchema } from 'typebox'
import type { Route, Slices } from './route.ts'

interface Json {
  [key: string]: unknown
}

const bodyErrors: Record<number, string> = {
  413: 'The body is too large.',
  415: 'The body is said to be something other than JSON.',
}

const keyErrors: Record<number, string> = {
  409: 'A request with this Idempotency-Key is still in flight.',
  422: 'The Idempotency-Key was used with another request.',
}

const sharedErrors: Record<number, string> = {
  401: 'The token is missing, malformed, unknown, expired or revoked.',
  429: 'The rate limit is exceeded (only where the operator enforces limits).',
}

export function openApiDocument(baseUrl: string, slices: Slices): Json {
  const paths: Record<string, Json> = {}
  const schemas: Record<string, unknown> = { Error: errorSchema }
  const hoist = (schema: unknown) => hoistTitled(schema, schemas)
  for (const [tag, route] of Object.entries(slices).flatMap(([tag, routes]) =>
    routes.map((route) => [tag, route] as const),
  )) {
    const path = route.url.replace(/:(\w+)/g, '{$1}')
    for (const method of route.methods) {
      paths[path] = { ...paths[path], [method.toLowerCase()]: operation(route, method, tag, hoist) }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Millrace',
      version: '2',
      description:
        'The REST API of a Millrace control plane. Every request carries `Authorization: Bearer <token>`.',
    },
    servers: [{ url: baseUrl }],
    security: [{ token: [] }],
    paths,
    components: { schemas, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  }
}

function operation(route: Route, method: string, tag: string, hoist: (schema: unknown) => unknown): Json {
  const isOpen = route.permission === 'anonymous'
  return {
    operationId: operationId(route, method),
    tags: [tag],
    summary: route.summary,
    description: accessText(route),
    ...(isOpen ? { security: [] } : {}),
    'x-required-scope': route.scope,
    'x-required-permission': route.permission,
    parameters: parameters(route, method),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: requiredOf(route.body).length > 0,
            content: { 'application/json': { schema: hoist(route.body) } },
          },
        }),
    responses: { ...answers(route, hoist), ...errors(route, method, isOpen) },
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

function parameters(route: Route, method: string): Json[] {
  const inPath = [...route.url.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: route.params[name]?.schema ?? { type: 'string', description: 'Organization slug' },
  }))
  const inQuery = Object.entries(route.query).map(([name, schema]) => ({
    name: Reflect.get(schema, 'type') === 'array' ? `${name}[]` : name,
    in: 'query',
    required: false,
    schema,
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

const takesKey = (method: string) => method === 'POST' || method === 'PUT'

function answers(route: Route, hoist: (schema: unknown) => unknown): Json {
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, schema]) => [
      status,
      schema === null
        ? { description: 'Done; no body.' }
        : { description: 'OK', content: { [mediaType(schema)]: { schema: hoist(schema) } } },
    ]),
  )
}

/** JSON, unless the schema is of a text that says what it is. */
const mediaType = (schema: TSchema) => String(Reflect.get(schema, 'contentMediaType') ?? 'application/json')

function errors(route: Route, method: string, isOpen: boolean): Json {
  const conditions: Record<number, string> = {
    400: 'The URL, a query parameter, a header or the body cannot be read.',
    ...(takesKey(method) ? keyErrors : {}),
    ...(route.body === undefined ? {} : bodyErrors),
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
      { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
    ]),
  )
}

const forbiddenText = ({ scope, permission }: Route) =>
  [
    ...(scope === 'none' ? [] : [`The token lacks the ${scope} scope.`]),
    ...(permission === 'token' || permission === 'member'
      ? []
      : [`The caller lacks the permission ${permission}.`]),
    'The token or the organization does not allow the address.',
  ].join(' ')

const errorSchema = {
  type: 'object',
  required: ['message'],
  properties: {
    message: { type: 'string' },
    errors: {
      type: 'array',
      items: { type: 'object', properties: { field: { type: 'string' }, code: { type: 'string' } } },
    },
  },
  examples: [{ message: 'Validation failed: name is required' }],
}

const requiredOf = (schema: TSchema): unknown[] => {
  const required: unknown = Reflect.get(schema, 'required')
  return Array.isArray(required) ? required : []
}

function hoistTitled(schema: unknown, into: Record<string, unknown>): unknown {
  if (Array.isArray(schema)) return schema.map((entry) => hoistTitled(entry, into))
  if (typeof schema !== 'object' || schema === null) return schema
  const plain = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, hoistTitled(value, into)]),
  )
  const { title } = plain
  if (typeof title !== 'string') return plain
  into[title] = plain
  return { $ref: `#/components/schemas/${title}` }
}
