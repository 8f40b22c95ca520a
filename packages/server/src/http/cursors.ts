// Lists by cursor: `after` or `before` in, `{ items, links }` out, the same links in the Link header. A cursor is the
// signed position of one row in one list, so that it cannot be forged or used for another list.
import { Type } from 'typebox'
import type { Keyring } from '../auth/keyring.ts'
import { badRequest } from '../lib/errors.ts'
import type { Answer } from './answer.ts'
import { linkHeader, withQuery, type RequestUrl } from './links.ts'
import { defaultPerPage, mostPerPage } from './paging.ts'

/** The position of a row in a list ordered by time and id. */
export interface Position {
  at: string
  id: string
}

export interface CursorRequest {
  /** The page begins after this position, or ends before it. Both null: the first page. */
  after: Position | null
  before: Position | null
  perPage: number
  /** One more than `perPage`, to find out whether there is a further page. */
  limit: number
  url: RequestUrl
  list: string
  keys: Keyring
  /** The list grows at its end, so there is a `next` link even when nothing follows yet. */
  isEndless?: true
}

export const CursorQuery = {
  after: Type.Optional(
    Type.String({ description: 'Cursor from a `next` link. Not together with `before`.' }),
  ),
  before: Type.Optional(
    Type.String({ description: 'Cursor from a `prev` link. Not together with `after`.' }),
  ),
  per_page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: mostPerPage,
      default: defaultPerPage,
      description: 'How many on a page.',
    }),
  ),
}

/** `list` identifies the list and its owner. A cursor of another list is invalid. */
export function readCursor(url: RequestUrl, list: string, keys: Keyring): CursorRequest {
  const [after, before, perPageText] = ['after', 'before', 'per_page'].map(
    (key) => [url.query[key]].flat().at(-1) || null,
  )
  if (after && before) throw badRequest('Give `after` or `before`, not both.')
  const perPage = perPageText ? Number(perPageText) : defaultPerPage
  if (!Number.isInteger(perPage) || perPage < 1 || perPage > mostPerPage) {
    throw badRequest(`\`per_page\` must be a whole number from 1 to ${mostPerPage}.`)
  }
  const read = (text: string | null | undefined) => (text ? decodePosition(text, list, keys) : null)
  return { after: read(after), before: read(before), perPage, limit: perPage + 1, url, list, keys }
}

/** `rows`: at most `limit` rows, in the order of the list; with `before`, in reverse order. */
export function cursorAnswer<T>(
  request: CursorRequest,
  rows: readonly T[],
  positionOf: (row: T) => Position,
  present: (row: T) => unknown,
): Answer {
  const more = rows.length > request.perPage
  const kept = rows.slice(0, request.perPage)
  const page = request.before ? kept.toReversed() : kept
  const [first, last] = [page[0], page.at(-1)]
  const { after: _after, before: _before, ...query } = request.url.query
  const url = { ...request.url, query }
  const to = (change: { after?: string; before?: string }) =>
    withQuery(url, { ...change, per_page: request.perPage })
  const code = (row: T) => encodePosition(positionOf(row), request.list, request.keys)
  const isFirst = request.after === null && request.before === null
  const links = {
    self: withQuery(request.url, { per_page: request.perPage }),
    ...(isFirst ? {} : { first: to({}) }),
    ...(first !== undefined && (request.before ? more : !isFirst)
      ? { prev: to({ before: code(first) }) }
      : {}),
    ...nextLink(request, last === undefined ? null : code(last), more, to),
  }
  return { status: 200, body: { items: page.map(present), links }, headers: linkHeader(links) }
}

function nextLink(
  { after, before, isEndless, list, keys }: CursorRequest,
  last: string | null,
  more: boolean,
  to: (change: { after: string }) => string,
): { next?: string } {
  if (last !== null && (before !== null || more || isEndless)) return { next: to({ after: last }) }
  return isEndless && after !== null ? { next: to({ after: encodePosition(after, list, keys) }) } : {}
}

export function encodePosition(position: Position, list: string, keys: Keyring): string {
  const text = JSON.stringify([position.at, position.id])
  return Buffer.concat([keys.sign(`cursor ${list}`, text), Buffer.from(text)]).toString('base64url')
}

export function decodePosition(cursor: string, list: string, keys: Keyring): Position {
  const bytes = Buffer.from(cursor, 'base64url')
  const text = bytes.subarray(16).toString('utf8')
  // Several texts decode to the same bytes. Only the canonical one is valid.
  const isCanonical = bytes.toString('base64url') === cursor
  if (!isCanonical || !keys.verify(`cursor ${list}`, text, bytes.subarray(0, 16))) {
    throw badRequest('The cursor is invalid; follow the links of an answer instead of making one.')
  }
  const [at, id] = JSON.parse(text) as [string, string]
  return { at, id }
}
