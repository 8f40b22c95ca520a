// Absolute links to this server, in the exact form that public clients parse: query keys sorted, `per_page` after
// `page`, and no `,`, `;` or `>` in the URL, because some clients split the header at these characters.
import { badRequest } from '../lib/errors.ts'
import type { RawQuery } from './query.ts'

export interface RequestUrl {
  /** The installation's own address, without a trailing slash. */
  base: string
  path: string
  query: RawQuery
}

export function withQuery(url: RequestUrl, change: Record<string, string | number | undefined>): string {
  const query = { ...url.query, ...change }
  const pairs = Object.keys(query)
    .sort()
    .flatMap((key) => [query[key] ?? []].flat().map((value) => `${encode(key)}=${encode(String(value))}`))
  return `${url.base}${path(url)}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`
}

/** Many clients refuse a response with more than 16 KiB of headers. */
const mostCharacters = 12 * 1024

/** Links to these are left out, in this order, until the others fit. Without the link to the next page a client would miss it. */
const dispensable = ['self', 'first', 'prev']

/** The links repeat the caller's query, which may be long. */
export function linkHeader(links: Record<string, string>): Record<string, string> {
  let entries = Object.entries(links).map(([rel, url]) => ({ rel, text: `<${url}>; rel="${rel}"` }))
  const header = () => entries.map(({ text }) => text).join(', ')
  for (const rel of dispensable) {
    if (header().length <= mostCharacters) break
    entries = entries.filter((entry) => entry.rel !== rel)
  }
  if (header().length > mostCharacters) {
    throw badRequest('The query is too long to be repeated in the link to the next page. Shorten it.')
  }
  return entries.length > 0 ? { Link: header() } : {}
}

const encode = (text: string) => encodeURIComponent(text.toWellFormed())

const path = (url: RequestUrl) => new URL(url.path, 'http://x').pathname.replace(/[,;]/g, encodeURIComponent)
