// Lists by page number: `page` and `per_page` in, a bare array and a Link header out.
import { Type } from 'typebox'
import { linkHeader, withQuery, type RequestUrl } from './links.ts'
import type { Answer } from './answer.ts'

interface PageRequest {
  page: number
  perPage: number
  offset: number
  /** One more than `perPage`, to find out whether there is a next page. */
  limit: number
  url: RequestUrl
}

export const defaultPerPage = 30
export const mostPerPage = 100
/** For lists whose rows are short and whose readers want all of them. */
const mostPerLongPage = 500
const lastPage = 1_000_000

const pageQuery = (most: number) => ({
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: lastPage,
      default: 1,
      description: 'Which page, from 1; out of range is clamped.',
    }),
  ),
  per_page: Type.Optional(
    Type.Integer({
      default: defaultPerPage,
      minimum: 1,
      maximum: most,
      description: 'How many on a page; out of range is clamped.',
    }),
  ),
})

export const PageQuery = pageQuery(mostPerPage)
export const LongPageQuery = pageQuery(mostPerLongPage)

/** Out-of-range and unreadable values are clamped, because old clients send them. */
export const readPage = (url: RequestUrl): PageRequest => readPageOf(url, mostPerPage)

export const readLongPage = (url: RequestUrl): PageRequest => readPageOf(url, mostPerLongPage)

function readPageOf(url: RequestUrl, most: number): PageRequest {
  const page = clamp(last(url.query['page']), 1, 1, lastPage)
  const perPage = clamp(last(url.query['per_page']), defaultPerPage, 1, most)
  return { page, perPage, offset: (page - 1) * perPage, limit: perPage + 1, url }
}

/** `rows`: the result of a query with the request's `limit` and `offset`. */
export function pageAnswer<T>(
  request: PageRequest,
  rows: readonly T[],
  present: (row: T) => unknown,
): Answer {
  const items = rows.slice(0, request.perPage).map(present)
  return { status: 200, body: items, headers: linkHeader(pageLinks(request, rows.length > request.perPage)) }
}

export function pageLinks(request: PageRequest, hasNext: boolean): Record<string, string> {
  const to = (page: number) => withQuery(request.url, { page, per_page: request.perPage })
  const links: Record<string, string> = {}
  if (request.page > 1) {
    links['first'] = to(1)
    links['prev'] = to(request.page - 1)
  }
  if (hasNext) links['next'] = to(request.page + 1)
  return links
}

const last = (value: string | string[] | undefined) => (Array.isArray(value) ? value.at(-1) : value)

function clamp(text: string | undefined, fallback: number, min: number, max: number): number {
  const value = Number.parseInt(text ?? '', 10)
  return Number.isNaN(value) ? fallback : Math.min(max, Math.max(min, value))
}
