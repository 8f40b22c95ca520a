// Calls the REST API. Operations are named as the OpenAPI document names them: 'GET /v2/organizations/{org}'.
import { fetchWithin, type Received } from './fetch-within.ts'
import { Listeners } from './listeners.ts'
import type { Operations } from './operations.ts'
import { pageHeaders } from './session.ts'

export type Operation = keyof Operations
export type Answer<Name extends Operation> = Operations[Name]['answer']

export interface Input<Name extends Operation> {
  params: Operations[Name]['params']
  query?: Operations[Name]['query']
  body?: Operations[Name]['body']
  signal?: AbortSignal
  /** The same key makes a repeated write count once. Without one, every call is a write of its own. */
  idempotencyKey?: string
}

/** The server refused the request, or could not be reached (`status` 0). */
export class ApiFailure extends Error {
  readonly status: number
  readonly requestId: string | null
  /** Repeating the request cannot do any harm. */
  readonly isSafeToRepeat: boolean
  /** The refused fields and why. */
  readonly fields: ReadonlyArray<{ field: string; code: string }>

  constructor(
    message: string,
    facts: Pick<ApiFailure, 'status' | 'requestId' | 'isSafeToRepeat' | 'fields'>,
  ) {
    super(message)
    this.status = facts.status
    this.requestId = facts.requestId
    this.isSafeToRepeat = facts.isSafeToRepeat
    this.fields = facts.fields
  }
}

export async function call<Name extends Operation>(name: Name, input: Input<Name>): Promise<Answer<Name>> {
  const { status, text } = await send(name, input)
  return status === 204 ? undefined : (JSON.parse(text) as Answer<Name>)
}

/** One page of a list, and the query parameters of the next page. */
export interface Page<Row> {
  rows: Row[]
  next: Record<string, string> | null
}

/** Lists with cursors have their rows in `items`. */
type RowOf<Name extends Operation> =
  Answer<Name> extends Array<infer Row> ? Row : Answer<Name> extends { items: Array<infer Row> } ? Row : never

export async function callPage<Name extends Operation>(
  name: Name,
  input: Input<Name>,
): Promise<Page<RowOf<Name>>> {
  const { headers, text } = await send(name, input)
  const body = JSON.parse(text) as Array<RowOf<Name>> | { items: Array<RowOf<Name>> }
  return { rows: Array.isArray(body) ? body : body.items, next: nextPage(headers.get('Link')) }
}

/** All rows of a list with numbered pages. */
export async function readAll<Row>(read: (page: number) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  for (let page = 1; ; page++) {
    const { rows: more, next } = await read(page)
    rows.push(...more)
    if (next === null) return rows
  }
}

function nextPage(link: string | null): Record<string, string> | null {
  const [, url] = /<([^>]+)>;\s*rel="next"/.exec(link ?? '') ?? []
  return url === undefined ? null : Object.fromEntries(new URL(url, location.href).searchParams)
}

async function send<Name extends Operation>(name: Name, input: Input<Name>): Promise<Received> {
  const [method = 'GET', template = ''] = name.split(' ', 2)
  const headers = new Headers(pageHeaders())
  if (input.body !== undefined) headers.set('Content-Type', 'application/json')
  if (method === 'POST' || method === 'PUT') {
    headers.set('Idempotency-Key', input.idempotencyKey ?? newKey())
  }
  const url = addressOf(template, input.params, input.query ?? {})
  const received = await request(url, {
    method,
    headers,
    ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
    ...(input.signal === undefined ? {} : { signal: input.signal }),
  })
  if (received.ok) return received
  throw failureOf(received, method)
}

export async function request(url: string, init: RequestInit): Promise<Received> {
  try {
    const received = await fetchWithin(url, init)
    reportReachable(true)
    return received
  } catch (error) {
    if (init.signal?.aborted) throw error
    reportReachable(false)
    const isLate = error instanceof DOMException && error.name === 'TimeoutError'
    throw new ApiFailure(isLate ? 'The server did not answer in time.' : 'The server cannot be reached.', {
      status: 0,
      requestId: null,
      isSafeToRepeat: true,
      fields: [],
    })
  }
}

export function failureOf({ status, headers, text }: Received, method: string): ApiFailure {
  const body = parse(text)
  if (status === 401) sessionOver.call()
  return new ApiFailure(body.message ?? `The server answered ${status}.`, {
    status,
    requestId: headers.get('X-Request-Id'),
    isSafeToRepeat: method === 'GET' || status < 500,
    fields: body.errors ?? [],
  })
}

function parse(text: string): { message?: string; errors?: Array<{ field: string; code: string }> } {
  try {
    return JSON.parse(text) as { message?: string }
  } catch {
    return {}
  }
}

/** The path with its placeholders filled. A list in the query becomes repeated parameters. */
export function addressOf(
  template: string,
  params: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, unknown>> = {},
): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one))
  }
  return search.size === 0 ? path : `${path}?${search}`
}

/** `crypto.randomUUID` exists only in secure contexts, and plain http is none. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

const reachable = new Listeners<[isReachable: boolean]>()
export const onReachable = reachable.add
export const reportReachable = (isReachable: boolean): void => reachable.call(isReachable)

const sessionOver = new Listeners()
export const onSessionOver = sessionOver.add
