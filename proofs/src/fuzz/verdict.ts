// Judges one answer: its status and body fit the document, it took its time and not more, and it shows nothing of others.
import { Compile } from 'typebox/compile'
import type { Attempt } from './requests/attempt.ts'
import type { Failure, Received } from './client.ts'
import { secretValue } from './world/makers.ts'
import type { Answer, Operation, Schema } from './operations/operation.ts'

export interface Judge {
  /** The sentences that say what is wrong with the answer. */
  judge(attempt: Attempt, answer: Received | Failure | null): string[]
}

/** `foreign`: ids, names and tokens of another tenant. */
export function judgeOf(
  operations: readonly Operation[],
  foreign: ReadonlySet<string>,
  marker: string,
): Judge {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  const checkBody = bodyChecker()

  /** The operation that answered, which a changed path may make another than the attempt's. */
  function answering(attempt: Attempt, answer: Received): Operation | undefined {
    const route = answer.headers['x-route']
    if (typeof route !== 'string' || route === 'none') return undefined
    const method = attempt.method === 'HEAD' ? 'GET' : attempt.method
    return byId.get(`${method} ${route.replace(/:(\w+)/g, '{$1}')}`)
  }

  function judgeRaw(answer: Received | Failure | null): string[] {
    if (answer === null) return []
    if ('failure' in answer) return [answer.failure]
    // Node itself refuses transfer encodings that it does not know with 501.
    return answer.status >= 500 && answer.status !== 501
      ? [`The answer to broken HTTP is ${answer.status}.`]
      : []
  }

  return {
    judge(attempt, answer) {
      if (attempt.raw !== null) return judgeRaw(answer)
      if (answer === null || 'failure' in answer)
        return [`No answer: ${answer?.failure ?? 'the connection was closed'}`]
      const operation = answering(attempt, answer)
      const isHead = attempt.method === 'HEAD'
      return [
        ...judgeStatus(attempt, answer, operation),
        ...(isHead ? [] : judgeBody(answer, operation, checkBody)),
        ...judgeHeaders(answer),
        ...judgeLeaks(attempt, answer, foreign, marker),
      ]
    },
  }
}

function judgeStatus(
  attempt: Attempt,
  { status, headers, text }: Received,
  operation: Operation | undefined,
): string[] {
  if (status === 503 && headers['retry-after'] === undefined) return ['503 without Retry-After.']
  if (status >= 500 && status !== 503) return [`Status ${status}: ${text.slice(0, 300)}`]
  if (attempt.method === 'OPTIONS') return status === 204 ? [] : [`OPTIONS is answered with ${status}.`]
  // No operation has this path and method.
  if (operation === undefined)
    return oddStatuses.has(status) || isPage(headers) ? [] : [`Status ${status} without an operation.`]
  if (operation.answers === null) return status === 503 ? ['Status 503.'] : []
  return operation.answers.has(status) ? [] : [`Status ${status} is not documented: ${text.slice(0, 300)}`]
}

const oddStatuses = new Set([200, 204, 303, 400, 401, 403, 404, 405, 413, 414, 415, 429, 431])

const isPage = (headers: Received['headers']) => String(headers['content-type']).startsWith('text/html')

function judgeBody(
  { status, headers, text, isOpen }: Received,
  operation: Operation | undefined,
  checkBody: BodyCheck,
): string[] {
  const type = String(headers['content-type'] ?? '')
  const isJson = type.includes('json')
  if (isJson && status >= 400) return checkError(text)
  if (status >= 400 && operation?.surface !== 'other' && !type.includes('html') && text !== '')
    return [`The error is ${type || 'without a type'}: ${text.slice(0, 100)}`]
  const answer = operation?.answers?.get(status)
  if (answer === undefined || isOpen) return []
  if (answer.schema === null)
    return text === '' ? [] : [`An answer without a body has one: ${text.slice(0, 100)}`]
  if (!isJson)
    return text !== '' && /json/.test(answer.mediaType) && type === '' ? ['The body has no type.'] : []
  const value = parse(text)
  if (value === undefined) return [`The body is not JSON: ${text.slice(0, 100)}`]
  return checkBody(answer, value)
}

function checkError(text: string): string[] {
  const value = parse(text)
  const message: unknown =
    typeof value === 'object' && value !== null ? Reflect.get(value, 'message') : undefined
  return typeof message === 'string' && message.trim() !== ''
    ? []
    : [`The error has no message: ${text.slice(0, 200)}`]
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type BodyCheck = (answer: Answer, value: unknown) => string[]

function bodyChecker(): BodyCheck {
  const compiled = new Map<Schema, ReturnType<typeof Compile>>()
  return ({ schema }, value) => {
    if (schema === null) return []
    const check = compiled.get(schema) ?? Compile(closed(schema) as object)
    compiled.set(schema, check)
    if (check.Check(value)) return []
    const [first] = check.Errors(value)
    return [`The body does not fit its schema: ${JSON.stringify(first).slice(0, 300)}`]
  }
}

/** The same schema, refusing keys that it does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, closed(value)]),
  )
  const isOpen = copy['type'] !== 'object' || !('properties' in copy) || 'additionalProperties' in copy
  return isOpen || 'allOf' in schema ? copy : { ...copy, additionalProperties: false }
}

function judgeHeaders({ headers, status }: Received): string[] {
  return [
    // Headers that are too large are refused before there is a request.
    ...(headers['x-request-id'] === undefined && status !== 431 ? ['There is no X-Request-Id.'] : []),
    ...(headers['x-injected'] === undefined ? [] : ['A header was injected.']),
    ...(status === 405 && headers['allow'] === undefined ? ['405 without Allow.'] : []),
  ]
}

const insides = [
  /\n\s+at .+:\d+:\d+/,
  /node_modules\//,
  /\.(ts|js):\d+:\d+/,
  /syntax error at or near|violates (foreign key|unique|check|not-null)|invalid input syntax|relation "\w+" does not exist/,
  /value too long for type|out of range for type|invalid byte sequence|unsupported Unicode/,
  /\[object Object\]/,
]

function judgeLeaks(
  attempt: Attempt,
  { text, headers }: Received,
  foreign: ReadonlySet<string>,
  marker: string,
): string[] {
  // What operators see names every tenant.
  if (['/metrics', '/v2/installation'].some((path) => attempt.path.startsWith(path))) return []
  const sent = `${attempt.path} ${JSON.stringify(attempt.headers)} ${attempt.body?.toString() ?? ''}`
  const said = `${text} ${JSON.stringify(headers)}`
  const isEcho = (part: string) => sent.includes(part)
  const found = [
    ...(said.includes(marker) && !isEcho(marker) ? [marker] : []),
    ...(said.match(uuids) ?? []).filter((uuid) => foreign.has(uuid) && !isEcho(uuid)),
    ...(said.includes(secretValue) && !isEcho(secretValue) && !attempt.path.startsWith('/v3/')
      ? ['a secret']
      : []),
  ]
  const inside = attempt.path.includes('/log')
    ? undefined
    : insides.find((pattern) => pattern.test(text) && !pattern.test(sent))
  return [
    ...found.map((leak) => `The answer shows ${leak} of another tenant.`),
    ...(inside === undefined
      ? []
      : [`The answer shows its insides (${inside.source}): ${excerpt(text, inside)}`]),
  ]
}

const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

const excerpt = (text: string, pattern: RegExp) => {
  const at = pattern.exec(text)?.index ?? 0
  return text.slice(Math.max(0, at - 60), at + 160)
}
