// Every operation that is called: those of the OpenAPI document, of the agent API, and the uploads and pages beside them.
import { ErrorBody } from '@millrace/protocol/errors.ts'
import { agentApiRoutes } from '@millrace/server/app.ts'
import { agentOperations as known } from './agent-operations.ts'
import type { Answer, Credential, Operation, Schema } from './operation.ts'
import { otherOperations } from './other-operations.ts'

interface Document {
  paths: Record<string, Record<string, DocumentedOperation>>
  components: Record<string, Record<string, Schema>>
}

interface DocumentedOperation {
  parameters?: Array<{ name: string; in: string; schema: Schema }>
  requestBody?: { content: Record<string, Content> }
  responses: Record<string, Schema>
  security?: unknown[]
}

interface Content {
  schema: Schema
  example?: unknown
}

/** `document` is the answer to `GET /v2/openapi.json`. */
export function listOperations(document: unknown): Operation[] {
  return [...documentedOperations(document as Document), ...agentOperations(), ...otherOperations]
}

function documentedOperations(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([name, operation]): Operation => {
      const method = name.toUpperCase()
      const [content] = Object.values(operation.requestBody?.content ?? {})
      const isUpload = path === '/v1/uploads'
      return {
        id: `${method} ${path}`,
        surface: 'rest',
        method,
        path,
        query: (operation.parameters ?? [])
          .filter((parameter) => parameter.in === 'query')
          .map((parameter) => ({ name: parameter.name, schema: inline(document, parameter.schema) })),
        body: content === undefined ? null : inline(document, content.schema),
        examples: content?.example === undefined ? [] : [content.example],
        credential: isUpload ? 'suite' : operation.security?.length === 0 ? 'none' : 'user',
        answers: new Map(
          Object.entries(operation.responses).map(([status, response]) => [
            Number(status),
            answerOf(inline(document, response)),
          ]),
        ),
      }
    }),
  )
}

function answerOf(response: Schema): Answer {
  const [described] = Object.entries((response['content'] ?? {}) as Record<string, Content>)
  return described === undefined
    ? { schema: null, mediaType: '' }
    : { schema: described[1].schema, mediaType: described[0] }
}

/** Replaces references by what they refer to. */
function inline(document: Document, schema: Schema): Schema {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    const reference: unknown = Reflect.get(value, '$ref')
    if (typeof reference === 'string') {
      const [, , kind = '', name = ''] = reference.split('/')
      return walk(document.components[kind]?.[name])
    }
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, walk(part)]))
  }
  return walk(schema) as Schema
}

const agentCredentials: Record<(typeof agentApiRoutes)[number]['token'], Credential> = {
  none: 'none',
  registration: 'registration',
  joining: 'registration',
  session: 'session',
  ended_session: 'session',
  session_or_job: 'session',
  job: 'job',
  ended_job: 'job',
  suite: 'suite',
}

const agentOperations = (): Operation[] =>
  agentApiRoutes
    // The document has it.
    .filter(({ url }) => url !== '/v1/uploads')
    .map((route) => {
      const path = route.url.replace(/:(\w+)/g, '{$1}')
      const id = `${route.method} ${path}`
      const { query = {}, examples = [] } = known[id] ?? {}
      return {
        id,
        surface: 'agent',
        method: route.method,
        path,
        query: Object.entries(query).map(([name, example]) => ({
          name,
          schema: { type: 'string', examples: [example] },
        })),
        body: route.body === undefined ? null : { ...route.body },
        examples,
        credential: agentCredentials[route.token],
        answers: agentAnswers(id),
      }
    })

const errorAnswer: Answer = { schema: { ...ErrorBody }, mediaType: 'application/json' }
const agentErrors = [400, 401, 403, 404, 405, 409, 413, 415, 422, 423, 429]

function agentAnswers(id: string): Operation['answers'] {
  const success: Answer = { schema: { ...known[id]?.answer }, mediaType: 'application/json' }
  return new Map([
    ...[200, 201, 202].map((status) => [status, success] as const),
    [204, { schema: null, mediaType: '' }],
    ...(known[id]?.redirects ? [[302, { schema: null, mediaType: '' }] as const] : []),
    ...agentErrors.map((status) => [status, errorAnswer] as const),
  ])
}
