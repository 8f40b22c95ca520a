// Calls routes of REST for one request. Equal reads are made once. The number of calls has a limit, and few run at a time,
// so that one query cannot take the connections of all others.
import type { FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { callRoute, type Called, type RouteCall, type RouteTable } from '../http/call-route.ts'
import type { RawQuery } from '../http/query.ts'
import type { Method } from '../http/route.ts'
import { ApiError, badRequest } from '../lib/errors.ts'
import { Semaphore } from '../lib/semaphore.ts'

/** An object as REST answers it. */
export type Row = Readonly<Record<string, unknown>>

export type Params = Record<string, string>

export type WriteMethod = Exclude<Method, 'GET'>

/** Parameters that the URL does not have are ignored. */
export interface Rest {
  /** The answer to `GET url`. */
  get(url: string, params: Params, query?: RawQuery): Promise<Row>
  /** The same; null if REST answers that it does not exist. */
  find(url: string, params: Params, query?: RawQuery): Promise<Row | null>
  /** One page of a list by page number. */
  page(url: string, params: Params, query: RawQuery): Promise<RestPage>
  write(method: WriteMethod, url: string, params: Params, body?: unknown): Promise<Row>
}

export interface RestPage {
  rows: Row[]
  hasNext: boolean
}

export const mostCalls = 300
const mostAtOnce = 6

export function restOf(ctx: Context, request: FastifyRequest, routes: RouteTable, signal: AbortSignal): Rest {
  const known = new Map<string, Promise<Called>>()
  const running = new Semaphore(mostAtOnce)
  let calls = 0

  async function call(method: Method, url: string, { params = {}, ...given }: RouteCall): Promise<Called> {
    const route = routes.get(`${method} ${url}`)
    if (route === undefined) throw new Error(`There is no route ${method} ${url}.`)
    if (++calls > mostCalls) {
      throw badRequest(
        `The query needs more than ${mostCalls} requests. Ask for fewer rows with \`first\`, or for fewer fields of each.`,
      )
    }
    return running.run(async () => {
      signal.throwIfAborted()
      return callRoute(ctx, request, route, { params: paramsOf(url, params), ...given })
    })
  }

  function read(url: string, params: Params, query: RawQuery = {}): Promise<Called> {
    const key = JSON.stringify([url, paramsOf(url, params), query])
    const found = known.get(key) ?? call('GET', url, { params, query })
    known.set(key, found)
    return found
  }

  async function get(url: string, params: Params, query?: RawQuery): Promise<Row> {
    return rowOf((await read(url, params, query)).body)
  }

  return {
    get,
    find: (url, params, query) => get(url, params, query).catch(nullIfMissing),
    async page(url, params, query) {
      const { body, headers } = await read(url, params, query)
      const rows = listOf(body).map(rowOf)
      return { rows, hasNext: headers?.['Link']?.includes('; rel="next"') ?? false }
    },
    async write(method, url, params, body) {
      const { body: answer } = await call(method, url, { params, body })
      known.clear()
      return rowOf(answer)
    },
  }
}

export const paramNames = (url: string): string[] => [...url.matchAll(/:(\w+)/g)].map(([, name = '']) => name)

const paramsOf = (url: string, params: Params): Params =>
  Object.fromEntries(paramNames(url).map((name) => [name, params[name] ?? '']))

function nullIfMissing(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}

export const rowOf = (value: unknown): Row =>
  typeof value === 'object' && value !== null ? (value as Row) : {}

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A name of GraphQL as REST writes it: `defaultBranch` is `default_branch`. */
export const columnOf = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
